"""Snapshots in which one thing is otherwise, and nothing else."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given, settings

from scheduler.core.counterfactuals import changes, reruns
from tests import factories, strategies


def test_one_field_of_one_session_is_changed():
    view = factories.a_snapshot([factories.a_session(1), factories.a_session(2)])

    found = changes.of_session(view, 2, priority=7)

    assert [s.priority for s in found.sessions] == [10, 7]
    assert view.sessions[1].priority == 10


def test_rules_and_moment():
    view = factories.a_snapshot()

    assert changes.of_policy(view, min_runtime_s=5).policy == dataclasses.replace(
        view.policy, min_runtime_s=5
    )
    assert changes.at(view, 3) == dataclasses.replace(view, now=3)


def test_a_session_that_is_not_there_is_an_error():
    with pytest.raises(KeyError):
        changes.session(factories.a_snapshot(), 1)


def test_only_those_behind_are_held():
    view = factories.a_snapshot([factories.a_session(n, priority=n) for n in (1, 2, 3)])

    found = changes.without_those_behind(view, 2)

    assert [s.is_held for s in found.sessions] == [True, False, False]


@settings(max_examples=100, deadline=None)
@given(strategies.snapshots(pending=8))
def test_what_a_round_does_for_one_session_does_not_depend_on_those_behind_it(view):
    whole = factories.decide(view)

    for session in view.sessions:
        if session.state == "pending":
            found = factories.decide(changes.without_those_behind(view, session.id))
            assert reruns.fate_of(found, session.id) == reruns.fate_of(whole, session.id)
