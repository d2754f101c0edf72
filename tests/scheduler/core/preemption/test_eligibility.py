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


LIMITED = dataclasses.replace(factories.ON, mode=SUSPEND, max_suspended_per_node=1)
NODES = [factories.a_node(1), factories.a_node(2)]


def _suspended(*sessions, rules=LIMITED, claimed=()):
    """Return how many suspended sessions count on each node."""
    wanted = factories.a_session(9)
    ctx = context.Context(factories.a_snapshot([*sessions, wanted], nodes=NODES, policy=rules))
    ctx.claimed |= set(claimed)
    return dict(eligibility.ask(ctx, wanted, OWNER).suspended)


def _against(candidate, *others, rules=LIMITED):
    wanted = factories.a_session(9)
    ctx = context.Context(factories.a_snapshot([candidate, *others, wanted], nodes=NODES, policy=rules))
    return eligibility.judge(eligibility.ask(ctx, wanted, OWNER), candidate)[0]


def test_a_node_with_as_many_suspended_sessions_as_allowed_gives_no_more():
    running = factories.a_running(1, slots(cpu=4), job_priority=1)
    there = factories.a_suspended(2, is_held=True)
    twice = dataclasses.replace(LIMITED, max_suspended_per_node=2)

    assert _against(running) is None
    assert _against(running, there) is V.LIMIT
    assert _against(running, there, rules=twice) is None


def test_one_full_node_of_several_is_enough_to_protect_a_session():
    running = factories.a_running(1, on=(1, 2), job_priority=1)

    assert _against(running, factories.a_suspended(2, is_held=True)) is V.LIMIT


@pytest.mark.parametrize(
    "change", [{"mode": entities.PreemptionMode.TERMINATE}, {"max_suspended_per_node": None}]
)
def test_a_full_node_protects_nobody_whom_it_does_not_concern(change):
    running = factories.a_running(1, slots(cpu=4), job_priority=1)
    rules = dataclasses.replace(LIMITED, **change)

    assert _against(running, factories.a_suspended(2, is_held=True), rules=rules) is None


def test_a_suspended_session_that_ends_and_one_whose_resume_is_cancelled_add_none():
    rules = dataclasses.replace(LIMITED, requeue_suspended=True, cancel_unconfirmed_dispatch=True)
    there = factories.a_suspended(2, is_held=True)
    resuming = factories.a_running(1, state=S.SCHEDULED, job_priority=1)

    assert _against(dataclasses.replace(there, id=1, job_priority=1), there, rules=rules) is None
    assert (
        _against(dataclasses.replace(resuming, resume_slots=resuming.allocations), there, rules=rules) is None
    )


def test_those_suspended_on_a_node_are_counted_also_where_they_hold_nothing():
    holding = factories.a_suspended(1, slots(cpu=2), holds=slots(cpu=1))
    elsewhere = dataclasses.replace(factories.a_running(3, on=(2,)), state=S.SUSPENDED)

    assert _suspended(holding, factories.a_suspended(2), elsewhere, factories.a_running(4)) == {1: 2, 2: 1}


def test_those_on_their_way_to_be_suspended_are_counted_and_others_being_stopped_are_not():
    stopping = {"state": S.PREEMPTED, "in_decision": True}
    suspend = factories.a_running(1, stop_mode=SUSPEND, **stopping)
    end = factories.a_running(2, stop_mode=entities.PreemptionMode.TERMINATE, **stopping)
    back = factories.a_running(3, stop_mode=SUSPEND, is_withdrawing=True, **stopping)

    assert [_suspended(one) for one in (suspend, end, back)] == [{1: 1}, {}, {}]


def test_one_that_is_being_resumed_counts_until_it_runs():
    """A resume that is undone or cancelled leaves it suspended there."""
    resuming = factories.a_running(1, state=S.SCHEDULED)
    resuming = dataclasses.replace(resuming, resume_slots=resuming.allocations)
    starting = factories.a_running(2, state=S.SCHEDULED)
    cancelled = dataclasses.replace(resuming, in_decision=True, stop_mode=SUSPEND)

    assert [_suspended(one) for one in (resuming, starting, cancelled)] == [{1: 1}, {}, {1: 1}]


def test_what_this_round_stops_is_counted_as_what_it_becomes():
    running, there = factories.a_running(1), factories.a_suspended(2)
    rules = dataclasses.replace(LIMITED, mode=entities.PreemptionMode.RESCHEDULE)

    assert _suspended(running, there, claimed=(1,)) == {1: 2}
    assert _suspended(running, there, claimed=(1,), rules=rules) == {1: 1}
    assert _suspended(running, there, claimed=(2,)) == {}


def test_nobody_is_counted_where_the_group_has_no_such_limit():
    assert (
        _suspended(factories.a_suspended(1), rules=dataclasses.replace(LIMITED, max_suspended_per_node=None))
        == {}
    )


def test_a_verdict_without_numbers_has_none():
    assert _judge(OWNER, owner_id=2) == (V.OTHER_OWNER, {})


def test_a_group_that_allows_no_preemption_of_a_session_says_so():
    assert _judge(OWNER, rules={"max_preemptions_per_session": 0}) == (
        V.PREEMPTED_TOO_OFTEN,
        {"times": 0, "most": 0},
    )


def _key(axis, **preemptor):
    view = factories.a_snapshot(queues=QUEUES, edges=(entities.Edge(7, 6),))
    return eligibility.kind_of(eligibility.ask(context.Context(view), factories.a_session(**preemptor), axis))


@pytest.mark.parametrize(
    ("axis", "change", "is_same"),
    [
        (OWNER, {}, True),
        (OWNER, {"queue_id": 2, "priority": 99}, True),
        (OWNER, {"job_priority": 11}, False),
        (OWNER, {"owner_id": 2}, False),
        (OWNER, {"session_id": 6}, False),
        (QUEUE, {}, True),
        (QUEUE, {"priority": 11}, False),
        (QUEUE, {"job_priority": 11}, False),
        (QUEUE, {"owner_id": 2}, False),
        (QUEUE, {"queue_id": 2}, False),
        (QUEUE, {"session_id": 6}, False),
    ],
)
def test_preemptors_of_one_kind_share_a_key_and_others_do_not(axis, change, is_same):
    assert (_key(axis, session_id=1) == _key(axis, **{"session_id": 2} | change)) == is_same


def test_preemptors_of_a_queue_that_may_preempt_nobody_are_of_one_kind():
    alike = (
        _key(QUEUE, session_id=1, queue_id=4),
        _key(QUEUE, session_id=2, queue_id=4, priority=99, owner_id=2),
    )

    assert alike[0] == alike[1] is not None
    assert _key(QUEUE, session_id=1, queue_id=8) == _key(QUEUE, session_id=2, queue_id=8, priority=99)
    assert alike[0] != _key(QUEUE, session_id=1, queue_id=2)
