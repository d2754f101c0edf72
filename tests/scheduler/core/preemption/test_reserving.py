"""What is reserved on one node."""

from __future__ import annotations

from scheduler.core import context, states
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
