"""Where a session starts on what is free."""

from __future__ import annotations

import dataclasses

import pytest

from scheduler.core import context, entities, placement
from tests import factories
from tests.factories import slots

P = entities.Placement


def _find(session, *others, **more):
    view = factories.a_snapshot([session, *others], **more)
    grants = placement.find(context.Context(view), session)
    return None if grants is None else [grant.node_id for grant in grants]


def _rules(strategy):
    return dataclasses.replace(factories.ON, placement=strategy)


@pytest.mark.parametrize(("strategy", "expected"), [(P.CONCENTRATED, 2), (P.DISPERSED, 1)])
def test_the_strategy_fills_or_spreads(strategy, expected):
    nodes = [factories.a_node(1), factories.a_node(2)]
    running = factories.a_running(1, slots(cpu=1), on=(2,))

    assert _find(factories.a_session(9), running, nodes=nodes, policy=_rules(strategy)) == [expected]


@pytest.mark.parametrize(("number", "expected"), [(0, 1), (1, 2), (2, 3), (3, 1)])
def test_round_robin_begins_one_further_every_round(number, expected):
    nodes = [factories.a_node(i) for i in (1, 2, 3)]

    found = _find(factories.a_session(9), nodes=nodes, policy=_rules(P.ROUND_ROBIN), round_number=number)

    assert found == [expected]


def test_labels_are_all_of_each_any_of():
    nodes = [
        factories.a_node(1, labels={"zone": "a", "disk": "ssd"}),
        factories.a_node(2, labels={"zone": "b", "disk": "ssd"}),
        factories.a_node(3, labels={"zone": "b"}),
    ]
    wanted = {"zone": frozenset({"b", "c"}), "disk": frozenset({"ssd"})}

    assert _find(factories.a_session(9, labels=wanted), nodes=nodes) == [2]


@pytest.mark.parametrize("state", [s for s in entities.NodeState if s is not entities.NodeState.READY])
def test_only_a_ready_node_takes_a_new_session(state):
    assert _find(factories.a_session(9), nodes=[factories.a_node(1, state=state)]) is None


def test_a_full_number_of_sessions_is_no_room():
    nodes = [factories.a_node(1, max_sessions=1)]

    assert _find(factories.a_session(9), factories.a_running(1), nodes=nodes) is None


def test_a_session_of_two_nodes_gets_both_or_nothing():
    both = [factories.a_node(1), factories.a_node(2)]
    pair = factories.a_session(9, slots(cpu=4), node_count=2)

    assert _find(pair, nodes=both) == [1, 2]
    assert _find(pair, factories.a_running(1, on=(2,)), nodes=both) is None


def test_a_resume_goes_back_to_the_same_node_and_device_indices():
    node = factories.a_node(capacity=slots(cpu=4, cuda_device=2))
    held = entities.Allocation(1, slots(cpu=1, cuda_device=1), {"cuda.device": (1,)})
    suspended = factories.a_suspended(1, slots(cpu=1, cuda_device=1), resume_slots=(held,))
    ctx = context.Context(factories.a_snapshot([suspended], nodes=[node]))

    (grant,) = placement.find(ctx, suspended)

    assert (grant.node_id, grant.slots, grant.indices) == (1, held.slots, held.indices)


def test_a_resume_waits_while_another_holds_its_device():
    node = factories.a_node(capacity=slots(cpu=4, cuda_device=2))
    held = entities.Allocation(1, slots(cpu=1, cuda_device=1), {"cuda.device": (1,)})
    suspended = factories.a_suspended(1, slots(cpu=1, cuda_device=1), resume_slots=(held,))
    other = factories.a_running(2, slots(cpu=1, cuda_device=1), indices={"cuda.device": (1,)})

    assert _find(suspended, other, nodes=[node]) is None


@pytest.mark.parametrize(("state", "expected"), [("draining", [1]), ("down", None), ("suspect", None)])
def test_a_resume_also_goes_to_a_draining_node_but_to_none_that_is_down(state, expected):
    node = factories.a_node(1, state=entities.NodeState(state))

    assert _find(factories.a_suspended(1), nodes=[node]) == expected


def test_a_resume_takes_only_what_the_session_does_not_hold_still():
    suspended = factories.a_suspended(1, slots(cpu=2, mem=3), holds=slots(mem=3))

    (missing,) = placement.missing_on_resume(suspended)

    assert missing.slots == slots(cpu=2)
    assert placement.amounts(suspended) == {"cpu": 2, "sessions": 1}


def test_a_start_takes_its_room_out_of_the_round():
    first, second = factories.a_session(8, slots(cpu=4)), factories.a_session(9, slots(cpu=4))
    ctx = context.Context(factories.a_snapshot([first, second]))

    placement.commit(ctx, first, placement.find(ctx, first))

    assert placement.find(ctx, second) is None
    assert ctx.starts == 1
