"""What is short for one request, node by node."""

from __future__ import annotations

import dataclasses

from scheduler.core import context, entities, shortages
from tests import factories
from tests.factories import slots


def _context(*sessions, **more):
    return context.Context(factories.a_snapshot(sessions, **more))


def test_a_node_is_short_of_slots_and_of_session_places():
    waiting = factories.a_session(9, slots(cpu=3))
    node = factories.a_node(max_sessions=1)
    ctx = _context(factories.a_running(1, slots(cpu=2)), waiting, nodes=[node])

    (spot,) = shortages.spots(ctx, waiting)

    assert dict(spot.need) == {("node", "#places"): 1, ("node", "cpu"): 1}


def test_nodes_that_cannot_serve_are_left_out_with_a_reason():
    nodes = [
        factories.a_node(1, labels={"zone": "b"}),
        factories.a_node(2, labels={"zone": "a"}, state=entities.NodeState.DRAINING),
        factories.a_node(3, labels={"zone": "a"}, capacity=slots(cpu=1)),
        factories.a_node(4, labels={"zone": "a"}),
        factories.a_node(5, labels={"zone": "a"}),
    ]
    waiting = factories.a_session(
        9, slots(cpu=2), labels={"zone": frozenset("a")}, backoff={4: factories.NOW + 1, 5: factories.NOW}
    )
    ctx = _context(waiting, nodes=nodes)

    notes = [shortages.note(ctx, waiting, node) for node in nodes]

    assert notes == ["labels", "not-ready", "too-small", "backoff", ""]
    assert [spot.node.id for spot in shortages.spots(ctx, waiting)] == [5]


def test_limits_count_what_is_being_stopped():
    usage = entities.Usage(used=slots(cpu=4), sessions=1, max_slots={"cpu": 4})
    stopping = factories.a_running(1, slots(cpu=3), state="preempted")
    waiting = factories.a_session(9, slots(cpu=4))
    ctx = _context(stopping, waiting, owners=(entities.Owner(1, usage),))

    assert shortages.of_limits(ctx, waiting) == ((("owner", "cpu"), 1),)


def test_equal_requests_have_one_shape():
    one, other = factories.a_session(1), factories.a_session(2, priority=50, owner_id=4)

    assert shortages.shape(one) == shortages.shape(other)
    assert shortages.shape(one) != shortages.shape(dataclasses.replace(one, backoff={1: 5}))
