"""Whoever could stop a holder takes its reservation instead of stopping anybody."""

from __future__ import annotations

import dataclasses

import pytest

from scheduler.core import decisions, entities, invariants, states
from scheduler.core.preemption import policy
from tests import factories
from tests.factories import slots

R, S = decisions.PendReason, states.SessionState
NOW, SECOND = factories.NOW, factories.SECOND
LATER = NOW + 15 * SECOND
TWO = (factories.a_node(1), factories.a_node(2))
QUEUES = (
    factories.a_queue(1, name="urgent", preemptible_queues=frozenset({2})),
    factories.a_queue(2, name="background", preemptible=True),
)


def _kept(victims=(1,), drawn=0, request=4, **more):
    return entities.Reservation(7, 8, 1, slots(cpu=request), slots(cpu=drawn), victims, LATER, **more)


def _victim(session_id=1, cpus=4, **more):
    """Return a session that is warned for the holder, lower than anybody."""
    fields = {"state": S.PREEMPTED, "in_decision": True, "stop_deadline": LATER, "job_priority": 0}
    fields |= {"stop_mode": entities.PreemptionMode.TERMINATE}
    return factories.a_running(session_id, slots(cpu=cpus), **fields | more)


def _holder(cpus=4, **more):
    return factories.a_session(8, slots(cpu=cpus), **{"job_priority": 10} | more)


def _taker(cpus=4, **more):
    return factories.a_session(9, slots(cpu=cpus), **{"job_priority": 20} | more)


def _decide(*sessions, kept=None, **more):
    view = factories.a_snapshot(sessions, reservations=(kept or _kept(),), **more)
    found = factories.decide(view)
    assert invariants.check_decisions(view, found) == []
    return found


def _taken(found):
    return {i: stop.takes_over for i, stop in factories.preemptions(found).items()}


def test_a_higher_session_takes_the_reservation_and_stops_nobody():
    lower = factories.a_running(2, on=(2,), job_priority=1)

    found = _decide(_victim(), lower, _holder(), _taker(), nodes=TWO)

    stop, pend = found[0], found[1]
    assert (stop.takes_over, stop.victims, stop.releasing_ids, stop.node_id) == (7, (), (1,), 1)
    assert (stop.axis, stop.preemptor_value, stop.signal) == (entities.Axis.OWNER, 20, 0)
    assert (pend.session_id, pend.reason, pend.facts) == (
        9,
        R.AWAITING_VICTIMS,
        {"node": "n1", "sessions": 1},
    )


def test_the_holder_looks_for_other_room_in_the_same_round():
    lower = factories.a_running(2, slots(cpu=4), on=(2,), job_priority=1)

    found = _decide(_victim(), lower, _holder(), _taker(), nodes=TWO)

    assert _taken(found) == {9: 7, 8: None}
    assert factories.preemptions(found)[8].victim_jobids == (2,)


def test_what_was_drawn_is_drawn_again_with_its_devices():
    node = factories.a_node(capacity=slots(cpu=4, cuda_device=2))
    request = slots(cpu=4, cuda_device=1)
    kept = dataclasses.replace(_kept((), 4), slots=request, drawn=request, indices={"cuda.device": (0,)})
    other = factories.a_running(2, slots(cuda_device=1), indices={"cuda.device": (1,)})
    holder = dataclasses.replace(_holder(), request=request)
    taker = dataclasses.replace(_taker(), request=request)

    stop = factories.preemptions(_decide(other, holder, taker, kept=kept, nodes=[node]))[9]

    assert (stop.draw, stop.draw_indices) == (request, {"cuda.device": (0,)})


@pytest.mark.parametrize(
    ("holder", "taker", "rules"),
    [
        ({"job_priority": 20}, {}, {}),
        ({"is_preemptible": False}, {}, {}),
        ({"is_private": True}, {}, {}),
        ({"owner_id": 2}, {}, {}),
        ({"times_preempted": 1}, {}, {"max_preemptions_per_session": 1}),
        ({}, {"is_private": True}, {}),
        ({}, {"backoff": {1: NOW + 1}}, {}),
        ({"priority": 50}, {}, {}),
    ],
    ids=["equal", "opted out", "private", "other owner", "too often", "private taker", "back-off", "ahead"],
)
def test_what_may_not_be_taken_over(holder, taker, rules):
    policy = dataclasses.replace(factories.ON, **rules)

    assert _taken(_decide(_victim(), _holder(**holder), _taker(**taker), policy=policy)) == {}


def test_the_minimum_runtime_protects_no_reservation():
    policy = dataclasses.replace(factories.ON, min_runtime_s=600)

    assert _taken(_decide(_victim(), _holder(), _taker(), policy=policy)) == {9: 7}


def test_what_would_close_a_cycle_of_edges_is_not_taken_over():
    above, below = (entities.Edge(8, 5), entities.Edge(5, 9)), (entities.Edge(9, 5), entities.Edge(5, 8))

    assert _taken(_decide(_victim(), _holder(), _taker(), edges=above)) == {}
    assert _taken(_decide(_victim(), _holder(), _taker(), edges=below)) == {9: 7}


def test_over_queues_by_priority():
    holder, taker = _holder(owner_id=2, queue_id=2, priority=5), _taker(priority=9, job_priority=0)

    (stop,) = factories.preemptions(_decide(_victim(owner_id=3), holder, taker, queues=QUEUES)).values()

    assert (stop.takes_over, stop.axis, stop.preemptor_value) == (7, entities.Axis.QUEUE, 9)


def test_a_wait_goes_before_it():
    leaving = factories.a_running(3, on=(2,), state=S.TERMINATING, stop_deadline=LATER)
    full = dataclasses.replace(leaving, allocations=(entities.Allocation(2, slots(cpu=4)),))

    found = _decide(_victim(), full, _holder(), _taker(), nodes=TWO)

    assert _taken(found) == {}
    assert factories.by_session(found)[9].wait.node_id == 2


def test_stops_that_it_can_do_without_are_taken_back_the_highest_first():
    victims = [_victim(1, 2, job_priority=0), _victim(2, 2, job_priority=1)]

    found = _decide(*victims, _holder(), _taker(2), kept=_kept((1, 2)))

    stop = factories.preemptions(found)[9]
    assert stop.releasing_ids == (1,)
    assert factories.by_session(found)[8].reason is R.NO_RESOURCES


def test_a_kill_that_has_begun_is_not_taken_back_nor_what_others_count_on():
    begun = _victim(2, 2, job_priority=1, stop_deadline=NOW + 10 * SECOND)
    found = _decide(_victim(1, 2), begun, _holder(), _taker(2), kept=_kept((1, 2)))
    assert factories.preemptions(found)[9].releasing_ids == (2,)

    other = entities.Reservation(6, 7, 1, slots(cpu=1), slots(), (2,), LATER, is_wait=True)
    view = factories.a_snapshot(
        [
            _victim(1, 2),
            _victim(2, 2, job_priority=1),
            factories.a_session(7, job_priority=30),
            _holder(3),
            _taker(2),
            factories.a_session(11, slots(cpu=1)),
        ],
        reservations=(_kept((1, 2), request=3), other),
    )
    found = factories.decide(view)
    assert factories.preemptions(found)[9].releasing_ids == (1,)
    assert factories.by_session(found)[11].wait.releasing_ids == (2,)


def test_further_victims_join_where_that_stops_fewer():
    ones = [factories.a_running(i, slots(cpu=1), job_priority=1) for i in (2, 3)]
    elsewhere = [factories.a_running(i, slots(cpu=1), on=(2,), job_priority=1) for i in (4, 5, 6, 7)]
    sessions = [_victim(1, 2), *ones, *elsewhere, _holder(2), _taker(3)]

    stop = factories.preemptions(_decide(*sessions, kept=_kept(request=2), nodes=TWO))[9]

    assert (stop.takes_over, stop.victim_jobids, stop.releasing_ids, stop.node_id) == (7, (2,), (1,), 1)


def test_a_bad_answer_when_a_takeover_is_tried_leaves_what_was_found_before():
    """The queue's own policy answers for node 2, and fails when it is asked about the reservation of node 1."""
    low = {"owner_id": 2, "queue_id": 2, "priority": 1}
    elsewhere = [factories.a_running(i, slots(cpu=2), on=(2,), **low) for i in (4, 5)]
    here = factories.a_running(2, slots(cpu=2), **low)
    queues = (dataclasses.replace(QUEUES[0], preempt_policy="odd"), QUEUES[1])
    holder = _holder(2, owner_id=3, queue_id=2, priority=1)
    sessions = [_victim(1, 2, owner_id=2, queue_id=2), here, *elsewhere, holder, _taker(4, priority=50)]
    view = factories.a_snapshot(sessions, reservations=(_kept(request=2),), nodes=TWO, queues=queues)

    def choose(problem):
        if [target.node_id for target in problem.targets] == [1]:
            raise policy.PolicyFailed("no licence")
        return policy.Answer(2, (4, 5))

    found = factories.decide(view, policies={"odd": choose})

    stop = factories.preemptions(found)[9]
    assert (stop.victim_jobids, stop.takes_over) == ((4, 5), None)


def test_among_ones_own_a_takeover_stops_no_session_that_ranks_higher_than_needed():
    """Taking over would stop one of job priority 8; two of job priority 1 stop elsewhere without it."""
    high = factories.a_running(2, slots(cpu=2), job_priority=8)
    low = [factories.a_running(n, slots(cpu=2), on=(2,), job_priority=1) for n in (3, 4)]
    sessions = [_victim(1, 2), high, *low, _holder(2, job_priority=5), _taker(4)]
    own = dataclasses.replace(factories.ON, scope=entities.PreemptionScope.OWNER)
    view = factories.a_snapshot(sessions, reservations=(_kept(request=2),), nodes=TWO, policy=own)

    stop = factories.preemptions(factories.decide(view))[9]

    assert (stop.victim_jobids, stop.takes_over) == ((3, 4), None)


def test_nobody_is_robbed_where_as_few_have_to_stop_anyway():
    one = factories.a_running(2, slots(cpu=1), job_priority=1)
    elsewhere = factories.a_running(4, slots(cpu=4), on=(2,), job_priority=1)
    sessions = [_victim(1, 3), one, elsewhere, _holder(3), _taker(4)]

    assert _taken(_decide(*sessions, kept=_kept(request=3), nodes=TWO)) == {9: None}


def test_a_reservation_is_taken_over_once():
    found = _decide(_victim(), _holder(), _taker(), factories.a_session(10, slots(cpu=4), job_priority=20))

    assert _taken(found) == {9: 7}


def test_it_is_taken_only_from_those_behind_in_the_line():
    later = _taker(submitted_at=NOW, priority=9, owner_id=2, queue_id=1)
    holder = _holder(priority=9, owner_id=2, queue_id=1, job_priority=10, node_count=1)
    only_queue = dataclasses.replace(factories.ON, scope=entities.PreemptionScope.QUEUE)

    assert _taken(_decide(_victim(), holder, later, policy=only_queue)) == {}


def test_limits_hold_for_the_taker():
    owners = (entities.Owner(1, entities.Usage(used=slots(cpu=4), sessions=1, max_sessions=1)),)
    assert _taken(_decide(_victim(), _holder(), _taker(), owners=owners)) == {9: 7}

    full = (entities.Owner(1, entities.Usage(used=slots(cpu=4), sessions=2, max_sessions=1)),)
    assert _taken(_decide(_victim(), _holder(), _taker(), owners=full)) == {}
