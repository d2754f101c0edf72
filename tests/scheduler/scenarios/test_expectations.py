"""What a story expects: judged, or named as what cannot be judged."""

from __future__ import annotations

import pytest

from scheduler.scenarios import answers
from tests.scheduler.scenarios import stories

pytestmark = pytest.mark.django_db
CONTEST, play = stories.CONTEST, stories.play


@pytest.mark.parametrize(
    ("expect", "why"),
    [
        ("state: {v: RUNNING}", "expect.state.v: it is PREEMPTED, expected RUNNING"),
        ("state: {v: PENDING or RUNNING}", "expect.state.v: it is PREEMPTED"),
        ("state: {p: RUNNING or a second decision made}", "expect.state.p: it is PENDING"),
        ("preemptions: {v: 1}", "expect.preemptions.v: it is 0, expected 1"),
        ("victims: []", "expect.victims: it is ['v'], expected []"),
        ("decision: none", "expect.decision: it is [['v']], expected none"),
        ("decision: a new plan without v", "expect.decision: it is [['v']]"),
        ("decision: {victims: [p]}", "expect.decision.victims: it is ['v']"),
        ("decision_1: {outcome: used}", "expect.decision_1.outcome: it is open, expected used"),
        ("decision_2: {victims: [v]}", "expect.decision_2: there is no such decision"),
        ("decision_1: {target: n2}", "expect.decision_1.target: it is n1, expected n2"),
        ("first_tick: no decision", "expect.first_tick: it is [['v']], expected no decision"),
        ("second_tick: no decision", "expect.second_tick: there were fewer ticks"),
        ("tick_1: {victims: []}", "expect.tick_1.victims: it is ['v']"),
        ("after_step_2: {v: PREEMPTED}", "expect.after_step_2.v: it is RUNNING"),
        ("run_of: {v: 2}", "expect.run_of.v: it is 1, expected 2"),
        ("decisions: {p: '> 1'}", "expect.decisions.p: it is 1, expected > 1"),
        ("preempted_total: 0", "expect.preempted_total: it is 1, expected 0"),
        ("pending_reason: {p: no-resources}", "expect.pending_reason.p: it is awaiting-victims"),
        (
            "pending_reason: {p: slots on n1 are kept for v}",
            "expect.pending_reason.p: it is awaiting-victims",
        ),
        ("notice_to_owner_of: {v: [warned, warning withdrawn]}", "expect.notice_to_owner_of.v: it is"),
        ("alert: v is flagged to the admin", "expect.alert: it is otherwise"),
        ("ignored: exit report of run 1", "expect.ignored: it is otherwise"),
        ("never: used(n1) above 3", "expect.never: it is so at some time"),
        ("one_of: [{v: RUNNING}, {p: RUNNING}]", "expect.one_of: it is {'p': 'PENDING', 'v': 'PREEMPTED'}"),
        ("one_of: [{v: PREEMPTED, promise_of_p: withdrawn and recorded}]", "expect.one_of"),
        ("result: {v: preempted}", "expect.result.v: it is , expected preempted"),
    ],
)
def test_a_difference_fails_and_is_named(expect, why):
    got = play(f"{CONTEST}expect:\n  {expect}\n")

    assert got.verdict is answers.Verdict.FAILED
    assert why in got.why


@pytest.mark.parametrize(
    "expect",
    [
        "state: {v: a happy end}",
        "state: {w: RUNNING}",
        "mood: good",
        "never: the cat is hungry",
        "alert: the cat is flagged to the admin",
        "preemptions: {v: some}",
        "decision_1: {mood: good}",
        "one_of: [{v: RUNNING}, the cat is fed]",
        "promise_of_p: kept",
        "notice_to_owner_of: {v: [sung to]}",
    ],
)
def test_what_cannot_be_judged_is_skipped_and_never_passed(expect):
    got = play(f"{CONTEST}expect:\n  victims: [v]\n  {expect}\n")

    assert got.verdict is answers.Verdict.SKIPPED
    assert "this version cannot judge" in got.why


def test_what_cannot_be_judged_hides_no_difference():
    assert (
        play(f"{CONTEST}expect:\n  mood: good\n  state: {{v: RUNNING}}\n").verdict is answers.Verdict.FAILED
    )
