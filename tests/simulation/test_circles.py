"""Three sessions over two axes, and one owner's many: who takes from whom comes to an end."""

from __future__ import annotations

import pytest

from scheduler.core import entities, states
from tests import factories
from tests.simulation import world

MODE = entities.PreemptionMode
QUEUES = (
    factories.a_queue(1, name="qa", preemptible=True, preemptible_queues=frozenset({2})),
    factories.a_queue(2, name="qb", preemptible=True),
    factories.a_queue(3, name="qc", preemptible_queues=frozenset({1})),
)
SLOT = factories.slots(cpu=4)
A = {"owner_id": 1, "queue_id": 1, "priority": 50, "request": SLOT}
B = {"owner_id": 2, "queue_id": 2, "priority": 10, "job_priority": 9, "request": SLOT}
C = {"owner_id": 2, "queue_id": 3, "priority": 90, "job_priority": 1, "request": SLOT}


def _world(mode, **rules):
    policy = entities.Policy(version=1, state=entities.PreemptionState.ON, mode=mode, **rules)
    one = world.World((factories.a_node(),), QUEUES, policy, seed=1)
    one.now = factories.NOW
    return one


def _until(one, is_so, most=200):
    for _ in range(most):
        if is_so():
            return
        one.step()
    raise AssertionError(f"it did not come to that in {most} rounds")


def _is_running(one, session_id):
    return one.jobs[session_id].session.state is states.SessionState.RUNNING


def _stops(one):
    return sum(len(told.orders) for told in one.told.values() if told.outcome != "withdrawn")


@pytest.mark.parametrize("mode", [MODE.RESCHEDULE, MODE.SUSPEND])
def test_p16_three_sessions_over_two_axes_end(mode):
    one = _world(mode)
    first = one.submit(300, **B)
    _until(one, lambda: _is_running(one, first))
    second = one.submit(300, **A)
    _until(one, lambda: _is_running(one, second))
    one.submit(300, **C)

    _until(one, lambda: not one.jobs, 3000)

    assert _stops(one) <= 3


@pytest.mark.parametrize("mode", [MODE.RESCHEDULE, MODE.SUSPEND])
def test_p16_they_end_also_when_a_arrives_while_b_waits(mode):
    one = _world(mode)
    urgent = one.submit(300, **C)
    _until(one, lambda: _is_running(one, urgent))
    one.submit(300, **B)
    one.step()
    one.submit(300, **A)

    _until(one, lambda: not one.jobs, 3000)

    assert _stops(one) <= 3


@pytest.mark.parametrize("mode", [MODE.RESCHEDULE, MODE.SUSPEND])
def test_one_owners_twenty_urgent_sessions_stop_the_same_victim_once(mode):
    one = _world(mode)
    low = one.submit(600, owner_id=1, queue_id=1, request=SLOT, job_priority=1)
    _until(one, lambda: _is_running(one, low))
    for _ in range(20):
        one.submit(20, owner_id=1, queue_id=1, request=SLOT, job_priority=9)
        for _ in range(5):
            one.step()

    _until(one, lambda: not one.jobs, 3000)

    assert _stops(one) == 1
