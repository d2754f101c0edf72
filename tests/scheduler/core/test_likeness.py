"""Sessions that a round cannot tell apart are told the same, and nobody else is."""

from __future__ import annotations

import dataclasses
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler.core import context, decisions, entities, likeness, records, states
from tests import factories, strategies
from tests.factories import slots

STATES = (entities.PreemptionState.ON, entities.PreemptionState.SHADOW, entities.PreemptionState.OFF)


def _with_twins(view, twins):
    """Let each pending session wait several times, the copies with ids and submit times of their own."""
    top = max((session.id for session in view.sessions), default=0) + 1
    copies = [
        dataclasses.replace(session, id=top + 10 * place + i, submitted_at=session.submitted_at + i)
        for place, session in enumerate(view.sessions)
        if session.state is states.SessionState.PENDING
        for i in range(twins)
    ]
    return dataclasses.replace(view, sessions=(*view.sessions, *copies))


def _alone(view):
    """Decide with each session looked at on its own."""
    with mock.patch.object(likeness, "of", return_value=None):
        return factories.decide(view)


@settings(max_examples=300, deadline=None)
@given(strategies.snapshots(), st.sampled_from(STATES), st.integers(1, 4), st.sampled_from((0, 1, 1800)))
def test_whoever_is_told_again_would_have_been_told_the_same(view, state, twins, starvation_after_s):
    rules = dataclasses.replace(view.policy, state=state, starvation_after_s=starvation_after_s)
    view = dataclasses.replace(_with_twins(view, twins), policy=rules)

    assert factories.decide(view) == _alone(view)


def test_twins_are_looked_at_once_while_nothing_changes():
    view = factories.a_snapshot(
        [factories.a_running(1, slots(cpu=4)), *(factories.a_session(i, slots(cpu=3)) for i in range(5, 25))]
    )
    with mock.patch("scheduler.core.checks.first_failure", return_value=None) as looked:
        found = factories.decide(view)

    assert len(found) == 20
    assert looked.call_count == 2  # the first of the line may get a claim


@pytest.mark.parametrize(
    "own",
    [
        {"is_held": True},
        {"begin_at": 5},
        {"dependency": entities.DependencyState.WAITING},
        {"backoff": {1: 10**9}},
    ],
)
def test_a_session_with_something_of_its_own_is_like_nobody(own):
    one = factories.a_session(9, **own)

    assert likeness.of(context.Context(factories.a_snapshot([one])), one, 0) is None


def test_a_session_that_lost_something_is_like_nobody():
    one = factories.a_session(9)
    ctx = context.Context(factories.a_snapshot([one]))
    assert likeness.of(ctx, one, 0) is not None

    ctx.add_edge(4, 9)

    assert likeness.of(ctx, one, 0) is None


@pytest.mark.parametrize(
    "other",
    [
        {"request": slots(cpu=2)},
        {"owner_id": 2},
        {"queue_id": 2},
        {"priority": 11},
        {"job_priority": 3},
        {"is_private": True},
        {"node_count": 2},
        {"labels": {"zone": frozenset({"a"})}},
        {"wall_limit_s": 60},
        {"type": entities.SessionType.SYSTEM},
    ],
)
def test_sessions_that_differ_in_what_counts_are_not_alike(other):
    ctx = context.Context(factories.a_snapshot([]))
    one = factories.a_session(9)

    assert likeness.of(ctx, one, 0) != likeness.of(ctx, dataclasses.replace(one, id=10, **other), 0)
    assert likeness.of(ctx, one, 0) == likeness.of(ctx, dataclasses.replace(one, id=10, submitted_at=7), 0)
    assert likeness.of(ctx, one, 0) != likeness.of(ctx, one, 1)


def test_what_is_told_again_carries_verdicts_only_where_the_round_has_space(monkeypatch):
    view = factories.a_snapshot([factories.a_running(1, slots(cpu=4), job_priority=99)])
    ctx = context.Context(view)
    first = decisions.Pend(5, decisions.PendReason.NO_RESOURCES, {}, (), ("verdicts",))
    assert likeness.told_again(ctx, likeness.Told(first, False), 6) == dataclasses.replace(
        first, session_id=6
    )

    monkeypatch.setattr(records, "MOST_RECORDED", 0)

    assert likeness.told_again(ctx, likeness.Told(first, False), 6).candidates == ()
