"""Reads of the log: bounds, order, and who may see each entry."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler.selectors import event_log, permissions
from tests import model_factories, worlds

Sight = permissions.Sight


def test_entries_come_in_order_after_a_number(world: worlds.World) -> None:
    """Oldest first, at most as many as asked."""
    assert [entry.number for entry in event_log.after(2, limit=3)] == [3, 4, 5]
    assert event_log.after(event_log.last_number(), limit=3) == []


def test_reading_costs_one_query(world: worlds.World, django_assert_num_queries: Any) -> None:
    """Names, queues and decisions come along."""
    with django_assert_num_queries(1):
        found = event_log.after(0, limit=100)

    assert {entry.queue for entry in found} == {"normal"}
    assert found[3].decision == str(world.decision.public_id)


@pytest.mark.parametrize(
    ("who", "sight"),
    [
        ("viewer", Sight.SUMMARY),
        ("owner", Sight.FULL),
        ("submitter", Sight.SUMMARY),
        ("operator", Sight.OPERATIONS),
        ("manager", Sight.OPERATIONS),
        ("administrator", Sight.FULL),
    ],
)
def test_the_newest_come_with_the_sight_of_the_viewer(world: worlds.World, who: str, sight: Sight) -> None:
    """Newest first."""
    found = event_log.newest_visible(world.people[who], limit=2)

    assert [(entry.number, seen) for entry, seen in found] == [(7, sight), (6, sight)]


def test_an_outsider_sees_none_of_it(world: worlds.World) -> None:
    """Neither in the feed nor entry by entry."""
    rights = event_log.rights_of(world.people["outsider"])

    assert event_log.newest_visible(world.people["outsider"]) == []
    assert event_log.seen(rights, event_log.after(0, limit=100)) == []


def test_private_sessions_are_for_owner_and_manager(world: worlds.World) -> None:
    """An operator does not see that they exist."""
    private = model_factories.a_session(
        owner=world.people["owner"], queue=world.queues["normal"], group=world.group, is_private=True
    )
    number = model_factories.an_event("session.submitted", session=private).number

    seeing = [
        who
        for who in ("viewer", "operator", "manager", "owner", "administrator")
        if event_log.newest_visible(world.people[who], limit=1)[0][0].number == number
    ]

    assert seeing == ["manager", "owner", "administrator"]


def test_events_without_group_and_session_are_the_administrators(world: worlds.World) -> None:
    """Nobody else can be told what they are about."""
    model_factories.an_event("installation.changed")

    assert event_log.newest_visible(world.people["administrator"], limit=1)[0][0].number == 8
    assert event_log.newest_visible(world.people["manager"], limit=1)[0][0].number == 7


def test_a_session_has_its_own_entries(world: worlds.World) -> None:
    """Oldest first, for the time line."""
    assert [entry.number for entry in event_log.of_session(world.victim)] == [1, 5, 6]
    assert [entry.number for entry in event_log.of_session(world.victim, limit=1)] == [6]


def test_a_decision_and_a_node_have_theirs(world: worlds.World) -> None:
    """A node's page leaves out what is about sessions on it."""
    model_factories.an_event("node.joined", node=world.node, group=world.group)

    assert [entry.number for entry in event_log.of_decision(world.decision)] == [4, 5, 6]
    assert [entry.type for entry in event_log.of_node(world.node)] == ["node.joined"]
