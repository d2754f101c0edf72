"""The holder of a reservation."""

from __future__ import annotations

import dataclasses

import pytest

from scheduler.core import decisions, entities, states
from tests import factories
from tests.factories import slots

R, S = decisions.PendReason, states.SessionState
LATER = factories.NOW + factories.SECOND
TWO = (factories.a_node(1), factories.a_node(2))


def _kept(drawn, victims=(1,), **more):
    return entities.Reservation(7, 9, 1, slots(cpu=3), drawn, victims, LATER, **more)


def _victim(**more):
    fields = {"state": S.PREEMPTED, "in_decision": True, "stop_deadline": LATER}
    return factories.a_running(1, slots(cpu=2), **fields | more)


def _decide(reservation, *others, waiting=None, **more):
    waiting = factories.a_session(9, slots(cpu=3)) if waiting is None else waiting
    view = factories.a_snapshot([waiting, *others], reservations=(reservation,), **more)
    return factories.decide(view)


def test_it_starts_on_its_reserved_room_when_all_of_it_is_drawn():
    found = _decide(_kept(slots(cpu=3)), factories.a_running(2))

    assert found == [decisions.Dispatch(9, (decisions.NodeGrant(1, slots(cpu=3), {}),), reservation_id=7)]


def test_it_keeps_the_very_devices_that_were_drawn():
    node = factories.a_node(capacity=slots(cpu=4, cuda_device=2))
    reservation = dataclasses.replace(
        _kept(slots(cuda_device=1), ()), slots=slots(cuda_device=1), indices={"cuda.device": (1,)}
    )
    other = factories.a_running(2, slots(cpu=1, cuda_device=1), indices={"cuda.device": (0,)})

    (start,) = _decide(reservation, other, waiting=factories.a_session(9, slots(cuda_device=1)), nodes=[node])

    assert start.grants[0].indices == {"cuda.device": (1,)}


def test_while_its_victims_still_hold_the_room_it_waits_and_stops_nobody_else():
    lower = factories.a_running(2, slots(cpu=1), job_priority=0)

    (pend,) = _decide(_kept(slots(cpu=1)), _victim(), lower)

    assert (pend.reason, pend.wait) == (R.AWAITING_VICTIMS, None)
    assert pend.facts == {"node": "n1", "until": LATER, "sessions": 1}


def test_the_holder_of_a_wait_waits_for_a_release():
    (pend,) = _decide(_kept(slots(cpu=2), is_wait=True), _victim())

    assert pend.reason is R.AWAITING_RELEASE


def test_it_may_start_elsewhere_before_anything_irreversible():
    (start,) = _decide(_kept(slots(cpu=1)), _victim(), nodes=TWO)

    assert (start.grants[0].node_id, start.reservation_id) == (2, None)


def test_after_a_kill_has_begun_it_starts_nowhere_else():
    (pend,) = _decide(_kept(slots(cpu=1), is_binding=True), _victim(), nodes=TWO)

    assert pend.reason is R.AWAITING_VICTIMS


def test_others_get_neither_what_is_drawn_nor_what_is_promised():
    thief = factories.a_session(10, slots(cpu=2), job_priority=0)

    found = _decide(_kept(slots(cpu=2)), _victim(), thief)

    assert factories.by_session(found)[10].reason is R.BEHIND_OTHERS


def test_a_node_that_is_not_ready_is_not_used():
    node = factories.a_node(state=entities.NodeState.DRAINING)

    (pend,) = _decide(_kept(slots(cpu=3), ()), nodes=[node])

    assert pend.reason is R.AWAITING_VICTIMS


def _limited(**more):
    usage = entities.Usage(**{"max_slots": {"cpu": 3}, "max_sessions": 1} | more)
    return (entities.Owner(1, usage),)


def test_its_reservation_is_not_counted_twice_against_its_owners_limit():
    (start,) = _decide(_kept(slots(cpu=3), ()), owners=_limited())

    assert start.reservation_id == 7


def test_nobody_else_of_its_owner_takes_the_limit_that_it_was_promised():
    later = factories.a_session(10, slots(cpu=1))
    limit = _limited(max_sessions=None)

    found = _decide(_kept(slots(cpu=1), is_binding=True), _victim(owner_id=2), later, nodes=TWO, owners=limit)

    assert factories.by_session(found)[10].reason is R.OWNER_LIMIT


def test_its_own_owners_victim_counts_for_it_until_it_has_stopped():
    later = factories.a_session(10, slots(cpu=1))
    limit = _limited(used=slots(cpu=2), sessions=1, max_slots={"cpu": 4}, max_sessions=2)

    found = _decide(_kept(slots(cpu=1), is_binding=True), _victim(), later, nodes=TWO, owners=limit)

    assert isinstance(factories.by_session(found)[10], decisions.Dispatch)


def test_a_limit_that_others_have_used_up_meanwhile_still_holds():
    (pend,) = _decide(_kept(slots(cpu=3), ()), owners=_limited(used=slots(cpu=1), sessions=1))

    assert pend.reason is R.OWNER_LIMIT


@pytest.mark.parametrize(
    "usage",
    [
        entities.Usage(used=slots(cpu=2), sessions=1, max_slots={"cpu": 5}),
        entities.Usage(used=slots(cpu=2), sessions=1, max_sessions=2),
    ],
)
def test_its_own_reservation_does_not_keep_it_from_starting_elsewhere(usage):
    """What the reservation counts of the owner's limit is what the start elsewhere takes: it ends with the start."""
    found = _decide(_kept(slots(cpu=1)), _victim(owner_id=2), nodes=TWO, owners=(entities.Owner(1, usage),))

    assert [(one.op, one.grants[0].node_id) for one in found] == [(decisions.DecisionOp.DISPATCH, 2)]


def test_a_limit_that_others_use_up_keeps_it_from_starting_elsewhere():
    usage = entities.Usage(used=slots(cpu=3), sessions=1, max_slots={"cpu": 5})

    (pend,) = _decide(_kept(slots(cpu=1)), _victim(owner_id=2), nodes=TWO, owners=(entities.Owner(1, usage),))

    assert pend.reason is R.AWAITING_VICTIMS
