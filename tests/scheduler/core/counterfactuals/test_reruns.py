"""Rounds run again, within a budget."""

from __future__ import annotations

import dataclasses

import pytest

from scheduler.core import decisions, entities
from scheduler.core.counterfactuals import answers, reruns
from scheduler.core.preemption import policy
from tests import factories
from tests.factories import slots

OUT = answers.Outcome


def crowd(**rules):
    running = factories.a_running(1, slots(cpu=4), job_priority=1)
    policy = dataclasses.replace(factories.ON, **rules)
    return factories.a_snapshot([running, factories.a_session(9)], policy=policy)


def test_a_run_is_the_round():
    assert reruns.Rounds().run(crowd()) == factories.decide(crowd())


def test_no_more_rounds_than_the_budget():
    rounds = reruns.Rounds(most=1)
    rounds.run(crowd())

    with pytest.raises(reruns.BudgetEnded):
        rounds.run(crowd())


def test_no_round_after_the_caller_has_had_enough():
    with pytest.raises(reruns.BudgetEnded):
        reruns.Rounds(may_go_on=lambda: False).run(crowd())


def test_the_stops_that_hit_one_session():
    rounds = reruns.Rounds()

    assert [stop.preempting_jobid for stop in rounds.stops_of(crowd(), 1)] == [9]
    assert rounds.stops_of(crowd(), 9) == []


def test_the_fate_of_one_for_which_others_are_stopped():
    found = reruns.Rounds().of_waiting(crowd(), 9)

    assert (found.outcome, found.victims, found.has_room) == (OUT.STOPS, (1,), True)
    assert [one.verdict for one in found.candidates] == [decisions.Verdict.SELECTED]


def test_what_shadow_plans_is_no_fate():
    found = reruns.Rounds().of_waiting(crowd(state=entities.PreemptionState.SHADOW), 9)

    assert (found.outcome, found.has_room) == (OUT.WAITS, False)


def test_a_start_a_kept_room_and_a_wait():
    pend = decisions.Pend
    kept = [pend(9, decisions.PendReason.AWAITING_RELEASE, {})]
    waits = [pend(9, decisions.PendReason.HELD, {})]

    assert reruns.fate_of([decisions.Dispatch(9, ())], 9).outcome is OUT.STARTS
    assert reruns.fate_of(kept, 9).outcome is OUT.KEPT
    assert reruns.fate_of(waits, 9).reason is decisions.PendReason.HELD
    assert reruns.fate_of([], 9).outcome is OUT.WAITS


def refusing(problem):
    raise policy.PolicyFailed("was too slow")


def test_a_foreign_policy_that_fails_makes_the_round_say_nothing():
    queues = (
        factories.a_queue(1, preemptible_queues=frozenset({2}), preempt_policy="odd"),
        factories.a_queue(2, preemptible=True),
    )
    running = factories.a_running(1, slots(cpu=4), owner_id=2, queue_id=2, priority=1)
    view = factories.a_snapshot([running, factories.a_session(9)], queues=queues)

    def rounds(*foreign):
        return reruns.Rounds(policies_for=lambda view: {"odd": refusing}, foreign=foreign)

    with pytest.raises(reruns.PolicyUnsure, match=r"^odd$"):
        rounds("odd").of_waiting(view, 9)
    assert rounds().of_waiting(view, 9).reason is decisions.PendReason.POLICY_FAILED
