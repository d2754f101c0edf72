"""What the record says of a row: differences of its audit rows, and its events."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django import urls
from django.test import Client

from scheduler import models
from scheduler.services import actors, nodes, policies, queues
from tests import worlds
from xceweb.admin import history, subjects


def test_a_difference_names_what_came_what_went_and_what_changed() -> None:
    """What stays the same is left out."""
    found = history.differences(
        {"state": "open", "max_priority": 100, "description": "x"},
        {"state": "stopped", "max_priority": 100, "a": [1]},
    )

    assert found == (
        history.Difference("a", None, "[1]"),
        history.Difference("description", "x", None),
        history.Difference("state", "open", "stopped"),
    )


def test_the_page_of_a_queue_shows_a_change_through_its_service(
    client_of: Callable[[str], Client], world: worlds.World
) -> None:
    """Before and after, by whom and why, and nothing of another queue."""
    actor = actors.of_user(world.people["administrator"])
    queues.change_queue(actor, world.queues["normal"], changes={"state": "stopped"}, reason="cleaning up")
    queues.change_queue(
        actor, world.queues["urgent"], changes={"state": "no_submit"}, reason="another reason"
    )

    address = urls.reverse("admin:scheduler_queue_history", args=[world.queues["normal"].pk])
    text = client_of("administrator").get(address).content.decode()

    assert all(words in text for words in ("<del>open</del>", "<ins>stopped</ins>", "cleaning up"))
    assert "another reason" not in text


def test_the_page_of_a_session_shows_its_events(
    client_of: Callable[[str], Client], world: worlds.World
) -> None:
    """Those of its own."""
    address = urls.reverse("admin:scheduler_session_history", args=[world.victim.pk])
    text = client_of("administrator").get(address).content.decode()

    assert "session.suspended" in text
    assert "session.started" not in text


@pytest.mark.django_db
def test_services_call_things_as_the_console_looks_for_them() -> None:
    """The rows that a service writes are found from the row that it changed."""
    world = worlds.a_world()
    actor = actors.of_user(world.people["administrator"])
    world.node.refresh_from_db()
    nodes.set_node_state(actor, world.node, state="draining", reason="a new disk")
    policies.change_policy(
        actor, world.group, changes={"grace_period": 20}, reason="more time", expected_version=1
    )

    for row, names, reason in (
        (world.node, subjects.of_node(world.node), "a new disk"),
        (world.group, subjects.of_group(world.group), "more time"),
        (world.group, subjects.of_policy_version(models.PolicyVersion.objects.latest("pk")), "more time"),
    ):
        assert [change.row.reason for change in history.changes_of(names)] == [reason], row
