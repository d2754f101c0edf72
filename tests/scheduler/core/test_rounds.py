"""The loop of one round: who is dispatched, who waits, who is stopped for whom."""

from __future__ import annotations

import dataclasses

import pytest

from scheduler.core import decisions, entities, invariants, states
from tests import factories
from tests.factories import slots

R, V, S = decisions.PendReason, decisions.Verdict, states.SessionState
STATE, AXIS, SCOPE = entities.PreemptionState, entities.Axis, entities.PreemptionScope
QUEUES = (
    factories.a_queue(1, name="urgent", preemptible_queues=frozenset({2})),
    factories.a_queue(2, name="background", preemptible=True),
)


def _rules(**more):
    return dataclasses.replace(factories.ON, **more)


def _low(session_id, request=None, **more):
    return factories.a_running(session_id, request, **{"job_priority": 1} | more)


def _reasons(found):
    return {i: d.reason for i, d in factories.by_session(found).items() if isinstance(d, decisions.Pend)}


def test_a_session_that_fits_is_dispatched_and_nobody_is_stopped():
    found = factories.decide(factories.a_snapshot([_low(1, slots(cpu=2)), factories.a_session(9)]))

    assert found == [decisions.Dispatch(9, (decisions.NodeGrant(1, slots(cpu=1), {}),))]


def test_later_sessions_are_tried_when_an_earlier_one_does_not_fit():
    view = factories.a_snapshot(
        [factories.a_running(1, slots(cpu=2)), factories.a_session(8, slots(cpu=3)), factories.a_session(9)]
    )

    assert isinstance(factories.by_session(factories.decide(view))[9], decisions.Dispatch)


def test_a_preemption_is_told_before_the_pend_of_its_preemptor():
    stop, pend = factories.decide(factories.a_snapshot([_low(1, slots(cpu=4)), factories.a_session(9)]))

    assert (stop.preempting_jobid, stop.victim_jobids, stop.axis, stop.node_id) == (9, (1,), AXIS.OWNER, 1)
    assert (pend.session_id, pend.reason) == (9, R.AWAITING_VICTIMS)


def test_a_preemption_draws_what_is_free_and_promises_the_rest():
    node = factories.a_node(capacity=slots(cpu=4, cuda_device=2))
    view = factories.a_snapshot(
        [_low(1, slots(cpu=3)), factories.a_session(9, slots(cpu=2, cuda_device=1))], nodes=[node]
    )

    stop = factories.preemptions(factories.decide(view))[9]

    assert (stop.slots, stop.draw) == (slots(cpu=2, cuda_device=1), slots(cpu=1, cuda_device=1))
    assert stop.draw_indices == {"cuda.device": (0,)}


def test_without_a_sufficient_set_there_is_no_preemption_and_every_verdict_is_recorded():
    view = factories.a_snapshot(
        [_low(1, slots(cpu=1)), factories.a_running(2, slots(cpu=3)), factories.a_session(9, slots(cpu=4))]
    )

    (pend,) = factories.decide(view)

    assert pend.reason is R.NO_RESOURCES
    assert {c.session_id: c.verdict for c in pend.candidates} == {1: V.INSUFFICIENT, 2: V.NOT_LOWER}


def test_equal_job_priority_is_never_a_victim_whatever_the_global_priority():
    view = factories.a_snapshot([factories.a_running(1, slots(cpu=4)), factories.a_session(9, priority=100)])

    assert _reasons(factories.decide(view)) == {9: R.NO_RESOURCES}


def test_the_owner_axis_is_tried_before_the_queue_axis_and_never_mixed_with_it():
    own = _low(1, slots(cpu=2), priority=0, queue_id=1)
    foreign = factories.a_running(2, slots(cpu=2), owner_id=2, queue_id=2, priority=0)
    small, large = factories.a_session(9, slots(cpu=2)), factories.a_session(9, slots(cpu=4))

    stop = factories.preemptions(
        factories.decide(factories.a_snapshot([own, foreign, small], queues=QUEUES))
    )[9]
    assert (stop.axis, stop.victim_jobids) == (AXIS.OWNER, (1,))
    assert (
        _reasons(factories.decide(factories.a_snapshot([own, foreign, large], queues=QUEUES)))[9]
        is R.NO_RESOURCES
    )


@pytest.mark.parametrize(
    ("scope", "expected"), [(SCOPE.OWNER, {}), (SCOPE.QUEUE, {9: (2,)}), (SCOPE.OWNER_THEN_QUEUE, {9: (2,)})]
)
def test_the_scope_says_which_axes_are_used(scope, expected):
    foreign = factories.a_running(2, slots(cpu=4), owner_id=2, queue_id=2, priority=0)
    view = factories.a_snapshot([foreign, factories.a_session(9)], queues=QUEUES, policy=_rules(scope=scope))

    stops = factories.preemptions(factories.decide(view))

    assert {i: stop.victim_jobids for i, stop in stops.items()} == expected


@pytest.mark.parametrize(
    "fields",
    [{"is_private": True}, {"type": entities.SessionType.SYSTEM}, {"node_count": 2}],
    ids=["private", "system", "two nodes"],
)
def test_such_a_session_stops_nobody(fields):
    nodes = [factories.a_node(1), factories.a_node(2)]
    running = [_low(1, slots(cpu=4)), _low(2, slots(cpu=4), on=(2,))]

    found = factories.decide(factories.a_snapshot([*running, factories.a_session(9, **fields)], nodes=nodes))

    assert _reasons(found) == {9: R.NO_RESOURCES}


def test_p12_off_stops_nobody_and_reserves_nothing():
    stopping = _low(1, slots(cpu=4), state=S.PREEMPTED, in_decision=True, stop_deadline=factories.NOW)
    view = factories.a_snapshot([stopping, factories.a_session(9)], policy=_rules(state=STATE.OFF))

    (pend,) = factories.decide(view)

    assert (pend.reason, pend.wait) == (R.NO_RESOURCES, None)


def test_shadow_records_what_it_would_do_beside_the_ordinary_pend():
    view = factories.a_snapshot(
        [_low(1, slots(cpu=4)), factories.a_session(9)], policy=_rules(state=STATE.SHADOW)
    )

    pend, stop = factories.decide(view)

    assert (pend.reason, stop.victim_jobids, stop.is_shadow) == (R.NO_RESOURCES, (1,), True)


def test_what_is_being_stopped_already_suffices_so_the_session_waits_and_reserves():
    stopping = _low(1, slots(cpu=3), state=S.PREEMPTED, in_decision=True, stop_deadline=factories.NOW)
    view = factories.a_snapshot([stopping, _low(2, slots(cpu=1)), factories.a_session(9, slots(cpu=2))])

    (pend,) = factories.decide(view)

    assert pend.reason is R.AWAITING_RELEASE
    assert pend.wait == decisions.Wait(1, slots(cpu=2), slots(), {}, (1,))


def test_preemptors_of_one_round_share_no_victim_and_use_what_is_left_over():
    running = [_low(1, slots(cpu=3)), _low(2, slots(cpu=1))]
    waiting = [factories.a_session(i, slots(cpu=2)) for i in (7, 8, 9)]

    found = factories.decide(factories.a_snapshot([*running, *waiting]))

    assert {i: stop.victim_jobids for i, stop in factories.preemptions(found).items()} == {7: (1,), 8: (2,)}
    assert factories.preemptions(found)[8].releasing_ids == (1,)
    assert _reasons(found)[9] is R.NO_RESOURCES


def test_a_limit_alone_stops_nobody():
    owner = entities.Owner(1, entities.Usage(used=slots(cpu=2), sessions=1, max_slots={"cpu": 2}))
    view = factories.a_snapshot([_low(1, slots(cpu=2)), factories.a_session(9)], owners=(owner,))

    assert _reasons(factories.decide(view)) == {9: R.OWNER_LIMIT}


def test_victims_that_free_the_slots_may_free_the_limit_too():
    usage = entities.Usage(used=slots(cpu=4), sessions=2, max_slots={"cpu": 4})
    running = [_low(1, slots(cpu=2)), _low(2, slots(cpu=2), job_priority=2)]
    view = factories.a_snapshot(
        [*running, factories.a_session(9, slots(cpu=2))], owners=(entities.Owner(1, usage),)
    )

    assert factories.preemptions(factories.decide(view))[9].victim_jobids == (1,)


def test_a_limit_that_would_still_be_used_up_stops_nobody():
    full = entities.Queue(
        1, "urgent", preemptible_queues=frozenset({2}), usage=entities.Usage(sessions=1, max_sessions=1)
    )
    victim = factories.a_running(1, slots(cpu=4), owner_id=2, queue_id=2, priority=0)
    view = factories.a_snapshot([victim, factories.a_session(9)], queues=(full, QUEUES[1]))

    (pend,) = factories.decide(view)

    assert pend.reason is R.QUEUE_LIMIT
    assert [c.verdict for c in pend.candidates] == [V.LIMIT]


def test_an_unknown_policy_stops_nobody_and_is_seen():
    broken = dataclasses.replace(QUEUES[0], preempt_policy="gone")
    victim = factories.a_running(1, slots(cpu=4), owner_id=2, queue_id=2, priority=0)
    view = factories.a_snapshot([victim, factories.a_session(9)], queues=(broken, QUEUES[1]))

    (pend,) = factories.decide(view)

    assert pend.reason is R.POLICY_FAILED
    assert "gone" in pend.facts["policy"]


def test_the_owners_policy_cannot_be_chosen_for_a_queue():
    broken = dataclasses.replace(QUEUES[0], preempt_policy="owner_job_priority")
    victim = factories.a_running(1, slots(cpu=4), owner_id=2, queue_id=2, priority=0)
    view = factories.a_snapshot([victim, factories.a_session(9)], queues=(broken, QUEUES[1]))

    assert _reasons(factories.decide(view)) == {9: R.POLICY_FAILED}


def test_a_node_in_back_off_is_closed_to_preemption_but_not_to_placement():
    nodes = [factories.a_node(1), factories.a_node(2)]
    backoff = {1: factories.NOW + 1}
    running = [_low(1, slots(cpu=4)), _low(2, slots(cpu=4), on=(2,), job_priority=2)]
    waiting = factories.a_session(9, backoff=backoff)

    stop = factories.preemptions(factories.decide(factories.a_snapshot([*running, waiting], nodes=nodes)))[9]
    free = factories.decide(factories.a_snapshot([running[1], waiting], nodes=nodes))

    assert (stop.node_id, stop.victim_jobids) == (2, (2,))
    assert [view.note for view in stop.nodes] == ["backoff", ""]
    assert isinstance(free[0], decisions.Dispatch)


def test_a_victim_on_two_nodes_counts_once_and_frees_on_both():
    nodes = [factories.a_node(1), factories.a_node(2)]
    view = factories.a_snapshot([_low(1, slots(cpu=4), on=(1, 2)), factories.a_session(9)], nodes=nodes)

    stop = factories.preemptions(factories.decide(view))[9]

    assert (stop.n_victims, stop.candidates[0].node_ids) == (1, (1, 2))


def test_a_suspended_session_resumes_before_later_ones_take_its_room():
    view = factories.a_snapshot([factories.a_suspended(1, slots(cpu=4)), factories.a_session(9)])

    resumed, pend = factories.decide(view)

    assert (resumed.session_id, resumed.is_resume, resumed.grants[0].node_id) == (1, True, 1)
    assert pend.reason is R.NO_RESOURCES


def test_a_suspended_session_stops_nobody_and_says_what_it_lacks():
    view = factories.a_snapshot(
        [factories.a_suspended(1, slots(cpu=4), job_priority=50), _low(2, slots(cpu=1))]
    )

    (pend,) = factories.decide(view)

    assert (pend.reason, pend.facts["short.cpu"], pend.facts["nearest"]) == (R.NO_RESOURCES, 1, "n1")


def test_a_suspended_session_on_a_node_that_is_down_says_so():
    node = factories.a_node(state=entities.NodeState.DOWN)

    (pend,) = factories.decide(factories.a_snapshot([factories.a_suspended(1)], nodes=[node]))

    assert (pend.reason, pend.facts) == (R.NODE_UNAVAILABLE, {"node": "n1"})


def test_the_victims_stop_follows_the_mode():
    suspend = _rules(mode=entities.PreemptionMode.SUSPEND)
    view = factories.a_snapshot([_low(1, slots(cpu=4)), factories.a_session(9)], policy=suspend)

    (victim,) = factories.preemptions(factories.decide(view))[9].victims

    assert (victim.action, victim.signal, victim.grace_s) == (decisions.Action.SUSPEND, 20, 2)
    assert (victim.own_value, victim.frees) == (1, slots(cpu=4))


def test_p10_a_suspend_that_keeps_what_is_short_is_no_help():
    partly = _rules(mode=entities.PreemptionMode.SUSPEND, suspend_releases=frozenset({"cpu"}))
    node = factories.a_node(capacity=slots(cpu=4, mem=4))
    view = factories.a_snapshot(
        [_low(1, slots(cpu=1, mem=4)), factories.a_session(9, slots(cpu=1, mem=1))],
        nodes=[node],
        policy=partly,
    )

    (pend,) = factories.decide(view)

    assert [c.verdict for c in pend.candidates] == [V.FREES_NOTHING_SHORT]


def test_p16_three_sessions_over_two_axes_cannot_stop_each_other_in_a_circle():
    queues = (
        factories.a_queue(1, preemptible=True, preemptible_queues=frozenset({2})),
        factories.a_queue(2, preemptible=True),
        factories.a_queue(3, preemptible_queues=frozenset({1})),
    )
    a = {"owner_id": 1, "queue_id": 1, "priority": 50}
    b = {"owner_id": 2, "queue_id": 2, "priority": 10, "job_priority": 9}
    c = {"owner_id": 2, "queue_id": 3, "priority": 90, "job_priority": 1}
    took = (entities.Edge(1, 2), entities.Edge(3, 1))
    running = factories.a_running(3, slots(cpu=4), **c)
    waiting = [factories.a_session(1, slots(cpu=4), **a), factories.a_session(2, slots(cpu=4), **b)]

    found = factories.decide(factories.a_snapshot([running, *waiting], queues=queues, edges=took))

    assert factories.preemptions(found) == {}
    pend = factories.by_session(found)[2]
    assert [candidate.verdict for candidate in pend.candidates] == [V.WOULD_CLOSE_CYCLE]


def test_one_owners_urgent_sessions_stop_the_same_victim_once():
    victim = factories.a_suspended(1, slots(cpu=4), job_priority=1)
    waiting = [factories.a_session(i, slots(cpu=4), job_priority=9) for i in range(2, 6)]

    found = factories.decide(factories.a_snapshot([victim, *waiting]))

    assert [d.session_id for d in found if isinstance(d, decisions.Dispatch)] == [2]
    assert factories.preemptions(found) == {}


def test_jobs_of_1_1_2_4_8_lose_one_for_a_need_of_8():
    running = [
        factories.a_running(i, slots(cpu=cpus), owner_id=2, queue_id=2, priority=1)
        for i, cpus in enumerate((1, 1, 2, 4, 8), 1)
    ]
    node = factories.a_node(capacity=slots(cpu=16))
    view = factories.a_snapshot([*running, factories.a_session(9, slots(cpu=8))], nodes=[node], queues=QUEUES)

    stop = factories.preemptions(factories.decide(view))[9]

    assert (stop.victim_jobids, stop.is_fewest_proved) == ((5,), True)


def test_jobs_of_5_5_3_2_1_lose_two_for_a_need_of_6():
    running = [
        factories.a_running(i, slots(cpu=cpus), owner_id=2, queue_id=2, priority=1)
        for i, cpus in enumerate((5, 5, 3, 2, 1), 1)
    ]
    node = factories.a_node(capacity=slots(cpu=16))
    view = factories.a_snapshot([*running, factories.a_session(9, slots(cpu=6))], nodes=[node], queues=QUEUES)

    assert factories.preemptions(factories.decide(view))[9].n_victims == 2


def _beside_suspended(**suspended):
    """Decide for a session that needs the memory of one that is suspended; there are cores for both."""
    rules = {"requeue_suspended": True, "suspend_releases": frozenset({"cpu"}), "starvation_after_s": 0}
    asleep = factories.a_suspended(1, slots(cpu=1, mem=4), holds=slots(mem=4), job_priority=1, **suspended)
    waiting = factories.a_session(5, slots(cpu=1, mem=4), job_priority=9)
    view = factories.a_snapshot(
        [asleep, waiting],
        nodes=[factories.a_node(1, capacity=slots(cpu=8, mem=4))],
        policy=dataclasses.replace(factories.ON, **rules),
    )
    found = factories.decide(view)
    assert invariants.check_decisions(view, found) == []
    return found


def test_a_suspended_session_that_is_stopped_for_another_does_not_resume_in_the_same_round():
    stop, pend = _beside_suspended()

    assert (stop.preempting_jobid, stop.victim_jobids) == (5, (1,))
    assert (pend.session_id, pend.reason) == (5, decisions.PendReason.AWAITING_VICTIMS)


def test_a_suspended_session_that_resumes_is_nobodys_victim_in_the_same_round():
    start, pend = _beside_suspended(priority=50)

    assert (start.session_id, start.is_resume) == (1, True)
    assert pend.reason is decisions.PendReason.NO_RESOURCES
    assert [view.verdict for view in pend.candidates] == [decisions.Verdict.NOT_RUNNING]
