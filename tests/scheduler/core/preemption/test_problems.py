"""From a round's state to plain integers."""

from __future__ import annotations

import dataclasses

from scheduler.core import context, entities
from scheduler.core.preemption import problems
from tests import factories
from tests.factories import slots

OWNER = entities.Axis.OWNER


def _judge(sessions, **more):
    ctx = context.Context(factories.a_snapshot(sessions, **more))
    return problems.judge(ctx, ctx.session_by_id[9], OWNER)


def _low(session_id, request, **more):
    return factories.a_running(session_id, request, **{"job_priority": 1} | more)


def test_a_target_has_the_need_and_what_each_candidate_gives_of_it_and_no_more():
    node = factories.a_node(capacity=slots(cpu=4, mem=6))
    sessions = [_low(1, slots(cpu=3, mem=1)), _low(2, slots(cpu=1, mem=4))]

    judged = _judge([*sessions, factories.a_session(9, slots(cpu=2, mem=3))], nodes=[node])

    (target,) = judged.targets
    assert target.need == (2, 2)
    assert {c.session_id: c.gives for c in target.candidates} == {1: (2, 1), 2: (1, 2)}


def test_who_frees_nothing_short_is_legal_but_no_candidate():
    node = factories.a_node(capacity=slots(cpu=4, mem=4))
    judged = _judge([_low(1, slots(cpu=4)), _low(2, slots(mem=1)), factories.a_session(9)], nodes=[node])

    assert (judged.legal, judged.helpful, judged.axis) == ({1, 2}, {1}, OWNER)


def test_a_session_place_is_a_need_of_its_own():
    node = factories.a_node(max_sessions=1)

    (target,) = _judge([_low(1, slots(cpu=1)), factories.a_session(9)], nodes=[node]).targets

    assert (target.need, target.candidates[0].gives) == ((1,), (1,))


def test_limits_are_needs_beside_the_slots():
    owner = entities.Owner(
        1, entities.Usage(used=slots(cpu=4), sessions=1, max_slots={"cpu": 5}, max_sessions=1)
    )

    (target,) = _judge([_low(1, slots(cpu=4)), factories.a_session(9, slots(cpu=2))], owners=(owner,)).targets

    assert (target.need, target.candidates[0].gives) == ((2, 1, 1), (2, 1, 1))


def test_shares_are_counted_only_where_something_compares_them():
    nodes = [factories.a_node(1), factories.a_node(2, capacity=slots(cpu=8))]
    sessions = [_low(1, slots(cpu=2)), _low(2, slots(cpu=2), on=(1, 2)), factories.a_session(9, slots(cpu=2))]
    by_share = dataclasses.replace(factories.ON, order=entities.PreemptionOrder.SMALLEST_RESOURCES)

    first = _judge(sessions, nodes=nodes).targets[0]
    second = _judge(sessions, nodes=nodes, policy=by_share).targets[0]

    assert [(c.share, c.total_share) for c in first.candidates] == [(0, 0), (1, 3)]
    assert [(c.share, c.total_share) for c in second.candidates] == [(0, 2), (1, 3)]


def test_the_rank_follows_the_placement():
    nodes = [factories.a_node(1, capacity=slots(cpu=8)), factories.a_node(2)]
    sessions = [_low(1, slots(cpu=5)), _low(2, slots(cpu=4), on=(2,)), factories.a_session(9, slots(cpu=4))]

    targets = _judge(sessions, nodes=nodes).targets

    assert [(target.name, target.rank) for target in targets] == [("n1", 1), ("n2", 0)]


def test_those_that_this_round_already_stops_are_legal_no_more():
    running = [factories.a_running(i, job_priority=p) for i, p in ((3, 1), (1, 2), (2, 20))]
    wanted = factories.a_session(9)
    ctx = context.Context(factories.a_snapshot([*running, wanted]))

    assert problems.judge(ctx, wanted, OWNER).legal == {1, 3}
    ctx.claimed.add(1)
    assert problems.judge(ctx, wanted, OWNER).legal == {3}
