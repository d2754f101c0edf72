"""What a story expects of its waiting sessions in the words of pictures."""

from __future__ import annotations

import pytest

from scheduler.scenarios import answers
from tests.scheduler.scenarios import stories

pytestmark = pytest.mark.django_db
P, F, N = answers.Verdict.PASSED, answers.Verdict.FAILED, answers.Verdict.SKIPPED


@pytest.mark.parametrize(
    ("expect", "verdict", "why"),
    [
        ("{outcome: preempt, target: n1, count: 1}", P, ""),
        ("{outcome: pend}", F, "expect.outcome: it is preempt, expected pend"),
        ("{outcome: dance}", N, "cannot judge 'dance'"),
        ("{target: n2}", F, "expect.target: it is n1, expected n2"),
        ("{count: 2}", F, "expect.count: it is 1, expected 2"),
        ("{count: two}", N, "cannot judge 'two'"),
        ("{any_of: [[x], [v]]}", P, ""),
        ("{any_of: [[x]]}", F, "expect.any_of: it is ['v'], expected [['x']]"),
        ("{any_of: [v]}", N, "cannot judge"),
        ("{reason: awaiting-victims}", P, ""),
        ("{reason: no-resources}", F, "expect.reason: it is awaiting-victims"),
        ("{reason: no idea}", N, "cannot judge 'no idea'"),
        ("{per_pending: {p: {outcome: preempt, victims: [v], rule: [lowest-first], because: so}}}", P, ""),
        ("{per_pending: {p: {victims: []}}}", F, "expect.per_pending.p.victims: it is ['v'], expected []"),
        ("{per_pending: {p: {victims: v}}}", N, "cannot judge 'v'"),
        ("{per_pending: {p: {rule: [exact], outcome: preempt}}}", N, "cannot judge"),
        ("{per_pending: {p: {mood: good, outcome: preempt}}}", N, "per_pending.p.mood"),
        ("{per_pending: {p: good}}", N, "cannot judge 'good'"),
        ("{per_pending: {v: {outcome: place}}}", N, "cannot judge"),
        ("{preempted: [v], pending: [p], runs_on: {v: n1, p: []}}", P, ""),
        ("{running: [v]}", F, "expect.running: it is {'v': 'PREEMPTED'}, expected ['v']"),
        ("{running: v}", N, "cannot judge 'v'"),
        ("{suspended: [z]}", N, "cannot judge"),
        ("{pending: {p: {victims: [v]}}}", P, ""),
        ("{runs_on: {p: n1}}", F, "expect.runs_on.p: it is [], expected n1"),
        ("{runs_on: {z: n1}}", N, "cannot judge"),
        ("{runs_on: {p: {n1: 1}}}", N, "cannot judge"),
        ("{used: {n1: {cpu: 4}}}", P, ""),
        ("{used: {n1: {cpu: 3}}}", F, "expect.used.n1: it is {'cpu': 4000}, expected {'cpu': 3000}"),
        ("{used: {n9: {cpu: 3}}}", N, "cannot judge"),
        ("{used: {n1: {cpu: much}}}", F, "cpu of n1 of used is no amount"),
        ("{never: v told to stop}", F, "expect.never"),
        ("{never: [p was a victim, p RUNNING]}", P, ""),
        ("{never: v PREEMPTED}", F, "expect.never"),
        ("{never: [v DANCING]}", N, "cannot judge"),
        ("{state: {v: PREEMPTED on n1, p: PENDING (first in line)}}", P, ""),
        ("{state: {v: PREEMPTED on n2}}", F, "expect.state.v"),
        ("{state: {v: DANCING on n1}}", N, "cannot judge"),
        ("{forbidden: [p]}", P, ""),
        ("{not_victims: [v]}", F, "expect.not_victims: it is ['v'], expected ['v']"),
        ("{forbidden: [z]}", N, "cannot judge"),
    ],
)
def test_the_end_of_a_story_is_compared_as_a_picture_is(expect, verdict, why):
    got = stories.play(f"{stories.CONTEST}expect: {expect}\n")

    assert (got.verdict, why in got.why) == (verdict, True), got.why


def test_the_keys_of_one_session_need_exactly_one_that_was_submitted():
    second = "- {do: submit, id: q, request: {cpu: 1}}\n"
    got = stories.play(f"{stories.CONTEST}{second}expect: {{outcome: preempt}}\n")

    assert got.verdict is N
