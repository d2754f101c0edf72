"""Errors as problem+json."""

from __future__ import annotations

import json
import math

import pytest
from rest_framework import exceptions

from tests.xceweb.api import clients
from xceweb.api import problems
from xceweb.api.v1 import problem_shapes


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "code"),
    [
        ("GET", "/sessions/00000000-0000-7000-8000-000000000000", None, 404, "not-found"),
        ("GET", "/nothing-here", None, 404, "not-found"),
        ("DELETE", "/me", None, 405, "method-not-allowed"),
        ("POST", "/sessions", "{", 400, "unreadable"),
        ("POST", "/sessions", "[]", 400, "invalid"),
        ("POST", "/sessions", '{"name": "x", "nmae": 1}', 400, "invalid"),
        ("GET", "/sessions?cursor=nonsense", None, 400, "invalid"),
        ("GET", "/events?after=-1", None, 400, "invalid"),
    ],
)
def test_every_error_has_the_same_shape(api_of, method, path, body, status, code):
    answer = api_of("owner").send(method, path, body, X_Request_ID="asked-by-a-test")

    found = json.loads(answer.content)
    assert (answer.status_code, answer["Content-Type"]) == (status, "application/problem+json")
    clients.assert_like(problem_shapes.Problem, {**found, "detail": found["detail"] or "-"})
    assert (found["code"], found["request_id"], answer["X-Request-ID"]) == (
        code,
        "asked-by-a-test",
        "asked-by-a-test",
    )


def test_a_field_is_named_with_its_path():
    fault = exceptions.ValidationError({"preemption": {"mode": ["no"]}, "rows": [{}, {"id": ["is bad"]}]})

    assert problems._fields(fault.detail) == {"preemption.mode": "no", "rows[1].id": "is bad"}


def test_who_asks_too_often_is_told_when_to_ask_again():
    assert problems._headers(exceptions.Throttled(wait=1.2)) == {"Retry-After": str(math.ceil(1.2))}


def test_a_bug_is_left_to_be_logged():
    assert problems._as_xce(ZeroDivisionError()) is None
