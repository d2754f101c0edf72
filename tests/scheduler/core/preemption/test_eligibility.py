"""May this session be a victim of that one?"""

from __future__ import annotations

import dataclasses

import pytest

from scheduler.core import context, decisions, entities, states
from scheduler.core.preemption import eligibility
from tests import factories
from tests.factories import slots

AXIS, V, S = entities.Axis, decisions.Verdict, states.SessionState
OWNER, QUEUE = AXIS.OWNER, AXIS.QUEUE
SUSPEND = entities.PreemptionMode.SUSPEND
QUEUES = (
    factories.a_queue(1, preemptible_queues=frozenset({1, 2, 3})),
    factories.a_queue(2, preemptible=True),
    factories.a_queue(3),
    factories.a_queue(4, preemptible=True),
)


def _judge(axis, *, preemptor=None, rules=None, edges=(), **victim):
    wanted = factories.a_session(9, **{"priority": 20, "job_priority": 20} | (preemptor or {}))
    candidate = factories.a_running(1, **{"priority": 5, "job_priority": 5, "queue_id": 2} | victim)
    policy = dataclasses.replace(factories.ON, **rules or {})
    view = factories.a_snapshot([candidate, wanted], queues=QUEUES, policy=policy, edges=edges)
    return eligibility.judge(eligibility.ask(context.Context(view), wanted, axis), candidate)


@pytest.mark.parametrize("axis", list(AXIS))
def test_a_lower_running_session_may_be_stopped(axis):
    assert _judge(axis) == (None, {})


@pytest.mark.parametrize(
    ("axis", "victim", "verdict"),
    [
        (OWNER, {"owner_id": 2}, V.OTHER_OWNER),
        (OWNER, {"job_priority": 20}, V.NOT_LOWER),
        (OWNER, {"job_priority": 20, "priority": 0}, V.NOT_LOWER),
        (QUEUE, {"queue_id": 4}, V.QUEUE_NOT_LISTED),
        (QUEUE, {"queue_id": 1}, V.QUEUE_NOT_LISTED),
        (QUEUE, {"queue_id": 8}, V.QUEUE_NOT_LISTED),
        (QUEUE, {"queue_id": 3}, V.QUEUE_NOT_PREEMPTIBLE),
        (QUEUE, {"priority": 20}, V.NOT_LOWER),
        (QUEUE, {"job_priority": 21}, V.RANKED_HIGHER_BY_OWNER),
        (OWNER, {"is_preemptible": False}, V.OPTED_OUT),
        (QUEUE, {"is_preemptible": False}, V.OPTED_OUT),
        (OWNER, {"is_private": True}, V.PRIVATE_OR_SYSTEM),
        (QUEUE, {"type": entities.SessionType.SYSTEM}, V.PRIVATE_OR_SYSTEM),
        (OWNER, {"state": S.TERMINATING}, V.NOT_RUNNING),
        (OWNER, {"state": S.SCHEDULED}, V.NOT_RUNNING),
        (QUEUE, {"state": S.SUSPENDED}, V.NOT_RUNNING),
        (OWNER, {"state": S.PREEMPTED}, V.IN_ANOTHER_DECISION),
        (QUEUE, {"in_decision": True}, V.IN_ANOTHER_DECISION),
    ],
)
def test_p07_an_illegal_candidate_gets_its_reason(axis, victim, verdict):
    assert _judge(axis, **victim)[0] is verdict


def test_on_the_owner_axis_priority_and_queue_play_no_part():
    assert _judge(OWNER, priority=99, queue_id=3)[0] is None


def test_on_the_queue_axis_another_owners_job_priority_plays_no_part():
    assert _judge(QUEUE, owner_id=2, job_priority=99)[0] is None
    assert _judge(QUEUE, job_priority=20)[0] is None


def test_not_lower_tells_both_values_of_its_axis():
    assert _judge(OWNER, job_priority=30)[1] == {"own": 30, "theirs": 20}
    assert _judge(QUEUE, priority=40)[1] == {"own": 40, "theirs": 20}
    assert _judge(QUEUE, job_priority=21)[1] == {"own": 21, "theirs": 20}


@pytest.mark.parametrize(("ran_s", "verdict"), [(599, V.MIN_RUNTIME), (600, None), (601, None)])
def test_exactly_the_minimum_runtime_is_enough(ran_s, verdict):
    started_at = factories.NOW - ran_s * factories.SECOND

    found, facts = _judge(OWNER, rules={"min_runtime_s": 600}, started_at=started_at)

    assert found is verdict
    assert facts == ({"until": started_at + 600 * factories.SECOND} if verdict else {})


def test_a_session_whose_start_is_not_known_is_protected_by_a_minimum_runtime():
    assert _judge(OWNER, rules={"min_runtime_s": 1}, started_at=None)[0] is V.MIN_RUNTIME
    assert _judge(OWNER, started_at=None)[0] is None


@pytest.mark.parametrize(
    ("times", "verdict"), [(1, None), (2, V.PREEMPTED_TOO_OFTEN), (3, V.PREEMPTED_TOO_OFTEN)]
)
def test_a_session_preempted_often_enough_is_protected(times, verdict):
    found, facts = _judge(OWNER, rules={"max_preemptions_per_session": 2}, times_preempted=times)

    assert found is verdict
    assert facts == ({"times": times, "most": 2} if verdict else {})


@pytest.mark.parametrize(
    ("mode", "verdict"), [(SUSPEND, V.STOP_FAILED), (entities.PreemptionMode.TERMINATE, None)]
)
def test_a_failed_suspend_is_not_tried_again_but_an_end_is(mode, verdict):
    assert _judge(OWNER, rules={"mode": mode}, stop_failed_since_start=True)[0] is verdict


@pytest.mark.parametrize(
    ("edges", "verdict"),
    [
        ([(1, 9)], V.WOULD_CLOSE_CYCLE),
        ([(1, 5), (5, 6), (6, 9)], V.WOULD_CLOSE_CYCLE),
        ([(9, 1)], None),
        ([(1, 5), (6, 9)], None),
    ],
)
def test_p16_what_would_close_a_cycle_of_any_length_is_refused(edges, verdict):
    assert _judge(OWNER, edges=tuple(entities.Edge(*edge) for edge in edges))[0] is verdict


def test_a_dispatch_that_is_not_confirmed_is_a_candidate_where_the_group_says_so_whatever_its_runtime():
    rules = {"cancel_unconfirmed_dispatch": True, "min_runtime_s": 600}

    assert _judge(OWNER, rules=rules, state=S.SCHEDULED, started_at=None)[0] is None


def test_a_suspended_session_is_a_candidate_where_the_group_says_so():
    assert _judge(OWNER, rules={"requeue_suspended": True}, state=S.SUSPENDED)[0] is None


def test_a_node_with_as_many_suspended_sessions_as_allowed_gives_no_more():
    rules = dataclasses.replace(factories.ON, mode=SUSPEND, max_suspended_per_node=1)
    running = factories.a_running(1, slots(cpu=4), job_priority=1)
    wanted = factories.a_session(9)
    view = factories.a_snapshot([running, factories.a_suspended(2, is_held=True), wanted], policy=rules)

    question = eligibility.ask(context.Context(view), wanted, OWNER)

    assert eligibility.judge(question, running)[0] is V.LIMIT


@pytest.mark.parametrize("axis", list(AXIS))
def test_preemptors_of_one_kind_share_a_key(axis):
    ctx = context.Context(factories.a_snapshot(queues=QUEUES))
    keys = [
        eligibility.kind_of(eligibility.ask(ctx, factories.a_session(i, **more), axis))
        for i, more in ((1, {}), (2, {}), (3, {"job_priority": 11}))
    ]

    assert keys[0] == keys[1] != keys[2]
