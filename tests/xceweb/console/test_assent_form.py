"""The password again, and the group's name."""

from __future__ import annotations

import pytest
from django import http
from django.test import RequestFactory

from scheduler.services import policy_guards
from xceweb.accounts import freshness
from xceweb.console import assent_form


@pytest.mark.parametrize(
    ("is_fresh", "sent", "assent", "faults"),
    [
        (True, {"confirm": "gpu", "password": "never tried"}, policy_guards.Assent(True, "gpu"), {}),
        (False, {"password": "right"}, policy_guards.Assent(True), {}),
        (False, {"password": "wrong"}, policy_guards.Assent(False), {"password": ["no"]}),
        (False, {}, policy_guards.Assent(False), {}),
    ],
)
def test_a_password_is_tried_where_the_log_in_is_old(
    monkeypatch: pytest.MonkeyPatch,
    is_fresh: bool,
    sent: dict[str, str],
    assent: policy_guards.Assent,
    faults: dict[str, list[str]],
) -> None:
    """And nowhere else."""
    monkeypatch.setattr(freshness, "is_fresh", lambda request: is_fresh)
    monkeypatch.setattr(freshness, "prove", lambda request, password: "" if password == "right" else "no")
    form = assent_form.AssentForm(sent)
    assert form.is_valid()

    found = form.assent(http.HttpRequest() if not sent else RequestFactory().post("/"))

    assert (found, dict(form.errors)) == (assent, faults)
