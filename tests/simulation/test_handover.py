"""A stop that is under way, and its preemptor goes: whoever counts on it and could have ordered it goes on with it."""

from __future__ import annotations

import pytest

from scheduler.core import entities, states
from tests import factories
from tests.simulation import world

MODE = entities.PreemptionMode
QUEUES = (
    factories.a_queue(1, name="low", preemptible=True),
    factories.a_queue(2, name="high", preemptible_queues=frozenset({1})),
)


def _contested(mode, **next_one):
    """Return a world where half of a victim's room is kept for one session and half for the next, and all three."""
    policy = entities.Policy(
        version=1, state=entities.PreemptionState.ON, mode=mode, grace_s=30, suspend_grace_s=30
    )
    one = world.World((factories.a_node(),), QUEUES, policy, seed=3)
    one.now = factories.NOW
    low = one.submit(300, owner_id=1, queue_id=1, request=factories.slots(cpu=4), job_priority=1)
    while one.jobs[low].session.state is not states.SessionState.RUNNING:
        one.step()
    first = one.submit(20, owner_id=1, queue_id=1, request=factories.slots(cpu=2), job_priority=9)
    one.step()
    ranks = {"owner_id": 1, "queue_id": 1, "job_priority": 5} | next_one
    second = one.submit(20, request=factories.slots(cpu=2), **ranks)
    one.step()
    assert [kept.waits_for for kept in one.kept.values()] == [{low}, {low}]
    return one, low, first, second


def _outcomes(one):
    return [(told.preemptor, told.outcome, told.cause) for told in one.told.values() if told.orders]


@pytest.mark.parametrize("mode", list(MODE))
def test_the_stop_passes_to_one_that_could_have_ordered_it(mode):
    one, low, first, second = _contested(mode)

    one.cancel(first)

    assert one.jobs[low].session.state is states.SessionState.PREEMPTED
    assert not one.jobs[low].session.is_withdrawing
    assert _outcomes(one) == [(first, "transferred", "handed over")]
    assert [edge[:2] for edge in one.edges] == [(second, low)]
    while second in one.jobs:
        one.step()
    assert sum(len(told.orders) for told in one.told.values()) == 1


@pytest.mark.parametrize(
    "ranks",
    [
        {"job_priority": 1},  # not higher
        {"owner_id": 2, "job_priority": 5},  # another owner, and a queue that may stop nobody
        {"owner_id": 2, "queue_id": 2, "priority": 10},  # not higher on the axis of queues
    ],
)
def test_and_to_nobody_else(ranks):
    one, low, first, second = _contested(MODE.SUSPEND, **ranks)

    one.cancel(first)

    assert one.jobs[low].session.is_withdrawing
    assert one.kept == {}
    for _ in range(3):
        one.step()
    assert one.jobs[low].session.state is states.SessionState.RUNNING
    assert _outcomes(one) == [(first, "withdrawn", "preemptor gone")]
    assert second not in {told.preemptor for told in one.told.values() if told.orders}


def test_it_passes_over_the_axis_of_queues_too():
    one, low, first, second = _contested(MODE.SUSPEND, owner_id=2, queue_id=2, priority=20)

    one.cancel(first)

    assert _outcomes(one) == [(first, "transferred", "handed over")]
    one.cancel(second)
    assert one.jobs[low].session.is_withdrawing


def test_what_was_lost_for_the_heir_is_the_heirs_to_answer_for():
    one, low, first, _ = _contested(MODE.TERMINATE)
    one.cancel(first)
    kept = next(iter(one.kept.values()))

    one.stopped(one.jobs[low])

    assert _outcomes(one) == [(first, "transferred", "handed over")]
    assert any(told.has_lost(heir) for told, heir in one.counted(kept))
    assert not any(told.has_lost() for told in one.told.values())
