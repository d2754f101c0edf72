"""A limit of suspended sessions per node where only some of the victims are suspended."""

from __future__ import annotations

import dataclasses

import pytest

from scheduler.core import decisions, entities
from scheduler.core.preemption import within_limit
from tests import factories
from tests.factories import slots

M, V, R = entities.PreemptionMode, decisions.Verdict, decisions.PendReason
SUSPENDED, KILLED = 2, 3
QUEUES = (
    factories.a_queue(1, preemptible_queues=frozenset({SUSPENDED, KILLED})),
    factories.a_queue(SUSPENDED, preemptible=True),
    factories.a_queue(KILLED, preemptible=True, preemption_mode=M.TERMINATE),
)
RULES = dataclasses.replace(factories.ON, mode=M.SUSPEND, max_suspended_per_node=1)


def _running(*parts, **more):
    """Return sessions of (cpus, queue): 1, 2, 3 and so on."""
    return [
        factories.a_running(i, slots(cpu=cpus), queue_id=queue, priority=1, **more)
        for i, (cpus, queue) in enumerate(parts, 1)
    ]


def _of_the_queues(running, *, wants, capacity):
    rules = dataclasses.replace(RULES, scope=entities.PreemptionScope.QUEUE)
    waiting = factories.a_session(99, slots(cpu=wants), owner_id=9, priority=20)
    node = factories.a_node(1, capacity=slots(cpu=capacity))
    view = factories.a_snapshot([*running, waiting], queues=QUEUES, policy=rules, nodes=[node])
    found = factories.decide(view)
    return factories.preemptions(found).get(99), factories.by_session(found)[99]


MIXED = ((1, SUSPENDED), (1, SUSPENDED), (3, KILLED), (3, KILLED))


def test_those_that_are_ended_do_not_count():
    stop, _ = _of_the_queues(_running(*MIXED, owner_id=2), wants=6, capacity=8)

    assert stop.victim_jobids == (3, 4)
    assert {one.session_id: one.verdict for one in stop.candidates} == {
        1: V.NOT_NEEDED,
        2: V.NOT_NEEDED,
        3: V.SELECTED,
        4: V.SELECTED,
    }


def test_the_best_that_keeps_the_limit_is_taken_and_not_called_proved():
    """Both large ones would be the fewest, and both would be suspended: one of them and two others."""
    parts = ((3, SUSPENDED), (3, SUSPENDED), (2, KILLED), (2, KILLED), (2, KILLED))
    stop, _ = _of_the_queues(_running(*parts, owner_id=2), wants=6, capacity=12)

    assert (stop.victim_jobids, stop.is_fewest_proved) == ((1, 3, 4), False)


def test_where_no_set_keeps_it_the_limit_is_what_is_said():
    parts = ((3, SUSPENDED), (3, SUSPENDED), (1, KILLED))
    stop, pend = _of_the_queues(_running(*parts, owner_id=2), wants=6, capacity=7)

    assert stop is None
    assert {one.verdict for one in pend.candidates} == {V.LIMIT}


@pytest.mark.parametrize("order", entities.PreemptionOrder)
def test_among_ones_own_it_does_not_raise_the_ceiling(order):
    """Before, one of job priority 8 was stopped where two of 1 would do, ended and not suspended."""
    running = [dataclasses.replace(one, job_priority=1) for one in _running(*MIXED)] + [
        factories.a_running(5, slots(cpu=6), queue_id=KILLED, job_priority=8)
    ]
    rules = dataclasses.replace(RULES, scope=entities.PreemptionScope.OWNER, order=order)
    waiting = factories.a_session(99, slots(cpu=6), job_priority=20)
    node = factories.a_node(1, capacity=slots(cpu=14))
    view = factories.a_snapshot([*running, waiting], queues=QUEUES, policy=rules, nodes=[node])

    assert factories.preemptions(factories.decide(view))[99].victim_jobids == (3, 4)


def test_when_it_has_been_asked_too_often_a_simple_set_is_taken(monkeypatch):
    monkeypatch.setattr(within_limit, "MOST_ASKED", 1)
    parts = ((3, SUSPENDED), (3, SUSPENDED), (2, KILLED), (2, KILLED), (2, KILLED))
    stop, _ = _of_the_queues(_running(*parts, owner_id=2), wants=6, capacity=12)

    assert (stop.victim_jobids, stop.is_fewest_proved) == ((3, 4, 5), False)
