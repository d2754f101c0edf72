"""Columns say of every session what ``eligibility`` says of each."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler.core import context, entities
from scheduler.core.preemption import eligibility, rosters
from tests import factories, strategies
from tests.factories import slots


@settings(max_examples=300, deadline=None)
@given(strategies.snapshots(), st.sampled_from(entities.Axis), st.sampled_from((None, None, 1)))
def test_every_verdict_is_that_of_the_session_alone(view, axis, limit):
    rules = {"max_suspended_per_node": limit}
    view = dataclasses.replace(view, policy=dataclasses.replace(view.policy, **rules))
    ctx = context.Context(view)
    for session in view.sessions:
        ctx.add_edge(ctx.running[0].id if ctx.running else 0, session.id)
        question = eligibility.ask(ctx, session, axis)
        tests = (None, *(verdict for verdict, _ in eligibility.TESTS[axis]))

        codes = rosters.of(ctx).codes(question)

        expected = [eligibility.judge(question, one)[0] for one in ctx.running]
        assert [tests[code] for code in codes.tolist()] == expected


def test_a_session_of_several_nodes_stands_on_each_and_suspended_ones_free_no_place():
    wide = factories.a_running(2, slots(cpu=1), on=(2, 1))
    asleep = factories.a_suspended(3, slots(cpu=2), holds=slots(cpu=2))
    nodes = [factories.a_node(1), factories.a_node(2)]
    roster = rosters.of(context.Context(factories.a_snapshot([wide, asleep], nodes=nodes)))

    rows = zip(
        roster.node.tolist(), roster.ids[roster.session].tolist(), roster.frees.T.tolist(), strict=True
    )
    assert list(rows) == [(0, 2, [1, 1]), (0, 3, [0, 2]), (1, 2, [1, 1])]
    assert roster.is_shared.tolist() == [True, False]
    assert roster.among([3, 99]).tolist() == [False, True]


@pytest.mark.parametrize("axis", entities.Axis)
def test_a_preemptor_of_an_unknown_queue_reaches_nobody_else(axis):
    ctx = context.Context(factories.a_snapshot([factories.a_running(1, owner_id=7)]))
    question = eligibility.ask(ctx, factories.a_session(9, queue_id=99), axis)

    assert (rosters.of(ctx).codes(question) != rosters.LEGAL).all()


@pytest.mark.parametrize("places", [[], [0], [3, 17], list(range(20))])
def test_the_rows_of_some_nodes_are_those_that_stand_there(places):
    nodes = [factories.a_node(node_id) for node_id in range(1, 21)]
    running = [factories.a_running(i, on=(1 + i % 19,)) for i in range(1, 60)]
    roster = rosters.of(context.Context(factories.a_snapshot(running, nodes=nodes)))

    rows = roster.rows_on(np.array(places, dtype=np.int64))

    assert rows.tolist() == [row for row, node in enumerate(roster.node.tolist()) if node in places]
