"""The figures of the administrators' first page, from rows that are known."""

from __future__ import annotations

import datetime
from typing import Any

import pytest
from django.utils import timezone

from scheduler import models
from scheduler.selectors import machine_room
from tests import decision_factories, model_factories, worlds

pytestmark = pytest.mark.django_db


def test_sessions_are_counted_by_state_and_lately_by_result() -> None:
    """Of the living every state, of the ended those of the last day."""
    world = worlds.a_world()
    fields = {"owner": world.people["owner"], "queue": world.queues["normal"]}
    for result, days in (("failure", 0), ("success", 0), ("success", 2)):
        ended = timezone.now() - datetime.timedelta(days=days)
        model_factories.a_session(state="terminated", result=result, ended_at=ended, **fields)

    room = machine_room.load()

    assert dict(room.sessions) | {"pending": 1, "running": 1, "suspended": 1} == dict(room.sessions)
    assert "terminated" not in dict(room.sessions)
    assert {result: count for result, count in room.ended if count} == {"failure": 1, "success": 1}


def test_a_group_shows_its_switch_and_who_waits() -> None:
    """With who set its rules, and its last round."""
    world = worlds.a_world()
    models.GroupRounds.objects.filter(group=world.group).update(last_at=timezone.now(), last_ms=12)

    lines = {line.slug: line for line in machine_room.load().groups}

    gpu = lines["gpu"]
    assert (gpu.state, gpu.is_starting, gpu.changed_by, gpu.last_round_ms) == ("on", True, "system", 12)
    assert (gpu.waiting, gpu.holding) == (1, 2)
    assert (lines["elsewhere"].state, lines["elsewhere"].waiting, lines["elsewhere"].holding) == ("off", 0, 0)


def test_the_outbox_has_an_age_until_it_is_answered() -> None:
    """The oldest open command's; nothing when none is open."""
    world, now = worlds.a_world(), timezone.now()
    assert machine_room.load().outbox == machine_room.Outbox(0, 0, 0)

    values: dict[str, Any] = {
        "node": world.node,
        "session": world.running,
        "epoch": 1,
        "kind": "stop",
        "body": {},
    }
    row = models.AgentCommand.objects.create(
        created_at=now - datetime.timedelta(seconds=90), send_again_at=now, times_sent=3, **values
    )
    outbox = machine_room.load().outbox
    assert (outbox.open, outbox.oldest_s >= 90, outbox.most_sent) == (1, True, 3)

    models.AgentCommand.objects.filter(pk=row.pk).update(settled_at=now)
    assert machine_room.load().outbox == machine_room.Outbox(0, 0, 0)


def test_it_costs_the_same_whatever_there_is(django_assert_num_queries: Any) -> None:
    """Ten queries, and one round more than are shown is not read."""
    world = worlds.a_world()
    for _ in range(machine_room.ROUNDS + 1):
        decision_factories.a_round(world.group)

    with django_assert_num_queries(10):
        room = machine_room.load()
        assert {row.group.slug for row in room.rounds} == {"gpu"}

    assert len(room.rounds) == machine_room.ROUNDS
    assert [row.number for row in room.rounds] == sorted((row.number for row in room.rounds), reverse=True)
