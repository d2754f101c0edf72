"""Claims: who gets one, where, and what it keeps from those behind."""

from __future__ import annotations

import dataclasses

import pytest

from scheduler.core import decisions, entities, invariants, states
from tests import factories
from tests.factories import slots

R, S = decisions.PendReason, states.SessionState
NOW, SECOND = factories.NOW, factories.SECOND
LONG = NOW - 1800 * SECOND
TWO = (factories.a_node(1), factories.a_node(2))
OFF = dataclasses.replace(factories.ON, state=entities.PreemptionState.OFF)
SHADOW = dataclasses.replace(factories.ON, state=entities.PreemptionState.SHADOW)


def _holder(session_id=8, request=None, **more):
    """Return a session that asks for a whole node and has lacked it for 30 minutes."""
    return factories.a_session(session_id, request or slots(cpu=4), **{"waiting_since": LONG} | more)


def _decide(*sessions, claims=(), policy=OFF, **more):
    view = factories.a_snapshot(sessions, policy=policy, claims=claims, **more)
    found = factories.decide(view)
    assert invariants.check_snapshot(view) == []
    assert invariants.check_decisions(view, found) == []
    return factories.by_session(found)


def _claim(*node_ids, holder=8):
    return entities.Claim(holder, node_ids or (1,))


def test_the_first_that_lacks_slots_gets_a_claim_after_the_time_that_the_group_sets():
    found = _decide(factories.a_running(1), _holder())

    assert (found[8].reason, found[8].claim, found[8].facts["kept"]) == (R.HOLDS_CLAIM, _claim(), "n1")


@pytest.mark.parametrize("since", [None, LONG + 1])
def test_one_that_has_not_waited_so_long_gets_none(since):
    found = _decide(factories.a_running(1), _holder(waiting_since=since))

    assert (found[8].reason, found[8].claim) == (R.NO_RESOURCES, None)


def test_nobody_gets_one_where_the_group_sets_no_time_and_old_ones_do_not_count():
    never = dataclasses.replace(OFF, starvation_after_s=0)

    found = _decide(
        factories.a_running(1), _holder(), factories.a_session(9), claims=[_claim()], policy=never
    )

    assert (found[8].reason, found[8].claim) == (R.NO_RESOURCES, None)
    assert isinstance(found[9], decisions.Dispatch)


def test_only_the_first_gets_one():
    found = _decide(factories.a_running(1), _holder(), _holder(9))

    assert [found[i].claim for i in (8, 9)] == [_claim(), None]


def test_a_session_that_a_check_or_a_limit_keeps_waiting_is_not_the_first():
    limited = entities.Owner(2, entities.Usage(max_sessions=0))
    held, at_limit = _holder(6, is_held=True), _holder(7, owner_id=2)

    found = _decide(factories.a_running(1), held, at_limit, _holder(), owners=(entities.Owner(1), limited))

    assert [found[i].reason for i in (6, 7, 8)] == [R.HELD, R.EXCEEDS_OWNER_LIMIT, R.HOLDS_CLAIM]


def test_those_behind_leave_the_room_alone_and_say_so():
    found = _decide(factories.a_running(1), _holder(), factories.a_session(9))

    assert (found[9].reason, found[9].facts["kept"]) == (R.ROOM_CLAIMED, "n1")


def test_those_behind_take_what_the_claim_leaves_and_the_other_nodes():
    running = [factories.a_running(1, slots(cpu=2)), factories.a_running(2, slots(cpu=2), on=(2,))]

    found = _decide(*running, _holder(8, slots(cpu=3)), factories.a_session(9, slots(cpu=2)), nodes=TWO)

    assert [grant.node_id for grant in found[9].grants] == [2]


def test_those_ahead_do_not_see_it():
    ahead = factories.a_session(7, slots(cpu=3), priority=50)

    found = _decide(factories.a_running(1), ahead, _holder(), claims=[_claim()])

    assert isinstance(found[7], decisions.Dispatch)
    assert (found[8].reason, found[8].claim) == (R.HOLDS_CLAIM, None)


def test_the_holder_starts_on_it_and_elsewhere():
    assert isinstance(_decide(_holder(), claims=[_claim()])[8], decisions.Dispatch)
    found = _decide(factories.a_running(1), _holder(), nodes=TWO, claims=[_claim()])
    assert [grant.node_id for grant in found[8].grants] == [2]


def test_one_whose_wall_time_ends_before_the_claim_starts_is_let_through():
    running = factories.a_running(1, slots(cpu=2), wall_limit_s=3700)
    short, long = factories.a_session(9, wall_limit_s=100), factories.a_session(10, wall_limit_s=101)

    found = _decide(running, _holder(), long, short)

    assert found[8].facts["until"] == NOW + 100 * SECOND
    assert isinstance(found[9], decisions.Dispatch)
    assert found[10].reason is R.ROOM_CLAIMED


def test_nobody_is_let_through_where_the_start_is_unknown():
    found = _decide(factories.a_running(1, slots(cpu=2)), _holder(), factories.a_session(9, wall_limit_s=1))

    assert "until" not in found[8].facts
    assert found[9].reason is R.ROOM_CLAIMED


def test_a_suspended_session_behind_it_does_not_resume_into_it():
    suspended = factories.a_suspended(9, slots(cpu=2))

    found = _decide(factories.a_running(1), _holder(), suspended)

    assert found[9].reason is R.ROOM_CLAIMED


def test_a_suspended_session_may_hold_one_on_its_own_node_with_its_very_devices():
    node = factories.a_node(capacity=slots(cpu=4, cuda_device=2))
    busy = factories.a_running(1, slots(cpu=2))
    held = (entities.Allocation(1, slots(cpu=3, cuda_device=1), {"cuda.device": (0,)}),)
    suspended = dataclasses.replace(
        factories.a_suspended(8, slots(cpu=3, cuda_device=1)), resume_slots=held, waiting_since=LONG
    )
    others = [factories.a_session(i, slots(cuda_device=1)) for i in (9, 10)]

    found = _decide(busy, suspended, *others, nodes=[node])

    assert (found[8].reason, found[8].claim) == (R.HOLDS_CLAIM, _claim())
    assert found[9].grants[0].indices == {"cuda.device": (1,)}
    assert found[10].reason is R.ROOM_CLAIMED


def test_a_session_for_two_nodes_gets_both_together():
    busy = [factories.a_running(i, on=(i,)) for i in (1, 2)]

    found = _decide(*busy, _holder(node_count=2), factories.a_session(9), nodes=TWO)

    assert found[8].claim == _claim(1, 2)
    assert found[9].reason is R.ROOM_CLAIMED


def test_it_lasts_where_it_is_though_another_node_would_be_sooner_now():
    busy = [factories.a_running(1, slots(cpu=3)), factories.a_running(2, on=(2,), wall_limit_s=3601)]

    assert _decide(*busy, _holder(), nodes=TWO)[8].claim == _claim(2)
    assert _decide(*busy, _holder(), nodes=TWO, claims=[_claim(1)])[8].claim is None


def test_it_moves_when_its_node_takes_sessions_no_more():
    down = (dataclasses.replace(TWO[0], state=entities.NodeState.DRAINING), TWO[1])
    busy = factories.a_running(2, on=(2,))

    found = _decide(busy, _holder(), nodes=down, claims=[_claim(1)])

    assert (found[8].reason, found[8].claim) == (R.HOLDS_CLAIM, _claim(2))


def test_it_rests_while_no_node_is_open_for_its_holder():
    down = factories.a_node(state=entities.NodeState.DOWN)

    assert _decide(_holder(), nodes=[down], claims=[_claim()])[8].reason is R.NO_RESOURCES


def test_it_rests_while_its_holder_may_not_start():
    waits = _holder(begin_at=NOW + 1)

    found = _decide(factories.a_running(1), waits, factories.a_session(9), claims=[_claim()])

    assert isinstance(found[9], decisions.Dispatch)


def test_it_rests_while_its_holder_has_a_reservation():
    kept = entities.Reservation(7, 8, 1, slots(cpu=4), slots(cpu=3), (1,), NOW + SECOND)
    victim = factories.a_running(1, state=S.PREEMPTED, in_decision=True, stop_deadline=NOW + SECOND)
    behind = factories.a_session(9)

    found = _decide(victim, _holder(), behind, nodes=TWO, claims=[_claim(2)], reservations=(kept,))

    assert [grant.node_id for grant in found[8].grants] == [2]
    binding = dataclasses.replace(kept, is_binding=True)
    found = _decide(victim, _holder(), behind, nodes=TWO, claims=[_claim(2)], reservations=(binding,))
    assert (found[8].reason, found[9].grants[0].node_id) == (R.AWAITING_VICTIMS, 2)


def test_who_comes_behind_stops_victims_for_the_claim_too_or_nobody():
    lower = [factories.a_running(i, slots(cpu=2), job_priority=1) for i in (1, 2)]
    holder, behind = _holder(8, slots(cpu=2), is_private=True), factories.a_session(9, slots(cpu=2))

    view = factories.a_snapshot([*lower, holder, behind], claims=[_claim()])
    stop = factories.preemptions(factories.decide(view))[9]
    assert sorted(stop.victim_jobids) == [1, 2]

    view = factories.a_snapshot(
        [lower[0], holder, behind], claims=[_claim()], nodes=[factories.a_node(capacity=slots(cpu=2))]
    )
    assert factories.preemptions(factories.decide(view)) == {}


def test_who_comes_behind_does_not_wait_for_what_the_claim_needs():
    leaving = factories.a_running(1, slots(cpu=4), state=S.PREEMPTED, stop_deadline=NOW + SECOND)
    behind = factories.a_session(9, slots(cpu=1))

    found = _decide(leaving, _holder(is_private=True), behind, policy=factories.ON)

    assert (found[9].reason, found[9].wait) == (R.NO_RESOURCES, None)


def test_a_reservation_that_stood_before_is_started_on():
    kept = entities.Reservation(7, 9, 1, slots(cpu=2), slots(cpu=2), (), NOW + SECOND)

    found = _decide(
        factories.a_running(1, slots(cpu=2)),
        _holder(),
        factories.a_session(9, slots(cpu=2)),
        claims=[_claim()],
        reservations=(kept,),
        nodes=[factories.a_node(max_sessions=2)],
    )

    assert found[9].reservation_id == 7


def test_in_shadow_the_holder_plans_without_its_own_claim_and_those_behind_it_with_it():
    victim = factories.a_running(1, slots(cpu=4), job_priority=1)
    view = factories.a_snapshot([victim, _holder(), factories.a_session(9)], policy=SHADOW, claims=[_claim()])

    assert {i: p.victim_jobids for i, p in factories.preemptions(factories.decide(view)).items()} == {8: (1,)}


def test_what_ends_before_the_claim_takes_devices_of_it_and_the_rest_stay_kept():
    node = factories.a_node(capacity=slots(cpu=4, cuda_device=2))
    busy = factories.a_running(1, slots(cpu=2), wall_limit_s=3700)
    held = (entities.Allocation(1, slots(cpu=3, cuda_device=2), {"cuda.device": (0, 1)}),)
    suspended = dataclasses.replace(
        factories.a_suspended(8, slots(cpu=3, cuda_device=2)), resume_slots=held, waiting_since=LONG
    )
    short = factories.a_session(9, slots(cuda_device=1), wall_limit_s=100)
    long = factories.a_session(10, slots(cuda_device=1))

    found = _decide(busy, suspended, short, long, nodes=[node])

    assert found[9].grants[0].indices == {"cuda.device": (0,)}
    assert found[10].reason is R.ROOM_CLAIMED


def test_a_suspended_session_that_holds_what_the_claim_lacks_resumes_so_that_it_can_end():
    node = factories.a_node(capacity=slots(cpu=4, mem=4))
    suspended = factories.a_suspended(9, slots(cpu=2, mem=2), holds=slots(mem=2))

    found = _decide(_holder(8, slots(cpu=4, mem=3)), suspended, nodes=[node], claims=[_claim()])

    assert found[8].reason is R.HOLDS_CLAIM
    assert isinstance(found[9], decisions.Dispatch)


def test_a_suspended_session_whose_share_does_not_stand_in_the_way_waits_behind_it():
    node = factories.a_node(capacity=slots(cpu=4, mem=8))
    busy = factories.a_running(1, slots(mem=4), wall_limit_s=3660)
    suspended = factories.a_suspended(9, slots(cpu=4, mem=1), holds=slots(mem=1))

    found = _decide(busy, _holder(8, slots(cpu=4, mem=6)), suspended, nodes=[node], claims=[_claim()])

    assert (found[8].reason, found[8].facts["until"]) == (R.HOLDS_CLAIM, NOW + 60 * SECOND)
    assert found[9].reason is R.ROOM_CLAIMED


def test_suspended_sessions_that_stand_in_the_way_together_resume_one_after_the_other():
    node = factories.a_node(capacity=slots(cpu=4, mem=8))
    both = [factories.a_suspended(n, slots(cpu=4, mem=2), holds=slots(mem=2)) for n in (9, 10)]

    found = _decide(_holder(8, slots(cpu=4, mem=6)), *both, nodes=[node], claims=[_claim()])

    assert isinstance(found[9], decisions.Dispatch)
    assert not isinstance(found[10], decisions.Dispatch)


@pytest.mark.parametrize(("limit", "stops"), [(79, True), (80, True), (81, False), (90, False)])
def test_who_starts_only_after_a_stop_must_end_before_it_all_the_same(limit, stops):
    """The grace is 10 s, the margin 10 s, and the claim starts in 100 s."""
    policy = dataclasses.replace(factories.ON, grace_s=10, suspend_grace_s=2)
    own = {"owner_id": 3, "wall_limit_s": 3700}
    running = [factories.a_running(1, slots(cpu=2), owner_id=2, wall_limit_s=3700)]
    running.append(factories.a_running(2, slots(cpu=2), job_priority=1, priority=5, **own))
    asks = factories.a_session(9, slots(cpu=2), owner_id=3, job_priority=9, wall_limit_s=limit)

    found = _decide(*running, _holder(8, owner_id=4, priority=20), asks, policy=policy)

    assert found[8].facts["until"] == NOW + 100 * SECOND
    assert (found[9].reason is R.AWAITING_VICTIMS) == stops


def test_a_suspended_session_that_holds_nothing_of_it_waits_behind_it():
    node = factories.a_node(capacity=slots(cpu=4, mem=4))
    suspended = factories.a_suspended(9, slots(cpu=2, mem=2), holds=slots(mem=2))
    busy = factories.a_running(1, slots(cpu=1))

    found = _decide(busy, _holder(8, slots(cpu=4)), suspended, nodes=[node], claims=[_claim()])

    assert found[9].reason is R.ROOM_CLAIMED
