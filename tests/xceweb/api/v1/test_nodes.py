"""A node is declared lost by a program."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Any

import pytest
from django import urls
from django.test import Client

from scheduler import clock, models
from tests import worlds

NODE = "gpu-1"


@pytest.fixture
def silent(world: worlds.World) -> models.Node:
    """The node, whose agent was heard an hour ago."""
    node = models.Node.objects.get(name=NODE)
    heard = clock.now() - datetime.timedelta(hours=1)
    models.AgentStatus.objects.update_or_create(node=node, defaults={"last_report_at": heard})
    return node


def declare(client: Client, body: Any = None) -> Any:
    """Ask for it, with a reason unless said otherwise."""
    told = {"reason": "its disk died"} if body is None else body
    return client.post(urls.reverse("api:node-lost", args=[NODE]), told, content_type="application/json")


def test_its_sessions_are_over_and_its_slots_are_free(
    silent: models.Node, client_of: Callable[[str], Client]
) -> None:
    """The change names who did it, and why."""
    assert models.Allocation.objects.filter(node=silent).exists()

    answer = declare(client_of("administrator"))

    change = models.ConfigChange.objects.latest("pk")
    assert (answer.status_code, answer.json()) == (
        200,
        {"node": NODE, "group": "gpu", "state": "down", "reason": "declared lost: its disk died"},
    )
    assert not models.Allocation.objects.filter(node=silent).exists()
    assert (change.object_name, change.reason, change.after["lost"]) == (NODE, "its disk died", True)


@pytest.mark.parametrize("body", ["no object", {"reason": 7}, {"reason": "x", "force": True}, [1]])
def test_another_body_is_refused_and_changes_nothing(
    silent: models.Node, client_of: Callable[[str], Client], body: Any
) -> None:
    """With an example of a right one."""
    answer = declare(client_of("administrator"), body)

    silent.refresh_from_db()
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid")
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert "its disk died" in answer.json()["detail"]
    assert silent.state == "ready"


@pytest.mark.parametrize("body", [{}, {"reason": "  "}])
def test_a_reason_is_required(
    silent: models.Node, client_of: Callable[[str], Client], body: dict[str, str]
) -> None:
    """The field is named."""
    answer = declare(client_of("administrator"), body)

    assert (answer.status_code, answer.json()["code"]) == (400, "reason-required")
    assert answer.json()["fields"] == {"reason": "write why"}


def test_a_node_that_speaks_is_not_lost(silent: models.Node, client_of: Callable[[str], Client]) -> None:
    """The answer says what to do instead."""
    models.AgentStatus.objects.update(last_report_at=clock.now())

    answer = declare(client_of("administrator"))

    assert (answer.status_code, answer.json()["code"]) == (400, "invalid")
    assert "drain it" in answer.json()["fields"]["state"]


def test_a_manager_is_told_that_only_administrators_may(
    silent: models.Node, client_of: Callable[[str], Client]
) -> None:
    """As problem+json, and the node stays as it is."""
    answer = declare(client_of("manager"))

    silent.refresh_from_db()
    assert (answer.status_code, answer.json()["code"]) == (403, "not-allowed")
    assert silent.state == "ready"


def test_a_request_from_elsewhere_is_refused(silent: models.Node, world: worlds.World) -> None:
    """The cookie alone does not do it."""
    client = Client(enforce_csrf_checks=True)
    client.force_login(world.people["administrator"])

    answer = declare(client)

    assert (answer.status_code, answer.json()["code"]) == (403, "csrf-failed")
