"""What is reserved on one node."""

from __future__ import annotations

import dataclasses

from scheduler.core import context, entities, states
from scheduler.core.preemption import reserving
from tests import factories
from tests.factories import slots

S = states.SessionState


def _stopping(session_id, seconds, *, on=1):
    deadline = factories.NOW + seconds * factories.SECOND
    return factories.a_running(session_id, slots(cpu=4), on=(on,), state=S.PREEMPTED, stop_deadline=deadline)


def test_a_wait_is_for_the_node_that_is_through_first():
    nodes = [factories.a_node(1), factories.a_node(2)]
    session = factories.a_session(9, slots(cpu=4))
    ctx = context.Context(
        factories.a_snapshot([_stopping(1, 20), _stopping(2, 10, on=2), session], nodes=nodes)
    )

    found = reserving.for_wait(ctx, session)

    assert (found.node_id, [one.id for one in found.leaving]) == (2, [2])


def test_there_is_no_wait_for_what_nobody_is_leaving():
    session = factories.a_session(9, slots(cpu=4))
    ctx = context.Context(factories.a_snapshot([factories.a_running(1), session]))

    assert reserving.for_wait(ctx, session) is None


def test_the_free_part_is_drawn_and_only_those_who_help_are_counted_on():
    victim, session = factories.a_running(1, slots(cpu=3)), factories.a_session(9, slots(cpu=3))
    ctx = context.Context(factories.a_snapshot([victim, session]))

    found = reserving.reserve(ctx, session, 1, [victim])

    assert (found.slots, found.draw, found.leaving) == (slots(cpu=3), slots(cpu=1), (victim,))


def _leaving(session_id, amount):
    deadline = factories.NOW + 30 * factories.SECOND
    return factories.a_running(session_id, slots(cpu=amount), state=S.PREEMPTED, stop_deadline=deadline)


def _kept(reservation_id, holder_id, amount, victims):
    late = factories.NOW + 60 * factories.SECOND
    return entities.Reservation(reservation_id, holder_id, 1, slots(cpu=amount), slots(), victims, late)


def test_who_was_promised_to_another_is_not_counted_on():
    """Session 1 goes whole to 7; of the four of session 2, two go to 8 and two are left."""
    node = factories.a_node(capacity=slots(cpu=6))
    waiting = [factories.a_session(i, slots(cpu=2)) for i in (7, 8, 9)]
    view = factories.a_snapshot(
        [_leaving(1, 2), _leaving(2, 4), *waiting],
        nodes=[node],
        reservations=(_kept(1, 7, 2, (1,)), _kept(2, 8, 2, (2,))),
    )
    ctx = context.Context(view)

    found = reserving.for_wait(ctx, waiting[2])

    assert [one.id for one in found.leaving] == [2]


def test_nobody_more_is_counted_on_than_it_takes():
    node = factories.a_node(capacity=slots(cpu=6))
    session = factories.a_session(9, slots(cpu=2))
    ctx = context.Context(factories.a_snapshot([_leaving(1, 2), _leaving(2, 4), session], nodes=[node]))

    assert [one.id for one in reserving.for_wait(ctx, session).leaving] == [1]


def test_what_this_round_promised_is_not_promised_again():
    node = factories.a_node(capacity=slots(cpu=4))
    first, second = (factories.a_session(i, slots(cpu=2)) for i in (8, 9))
    found = factories.by_session(
        factories.decide(factories.a_snapshot([_leaving(1, 2), _leaving(2, 2), first, second], nodes=[node]))
    )

    assert [found[i].wait.releasing_ids for i in (8, 9)] == [(1,), (2,)]


def test_those_who_share_what_is_left_are_counted_on_together():
    node = factories.a_node(capacity=slots(cpu=6))
    waiting = [factories.a_session(7, slots(cpu=5)), factories.a_session(9, slots(cpu=1))]
    view = factories.a_snapshot(
        [_leaving(1, 3), _leaving(2, 3), *waiting], nodes=[node], reservations=(_kept(1, 7, 5, (1, 2)),)
    )

    found = reserving.for_wait(context.Context(view), waiting[1])

    assert [one.id for one in found.leaving] == [1, 2]


def test_a_place_that_the_victim_does_not_have_is_counted_on_with_those_that_leave_one():
    """Before, the leaving one's stop could be withdrawn although its place was needed."""
    rules = dataclasses.replace(
        factories.ON,
        mode=entities.PreemptionMode.SUSPEND,
        requeue_suspended=True,
        scope=entities.PreemptionScope.QUEUE,
    )
    queues = (
        factories.a_queue(1, preemptible_queues=frozenset({2})),
        factories.a_queue(2, preemptible=True),
    )
    leaving = dataclasses.replace(
        factories.a_running(1, slots(mem=1), owner_id=2, queue_id=2, priority=1),
        state=states.SessionState.PREEMPTED,
        in_decision=True,
        stop_mode=entities.PreemptionMode.SUSPEND,
        stop_deadline=factories.NOW + 5 * factories.SECOND,
    )
    resting = dataclasses.replace(
        factories.a_suspended(2, slots(cpu=4), holds=slots(cpu=4)),
        owner_id=2,
        queue_id=2,
        priority=1,
        is_held=True,
    )
    waiting = factories.a_session(9, slots(cpu=4), owner_id=9, priority=20)
    node = factories.a_node(1, capacity=slots(cpu=4, mem=4), max_sessions=1)
    view = factories.a_snapshot([leaving, resting, waiting], queues=queues, policy=rules, nodes=(node,))

    stop = factories.preemptions(factories.decide(view))[9]

    assert (stop.victim_jobids, stop.releasing_ids) == ((2,), (1,))


def test_where_more_places_are_missing_than_one_all_that_leave_are_counted_on():
    rules = dataclasses.replace(factories.ON, scope=entities.PreemptionScope.QUEUE)
    queues = (
        factories.a_queue(1, preemptible_queues=frozenset({2})),
        factories.a_queue(2, preemptible=True),
    )
    leaving = [
        dataclasses.replace(
            factories.a_running(i, slots(cpu=1), owner_id=2, queue_id=2, priority=1),
            state=states.SessionState.PREEMPTED,
            in_decision=True,
            stop_mode=entities.PreemptionMode.TERMINATE,
            stop_deadline=factories.NOW + 5 * factories.SECOND,
        )
        for i in (1, 2)
    ]
    staying = factories.a_running(3, slots(cpu=1), owner_id=2, queue_id=2, priority=1)
    waiting = factories.a_session(9, slots(cpu=1), owner_id=9, priority=20)
    node = factories.a_node(1, capacity=slots(cpu=8), max_sessions=1)
    view = factories.a_snapshot([*leaving, staying, waiting], queues=queues, policy=rules, nodes=(node,))

    stop = factories.preemptions(factories.decide(view))[9]

    assert (stop.victim_jobids, stop.releasing_ids) == ((3,), (1, 2))
