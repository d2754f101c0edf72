"""What explains a session, and the decisions behind it."""

from __future__ import annotations

import datetime
import json
import zlib

import pytest
from django.utils import timezone

from scheduler import errors, models
from scheduler.selectors import decisions, explanations, permissions, stored_rounds
from tests import decision_factories, model_factories, worlds


def test_a_stop_comes_with_its_decision_whole(world: worlds.World) -> None:
    """Newest first."""
    again = decision_factories.a_preemption(world.running, [world.victim], node=world.node)

    found = explanations.stops(world.victim)

    assert [victim.decision for victim in found] == [again, world.decision]
    assert found[0].decision.round.policy.preemption_mode == "suspend"


def test_a_shadow_decision_stopped_nobody(world: worlds.World) -> None:
    """It explains no stop."""
    decision_factories.a_preemption(
        world.running, [world.waiting], node=world.node, kind="shadow", axis="owner"
    )

    assert explanations.stops(world.waiting) == []


@pytest.mark.parametrize(
    ("fields", "was_just_stopped"),
    [
        ({}, True),
        ({"state": "preempted"}, True),
        ({"is_held": True}, False),
        ({"state": "running"}, False),
        ({"epoch": 2}, False),
        ({"state": "pending", "attempt": 2}, True),
        ({"state": "pending", "attempt": 3}, False),
        ({"state": "terminated", "result": "preempted"}, True),
        ({"state": "terminated", "result": "success"}, False),
    ],
)
def test_the_present_state_follows_from_the_last_stop(
    world: worlds.World, fields: dict[str, object], was_just_stopped: bool
) -> None:
    """Or from something that came after it."""
    for name, value in fields.items():
        setattr(world.victim, name, value)

    last = explanations.stops(world.victim)[0]

    assert explanations.was_just_stopped(world.victim, last) is was_just_stopped
    assert not explanations.was_just_stopped(world.victim, None)


def test_others_are_judged_one_by_one(world: worlds.World) -> None:
    """Names for those who may read them."""
    ids = [world.running.pk, world.victim.pk]

    own = explanations.others(world.people["owner"], ids)
    other = explanations.others(world.people["viewer"], ids)

    assert all(one.is_named and one.is_mine for one in own.values())
    assert {one.sight for one in other.values()} == {permissions.Sight.SUMMARY}
    assert not any(one.is_named for one in other.values())


def test_the_line_goes_by_priority_and_then_time(world: worlds.World) -> None:
    """Those before it, nearest last."""
    fields = {"owner": world.people["submitter"], "queue": world.queues["normal"], "group": world.group}
    higher = model_factories.a_session(priority=50, **fields)
    earlier = model_factories.a_session(submitted_at=model_factories.ago(999), **fields)
    model_factories.a_session(priority=1, submitted_at=model_factories.ago(999), **fields)

    position, before = explanations.ahead(world.people["owner"], world.waiting)

    assert (position, before) == (3, [higher, earlier])


def test_kept_room_is_found(world: worlds.World) -> None:
    """With node and decision."""
    models.Reservation.objects.create(
        decision=world.decision,
        session=world.running,
        node=world.node,
        slots={"cpu": 1},
        deadline=timezone.now(),
    )

    kept = explanations.reservation(world.running)

    assert kept is not None
    assert kept.node == world.node
    assert explanations.reservation(world.victim) is None
    assert explanations.room_made(world.running) == world.decision


def test_output_and_runs(world: worlds.World) -> None:
    """The newest attempt that wrote, the runs in order."""
    model_factories.an_output(world.victim, "old", attempt=1)
    model_factories.an_output(world.victim, "new", attempt=2)

    found = explanations.output(world.victim)

    assert found is not None
    assert found.tail == "new"
    assert [run.attempt for run in explanations.runs(world.victim)] == [1]


def test_devices_are_read_from_the_stored_snapshot(world: worlds.World) -> None:
    """Held, reserved, free, in the order of indices."""
    view = {
        "nodes": [{"id": world.node.pk, "devices": {"cuda.device": [0, 1, 2]}}],
        "sessions": [{"id": 5, "allocations": [{"node_id": world.node.pk, "indices": {"cuda.device": [1]}}]}],
        "reservations": [{"node_id": world.node.pk, "indices": {"cuda.device": [2]}}],
    }
    packed = zlib.compress(json.dumps(view).encode())
    models.Round.objects.filter(pk=world.decision.round_id).update(snapshot=packed)

    plain = stored_rounds.plain_snapshot(world.decision)

    assert plain == view
    assert stored_rounds.device_holders(view, world.node.pk, "cuda.device") == [None, 5, 0]
    assert stored_rounds.device_holders(view, -1, "cuda.device") == []


def test_a_snapshot_that_is_gone_is_none(world: worlds.World) -> None:
    """Pages leave that part out."""
    assert stored_rounds.plain_snapshot(world.decision) is None


def test_decisions_are_for_those_who_see_the_group(world: worlds.World) -> None:
    """Or are part of it."""
    public_id = world.decision.public_id

    assert decisions.require(world.people["viewer"], public_id) == world.decision
    with pytest.raises(errors.NotVisible):
        decisions.require(world.people["outsider"], public_id)
    models.GroupRole.objects.filter(user=world.people["owner"]).delete()
    assert decisions.require(world.people["owner"], public_id) == world.decision


def test_the_history_is_narrowed_by_outcome_and_axis(world: worlds.World) -> None:
    """Open ones, shadows, closed ones."""
    shadow = decision_factories.a_preemption(world.running, [world.victim], node=world.node, kind="shadow")
    used = decision_factories.a_preemption(world.running, [world.victim], node=world.node)
    models.Outcome.objects.create(decision=used, kind="used", at=timezone.now())

    def found(**filters: str) -> list[models.Decision]:
        return decisions.page(world.people["viewer"], decisions.Filters(**filters)).rows

    assert found(outcome="open") == [world.decision]
    assert found(outcome="shadow") == [shadow]
    assert found(outcome="used") == [used]
    assert found(axis="queue") == []
    assert len(found(group="gpu")) == 3
    assert decisions.last_week(world.people["viewer"]) == (1, 1)
    assert [decisions.outcome_of(row) for row in found()] == ["used", "shadow", "open"]


def test_latency_is_known_when_the_last_fate_is(world: worlds.World) -> None:
    """From the decision to the last stop, in microseconds."""
    row = decisions.require(world.people["owner"], world.decision.public_id)
    assert decisions.latency_us(row) is None

    victim = row.victims.get()
    models.VictimFate.objects.create(victim=victim, fate="stopped", at=row.at + datetime.timedelta(seconds=2))
    row = decisions.require(world.people["owner"], world.decision.public_id)

    assert decisions.latency_us(row) == 2_000_000
    assert decisions.start_after(row) is not None
    assert [entry.number for entry in decisions.entries(row)] == [4, 5, 6]


def test_the_line_has_only_whom_the_viewer_may_see(world: worlds.World) -> None:
    """Another owner's private session is neither listed nor counted, except for managers."""
    fields = {"owner": world.people["submitter"], "queue": world.queues["normal"], "group": world.group}
    hidden = model_factories.a_session(priority=50, is_private=True, **fields)

    assert explanations.ahead(world.people["owner"], world.waiting) == (1, [])
    assert explanations.ahead(world.people["manager"], world.waiting) == (2, [hidden])
