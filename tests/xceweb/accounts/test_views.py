"""Signing out."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.sessions.models import Session
from django.test import Client

from scheduler.services import bells
from tests import model_factories

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_log_out_rings_once_the_log_in_is_gone(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sockets that look again find no log-in."""
    user = model_factories.a_user()
    client.force_login(user)
    found: list[Any] = []
    monkeypatch.setattr(bells, "ring_rights", lambda ids: found.append((ids, Session.objects.count())))

    answer = client.post("/accounts/logout/")

    assert (answer.status_code, found) == (302, [([user.pk], 0)])


def test_who_is_not_logged_in_rings_nobody(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """The answer is the same."""
    monkeypatch.setattr(bells, "ring_rights", lambda ids: pytest.fail("rang"))

    assert client.post("/accounts/logout/").status_code == 302
