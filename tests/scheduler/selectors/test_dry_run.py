"""What would happen: the core's own answer, for the request and for smaller ones."""

from __future__ import annotations

import datetime
from typing import Any

import pytest

from scheduler import clock, errors, models
from scheduler.selectors import dry_run
from scheduler.services import actors, submission
from tests import model_factories, worlds


def ask(world: worlds.World, who: str = "owner", **changes: Any) -> dry_run.DryRun:
    """Ask for one GPU in the world's group, with changes."""
    values = {"name": "n", "group": "gpu", "queue": "normal", "argv": ["true"], "slots": {"cuda.device": "1"}}
    return dry_run.dry_run(
        actors.of_user(world.people[who]), submission.SubmitRequest(**{**values, **changes})
    )


def fill(world: worlds.World, who: str = "submitter", **fields: Any) -> models.Session:
    """Let somebody's running session hold every GPU."""
    values = {"queue": world.queues["background"], "group": world.group, "slots": {"cuda.device": 4}}
    return model_factories.a_session(owner=world.people[who], state="running", **{**values, **fields})


def test_free_room_starts_it(world: worlds.World) -> None:
    """With the node's name, and nothing left to suggest."""
    found = ask(world)

    assert (found.answer.outcome, found.answer.nodes, found.variants) == ("starts", ("gpu-1",), [])


def test_queue_rules_count(world: worlds.World) -> None:
    """An urgent one would stop a background one."""
    fill(world, priority=3)

    found = ask(world, queue="urgent", priority=60)

    assert (found.answer.outcome, found.answer.victims, found.answer.axis) == ("stops", 1, "queue")


def test_switched_off_nobody_would_be_stopped(world: worlds.World) -> None:
    """It waits, with the shortage."""
    model_factories.a_policy_version(world.group, preemption_state="off")
    fill(world)

    found = ask(world, queue="urgent", priority=60)

    assert found.answer.outcome == "waits"
    assert found.answer.pend is not None
    assert found.answer.pend["reason"] == "no-resources"


def test_in_shadow_nobody_would_be_stopped_either(world: worlds.World) -> None:
    """What shadow records is no start."""
    model_factories.a_policy_version(world.group, preemption_state="shadow")
    fill(world)

    assert ask(world, queue="urgent", priority=60).answer.outcome == "waits"


def test_smaller_requests_are_tried(world: worlds.World) -> None:
    """By the same core."""
    found = ask(world, slots={"cuda.device": "8"})

    assert found.answer.outcome == "never"
    first = found.variants[0]
    assert (first.change, first.value, first.answer.outcome) == ("cuda.device", 4, "starts")


def test_a_higher_priority_is_tried_up_to_the_cap(world: worlds.World) -> None:
    """Where it would stop lower ones of other queues."""
    fill(world, priority=30)

    found = ask(world, queue="urgent", priority=20)

    variants = {one.change: one for one in found.variants}
    assert found.answer.outcome == "waits"
    assert (variants["priority"].value, variants["priority"].answer.outcome) == (100, "stops")


@pytest.mark.parametrize(("kind", "outcome"), [("afterok", "waits"), ("afterany", "waits")])
def test_a_dependency_that_runs_makes_it_wait(world: worlds.World, kind: str, outcome: str) -> None:
    """Until that one has ended."""
    found = ask(world, dependencies=[(kind, str(world.running.public_id))])

    assert found.answer.outcome == outcome


def test_a_dependency_that_cannot_be_met_any_more_never_starts(world: worlds.World) -> None:
    """A failed one does not become good."""
    failed = model_factories.a_session(
        owner=world.people["owner"],
        queue=world.queues["normal"],
        group=world.group,
        state="terminated",
        result="failure",
    )

    assert ask(world, dependencies=[("afterok", str(failed.public_id))]).answer.outcome == "never"
    assert ask(world, dependencies=[("afterany", str(failed.public_id))]).answer.outcome == "starts"


def test_an_owners_limit_counts_for_one_without_live_sessions(world: worlds.World) -> None:
    """The owner is in no snapshot yet, his limit is."""
    policy = model_factories.a_resource_policy(max_slots={"cuda.device": 2})
    models.User.objects.filter(username="submitter").update(policy=policy)
    world.people["submitter"].refresh_from_db()

    assert ask(world, "submitter", slots={"cuda.device": "3"}).answer.outcome == "never"
    assert ask(world, "submitter", slots={"cuda.device": "2"}).answer.outcome == "starts"


def test_what_would_be_refused_is_refused(world: worlds.World) -> None:
    """With the fields."""
    with pytest.raises(errors.Refusal) as refusal:
        ask(world, slots={"mem": "4x"}, queue="nowhere")

    assert set(refusal.value.fields) == {"slots", "queue"}


def test_nothing_is_written(world: worlds.World) -> None:
    """Not even a lock's trace: the same again gives the same."""
    fill(world)

    first, second = ask(world), ask(world)

    assert first.answer == second.answer
    assert models.Session.objects.filter(name="n").count() == 0


def test_what_can_never_start_is_told_behind_a_gate_too(world: worlds.World) -> None:
    """A begin time passes, the size of the nodes does not."""
    tomorrow = clock.now() + datetime.timedelta(days=1)

    found = ask(world, slots={"cuda.device": "8"}, begin_at=tomorrow)

    assert found.answer.pend is not None
    assert (found.answer.outcome, found.answer.pend["reason"]) == ("never", "begin-time")
