"""Ten ways to ask for a priority, eleven values each: refused, or a whole number within the cap of 50 (P09)."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest
from django.db import transaction
from django.test import Client

from scheduler import errors, models
from scheduler.services import actors, control, submission
from tests import model_factories, worlds
from tests.xceweb.api import clients
from tests.xceweb.api.conftest import api_of as api_of
from tests.xceweb.dashboard.views import test_submit

CAP = 50
VALUES = (-1, 0, CAP, CAP + 1, 100, 101, 2**31, "9", 9.5, True, None)
ASKED: dict[str, Any] = {
    "name": "asked",
    "group": "gpu",
    "queue": "normal",
    "argv": ["true"],
    "slots": {"cpu": "1"},
}
FORM = {**test_submit.FORM, "name": "asked", "token": ""}


@dataclasses.dataclass
class Ways:
    """One person who may ask for 50, and every way in."""

    world: worlds.World
    client: Client
    api: clients.Api
    narrow: clients.Api  #: a keypair whose own policy has the cap, of a person who has none

    @property
    def actor(self) -> actors.Actor:
        """Return the person as an actor."""
        return actors.of_user(self.world.people["owner"])

    @property
    def path(self) -> str:
        """Return the address of a session that waits with priority 10."""
        return f"/sessions/{self.world.waiting.public_id}"


def _refused(call: Callable[[], Any]) -> bool:
    try:
        call()
    except errors.Refusal:
        return True
    return False


def _request(value: Any) -> submission.SubmitRequest:
    return submission.SubmitRequest(**ASKED, priority=value)


def _written(value: Any) -> str:
    return "" if value is None else str(value)


#: way -> whether it refused the value
WAYS: dict[str, Callable[[Ways, Any], bool]] = {
    "service: submit": lambda ways, value: _refused(
        lambda: submission.submit_session(ways.actor, _request(value))
    ),
    "service: check": lambda ways, value: bool(submission.check_request(ways.actor, _request(value))),
    "service: change": lambda ways, value: _refused(
        lambda: control.change_session(ways.actor, ways.world.waiting, priority=value)
    ),
    "api: submit": lambda ways, value: (
        ways.api.post("/sessions", {**ASKED, "priority": value}).status_code == 400
    ),
    "api: dry run": lambda ways, value: (
        ways.api.post("/sessions/dry-run", {**ASKED, "priority": value}).status_code == 400
    ),
    "api: change": lambda ways, value: (
        ways.api.send("PATCH", ways.path, {"priority": value}).status_code == 400
    ),
    "api: keypair with a policy": lambda ways, value: (
        ways.narrow.post("/sessions", {**ASKED, "priority": value}).status_code == 400
    ),
    "page: submit": lambda ways, value: (
        ways.client.post("/sessions/new/", {**FORM, "priority": _written(value)}).status_code == 422
    ),
    "page: dry run": lambda ways, value: (
        b"callout--fail"
        in ways.client.post("/sessions/new/dry-run/", {**FORM, "priority": _written(value)}).content
    ),
    "page: change": lambda ways, value: (
        b"callout--fail"
        in ways.client.post(f"{ways.path}/act/change/", {"priority": _written(value)}, follow=True).content
    ),
}


@pytest.fixture
def ways(world, client_of, api_of):
    policy = model_factories.a_resource_policy("capped", max_priority=CAP)
    models.User.objects.filter(pk=world.people["owner"].pk).update(policy=policy)
    world.people["owner"].refresh_from_db()
    return Ways(world, client_of("owner"), api_of("owner"), api_of("submitter", policy=policy))


@pytest.mark.parametrize("way", WAYS)
def test_p09_every_way_refuses_what_is_no_priority_within_the_cap(ways, way):
    assert len(WAYS) == 10
    for value in VALUES:
        with transaction.atomic():
            is_refused = WAYS[way](ways, value)
            asked = list(models.Session.objects.filter(name="asked").values_list("priority", flat=True))
            kept = models.Session.objects.get(pk=ways.world.waiting.pk).priority
            transaction.set_rollback(True)
        expected = _expected(way, value)
        assert is_refused == (expected is None), value
        assert asked == ([expected] if expected is not None and "submit" in _kind(way) else []), value
        assert kept == (expected if "change" in way and expected is not None else 10), value


def _kind(way: str) -> str:
    return "submit" if way == "api: keypair with a policy" else way


def _expected(way: str, value: Any) -> int | None:
    """Return the priority that a value asks for, None where it must be refused; a form's text is what is typed."""
    if value is None:
        return None if way == "api: change" else 10
    if value == "9" and way.startswith("page"):
        return 9
    return value if type(value) is int and 0 <= value <= CAP else None
