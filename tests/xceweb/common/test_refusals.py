"""Refusals become pages or problem+json; bugs stay bugs."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser
from django.test import RequestFactory

from scheduler import errors
from xceweb.common import refusals


def answer(error: Exception, **headers: str) -> Any:
    """Return what the middleware answers to an error."""
    request = RequestFactory().get("/somewhere", headers=headers)
    request.user, request.request_id = AnonymousUser(), "r-1"
    return refusals.RefusalMiddleware(lambda request: None).process_exception(request, error)


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (errors.NotVisible(), 404),
        (errors.NotAllowed(), 403),
        (errors.Conflict("meanwhile"), 409),
        (errors.Refusal("not so"), 400),
        (errors.StaleState(), 409),
        (errors.Environment(), 503),
    ],
)
def test_an_error_of_ours_has_its_status(error: errors.XceError, status: int) -> None:
    """As a page."""
    found = answer(error, accept="text/html")

    assert found.status_code == status
    assert found["Content-Type"].startswith("text/html")


def test_a_program_gets_problem_json() -> None:
    """Code, text, fields, request id."""
    found = answer(errors.Refusal(code="bad-amount", fields={"mem": "4x is none"}), accept="application/json")

    body = json.loads(found.content)
    assert (body["code"], body["fields"], body["request_id"]) == ("bad-amount", {"mem": "4x is none"}, "r-1")
    assert body["detail"] == "4x is none"


@pytest.mark.parametrize("error", [errors.Violation("a bug"), ValueError("x")])
def test_a_bug_stays_an_exception(error: Exception) -> None:
    """It is logged with its trace."""
    assert answer(error) is None


@pytest.mark.parametrize("error", [errors.NotVisible(), errors.NotAllowed()])
def test_a_refused_fragment_loads_its_page_anew(error: errors.XceError) -> None:
    """A role was taken away, and the page would stand there as it was."""
    found = answer(error, **{"accept": "*/*", "HX-Request": "true"})

    assert (found.status_code, found["HX-Refresh"], found.content) == (error.status, "true", b"")
