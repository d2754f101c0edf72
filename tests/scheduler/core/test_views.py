"""What the record shows of nodes."""

from __future__ import annotations

from scheduler.core import context, decisions, views
from tests import factories
from tests.factories import slots


def _facts(waiting, *others, **more):
    return views.shortage(context.Context(factories.a_snapshot([waiting, *others], **more)), waiting)[1]


def test_a_node_shows_free_releasing_and_short():
    waiting = factories.a_session(9, slots(cpu=4))
    stopping = factories.a_running(1, slots(cpu=1), state="preempted")
    ctx = context.Context(factories.a_snapshot([waiting, stopping, factories.a_running(2, slots(cpu=2))]))

    (view,) = views.of_nodes(ctx, waiting)

    assert (view.free, view.releasing, view.short) == (slots(cpu=1), slots(cpu=1), slots(cpu=2))
    assert (view.sessions_short, view.note) == (0, "")


def test_a_shortage_tells_the_total_the_most_and_the_nearest_node():
    nodes = [factories.a_node(1), factories.a_node(2)]
    running = [factories.a_running(1, slots(cpu=3)), factories.a_running(2, slots(cpu=2), on=(2,))]

    facts = _facts(factories.a_session(9, slots(cpu=3)), *running, nodes=nodes)

    assert facts == {"asked.cpu": 3, "free.cpu": 3, "most.cpu": 2, "nearest": "n2", "short.cpu": 1}


def test_a_missing_session_place_is_told_as_such():
    node = factories.a_node(max_sessions=1)

    facts = _facts(factories.a_session(9), factories.a_running(1), nodes=[node])

    assert facts["short.sessions"] == 1


def test_a_session_of_several_nodes_tells_their_number():
    facts = _facts(factories.a_session(9, node_count=3))

    assert facts["nodes"] == 3
    assert "nearest" not in facts


def test_a_resume_tells_what_is_taken_on_its_own_node():
    node = factories.a_node(capacity=slots(cpu=4, cuda_device=1), max_sessions=1)
    suspended = factories.a_suspended(1, slots(cpu=1, cuda_device=1))
    held = suspended.resume_slots[0]
    suspended = factories.a_suspended(
        1, slots(cpu=1, cuda_device=1), resume_slots=(type(held)(1, held.slots, {"cuda.device": (0,)}),)
    )
    other = factories.a_running(2, slots(cpu=1, cuda_device=1), indices={"cuda.device": (0,)})

    facts = _facts(suspended, other, nodes=[node])

    assert (facts["resume"], facts["nearest"]) == (1, "n1")
    assert (facts["short.cuda.device"], facts["short.sessions"]) == (1, 1)


def test_what_is_free_is_counted_on_nodes_that_are_too_small_as_well():
    nodes = [
        factories.a_node(1, capacity=slots(cpu=16)),
        *(factories.a_node(n, capacity=slots(cpu=4)) for n in (2, 3)),
    ]
    busy = factories.a_running(1, slots(cpu=12), owner_id=2)
    view = factories.a_snapshot([busy, factories.a_session(9, slots(cpu=8))], nodes=nodes)

    (pend,) = factories.decide(view)

    assert pend.reason is decisions.PendReason.FRAGMENTED
    assert (pend.facts["free.cpu"], pend.facts["most.cpu"], pend.facts["nearest"]) == (12, 4, "n1")
