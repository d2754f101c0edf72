"""Who goes on with a stop: only who could have ordered it, the first in the line (DESIGN 5.5)."""

from __future__ import annotations

import dataclasses

import pytest

from scheduler.core import decisions, entities, states
from scheduler.core.preemption import handover
from tests import factories

_AXIS, _MODE, _ACTION = entities.Axis, entities.PreemptionMode, decisions.Action
_RULES = ("state", "scope", "mode", "min_runtime_s", "requeue_suspended")
QUEUES = (
    factories.a_queue(1, preemptible=True),
    factories.a_queue(2, preemptible_queues=frozenset({1})),
)


def _victim(**more):
    being_stopped = {
        "state": states.SessionState.PREEMPTED,
        "in_decision": True,
        "stop_mode": _MODE.SUSPEND,
        "stop_deadline": factories.NOW + factories.SECOND,
        "job_priority": 5,
    }
    return factories.a_running(1, factories.slots(cpu=4), **being_stopped | more)


def _next(*holders, victim=None, action=_ACTION.SUSPEND, **more):
    rules = {name: more.pop(name) for name in _RULES if name in more}
    policy = dataclasses.replace(factories.ON, **rules)
    view = factories.a_snapshot([victim or _victim(), *holders], queues=QUEUES, policy=policy, **more)
    return handover.next_holder(view, 1, {holder.id for holder in holders}, action)


def test_the_first_in_the_line_that_may_preempt_the_victim_goes_on():
    lower = factories.a_session(2, job_priority=5, priority=90)
    second = factories.a_session(3, job_priority=6)
    first = factories.a_session(4, job_priority=7)

    assert _next(lower, second, first) == handover.NextHolder(4, _AXIS.OWNER, 7, 5)


def test_on_the_axis_of_queues_priorities_count():
    equal = factories.a_session(2, owner_id=2, queue_id=2)
    higher = factories.a_session(3, owner_id=2, queue_id=2, priority=11)

    assert _next(equal) is None
    assert _next(equal, higher) == handover.NextHolder(3, _AXIS.QUEUE, 11, 10)
    assert _next(equal, higher, scope=entities.PreemptionScope.OWNER) is None


def test_who_does_not_count_on_it_is_not_asked():
    view = factories.a_snapshot([_victim(), factories.a_session(2, job_priority=9)])

    assert handover.next_holder(view, 1, (), _ACTION.SUSPEND) is None
    assert handover.next_holder(view, 1, {2}, _ACTION.SUSPEND) is not None


@pytest.mark.parametrize("state", [entities.PreemptionState.OFF, entities.PreemptionState.SHADOW])
def test_a_group_that_is_not_on_takes_back(state):
    assert _next(factories.a_session(2, job_priority=9), state=state) is None


@pytest.mark.parametrize(
    "changed",
    [
        {"is_preemptible": False},
        {"stop_failed_since_start": True},
        {"is_withdrawing": True},
        {"stop_deadline": factories.NOW - 1},
    ],
    ids=lambda changed: next(iter(changed)),
)
def test_what_protects_a_session_that_runs_protects_it_still(changed):
    holder = factories.a_session(2, job_priority=9)
    suspending = dataclasses.replace(factories.ON, mode=_MODE.SUSPEND)
    view = factories.a_snapshot([_victim(), holder], policy=suspending)
    assert handover.next_holder(view, 1, {2}, _ACTION.SUSPEND) is not None

    view = dataclasses.replace(view, sessions=(_victim(**changed), holder))

    assert handover.next_holder(view, 1, {2}, _ACTION.SUSPEND) is None


def test_the_minimum_runtime_is_that_of_its_last_start():
    holder = factories.a_session(2, job_priority=9)

    assert _next(holder, min_runtime_s=3600) is not None
    assert _next(holder, min_runtime_s=3601) is None


def test_what_protects_a_running_session_does_not_protect_one_that_was_suspended():
    holder = factories.a_session(2, job_priority=9)
    victim = _victim(stop_mode=_MODE.RESCHEDULE, stop_failed_since_start=True)
    rules = {"mode": _MODE.SUSPEND, "min_runtime_s": 10**6, "victim": victim}

    assert _next(holder, action=_ACTION.REQUEUE_SUSPENDED, requeue_suspended=True, **rules) is not None
    assert _next(holder, action=_ACTION.REQUEUE_SUSPENDED, **rules) is None
    assert _next(holder, action=_ACTION.KILL, requeue_suspended=True, **rules) is None


def test_nobody_goes_on_with_the_stop_of_one_that_took_something_from_it():
    holder = factories.a_session(2, job_priority=9)

    assert _next(holder, edges=(entities.Edge(1, 2),)) is None


def test_a_private_session_stops_nobody():
    assert _next(factories.a_session(2, job_priority=9, is_private=True)) is None


@pytest.mark.parametrize(
    ("axis", "victim", "is_kept"),
    [
        (_AXIS.OWNER, {}, True),
        (_AXIS.OWNER, {"job_priority": 9}, False),
        (_AXIS.OWNER, {"is_preemptible": False}, False),
        (_AXIS.OWNER, {"times_preempted": 99, "stop_failed_since_start": True}, True),
        (_AXIS.QUEUE, {}, True),
        (_AXIS.QUEUE, {"priority": 11}, False),
        (_AXIS.QUEUE, {"job_priority": 10}, False),
    ],
)
def test_a_stop_keeps_its_ground_while_the_rules_allow_it(axis, victim, is_kept):
    holder = factories.a_session(2, job_priority=9, queue_id=2, priority=11)
    policy = dataclasses.replace(
        factories.ON, mode=_MODE.SUSPEND, max_preemptions_per_session=3, min_runtime_s=10**6
    )
    view = factories.a_snapshot([_victim(**victim), holder], queues=QUEUES, policy=policy)

    assert handover.has_ground(view, 1, 2, axis=axis, action=_ACTION.SUSPEND) is is_kept
    other = entities.PreemptionScope.OWNER if axis is _AXIS.QUEUE else entities.PreemptionScope.QUEUE
    for changed in ({"scope": other}, {"state": entities.PreemptionState.OFF}):
        less = dataclasses.replace(view, policy=dataclasses.replace(policy, **changed))
        assert not handover.has_ground(less, 1, 2, axis=axis, action=_ACTION.SUSPEND)
