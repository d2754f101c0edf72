"""Whole stories on a simulated cluster: steps, expectations, and what cannot be played."""

from __future__ import annotations

import contextlib
import pathlib
import re

import pytest

from scheduler import models
from scheduler.scenarios import answers, located, reading
from tests import model_factories
from tests.scheduler.scenarios import stories

pytestmark = pytest.mark.django_db
DATA = pathlib.Path(__file__).parents[2] / "data" / "cases"
CASES = {case.id: case for case in reading.read(DATA / "lifecycle.yaml")}
CASES |= {case.id: case for case in reading.read(DATA / "variants.yaml") if case.is_played}
SKIPPED = {
    "L18": "the body of the loop is prose",
    "L22": "enforce_resume of config is beyond",
    "L24": "suspendable of session v is beyond",
}
#: Rounds at once need connections of their own, which see committed rows alone.
PARALLEL = "D22"
CONTEST, play = stories.CONTEST, stories.play


@pytest.mark.parametrize("case_id", sorted(set(CASES) - set(SKIPPED) - {PARALLEL}))
def test_a_story_ends_as_expected(case_id):
    got = play(CASES[case_id])

    assert got.verdict is answers.Verdict.PASSED, got.why


@pytest.mark.django_db(transaction=True)
def test_two_schedulers_at_once_stop_one_session_once():
    got = play(CASES[PARALLEL], contextlib.nullcontext)

    assert got.verdict is answers.Verdict.PASSED, got.why


@pytest.mark.parametrize("case_id", sorted(SKIPPED))
def test_what_cannot_be_played_is_skipped_with_the_reason(case_id):
    got = play(CASES[case_id])

    assert got.verdict is answers.Verdict.SKIPPED
    assert SKIPPED[case_id] in got.why


def test_a_story_leaves_nothing_behind():
    play(CASES["L06"])

    assert not models.Session.objects.exists()
    assert not models.ResourceGroup.objects.exists()


def test_a_story_does_not_see_what_is_there_already():
    group = model_factories.a_group("mine", preemption_state="on")
    session = model_factories.a_session(
        owner=model_factories.a_user(), queue=model_factories.a_queue("mine", groups=[group])
    )

    assert play(CASES["L12"]).verdict is answers.Verdict.PASSED
    session.refresh_from_db()
    assert session.state == "pending"


def test_a_loop_plays_its_steps_again_and_again():
    loop = "- do: loop\n  times: 3\n  body:\n  - {do: advance_s, seconds: 10}\n  - {do: tick}\n"
    got = play(f"{CONTEST}{loop}expect: {{tick_4: no decision, decisions: {{p: 1}}}}\n")

    assert got.verdict is answers.Verdict.PASSED, got.why


def test_modes_that_come_to_different_ends_are_named():
    steps = CONTEST.replace("steps:\n", "steps:\n- {do: for_each_mode, modes: [terminate, reschedule]}\n")
    got = play(f"{steps}- {{do: stopped, id: v}}\nexpect: {{state: {{v: TERMINATED}}}}\n")

    assert got.verdict is answers.Verdict.FAILED
    assert got.why == "mode reschedule: expect.state.v: it is PENDING, expected TERMINATED"


@pytest.mark.parametrize(
    ("text", "verdict", "why"),
    [
        ("expect: {victims: []}\n", answers.Verdict.FAILED, "a case of kind lifecycle needs steps"),
        (
            f"{CONTEST}- {{do: for_each_mode}}\nexpect: {{}}\n",
            answers.Verdict.FAILED,
            "modes .* must be of terminate",
        ),
        (f"{CONTEST}edges: [[v, v]]\n", answers.Verdict.FAILED, "name v: not there"),
        (
            CONTEST.replace(
                "steps:",
                "steps:\n- {do: loop, times: 1000, body: [{do: loop, times: 11, body: [{do: tick}]}]}",
            ),
            answers.Verdict.FAILED,
            "line 1: more than 10000 steps",
        ),
        (
            CONTEST.replace("cpu: 4}}}", "cpu: 9}}}"),
            answers.Verdict.FAILED,
            "line 1: the cluster refused the case: .*never_over_allocated",
        ),
    ],
)
def test_a_story_needs_steps_that_can_be_played(text, verdict, why):
    got = play(text)

    assert got.verdict is verdict
    assert re.search(why, got.why), got.why


@pytest.mark.parametrize(
    ("expect", "why"),
    [
        ("", "it expects nothing"),
        ("expect: {}\n", "it expects nothing that can be compared"),
        ("expect: {because: it is so}\n", "it expects nothing that can be compared"),
        ("expect: {mood: good}\n", "expect.mood: this version cannot judge 'good'"),
    ],
)
def test_a_story_that_expects_nothing_is_played_and_shown_and_has_not_passed(expect, why):
    got = play(f"{CONTEST}{expect}")

    assert (got.verdict, got.why) == (answers.Verdict.SKIPPED, why)
    assert got.pending["p"].victims == ("v",)


def test_sessions_may_be_there_before_the_first_step():
    got = play(
        "running: [{id: v, job_priority: 1, alloc: {n1: {cpu: 4}}}]\n"
        "pending: [{id: p, job_priority: 9, request: {cpu: 4}}]\n"
        "steps: [{do: tick}]\nexpect: {victims: [v], outcome: preempt}\n"
    )

    assert got.verdict is answers.Verdict.PASSED, got.why


def test_kinds_for_people_are_played_where_they_have_steps():
    (case,) = reading.cases(
        located.parse(stories.HEAD.replace("lifecycle", "explain") + CONTEST + "expect: {victims: [v]}\n")
    )

    assert play(case).verdict is answers.Verdict.PASSED


def test_the_answers_of_a_story_are_shown_for_each_submitted_session():
    got = play(
        f"{CONTEST}- {{do: submit, id: q, owner: u2, request: {{cpu: 5}}}}\n- {{do: tick}}\nexpect: {{victims: [v]}}\n"
    )

    stop = answers.Answer(
        answers.Outcome.PREEMPT, ("v",), "n1", answers.Rule.LOWEST_FIRST, "awaiting-victims"
    )
    assert got.pending == {"p": stop, "q": answers.Answer(answers.Outcome.PEND, reason="never-fits")}


def test_a_node_that_is_down_from_the_beginning_is_no_story_of_ours():
    (case,) = reading.cases(
        located.parse(stories.HEAD.replace("{cpu: 4}", "{cpu: 4}\n  state: down") + CONTEST)
    )
    got = play(case)

    assert (got.verdict, got.why) == (
        answers.Verdict.SKIPPED,
        "node n1 is down; in a story it becomes so by itself",
    )
