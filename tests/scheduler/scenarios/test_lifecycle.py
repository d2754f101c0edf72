"""Whole stories on a simulated cluster: steps, expectations, and what cannot be played."""

from __future__ import annotations

import contextlib
import pathlib

import pytest

from scheduler import models
from scheduler.scenarios import answers, reading
from tests import model_factories
from tests.scheduler.scenarios import stories

pytestmark = pytest.mark.django_db
CASES = {
    case.id: case
    for case in reading.read(pathlib.Path(__file__).parents[2] / "data" / "cases" / "lifecycle.yaml")
}
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
        (CONTEST, answers.Verdict.SKIPPED, "it expects nothing"),
    ],
)
def test_a_story_needs_steps_and_an_end(text, verdict, why):
    got = play(text)

    assert got.verdict is verdict
    assert why in got.why


def test_the_answers_of_a_story_are_shown_for_each_submitted_session():
    got = play(
        f"{CONTEST}- {{do: submit, id: q, owner: u2, request: {{cpu: 5}}}}\n- {{do: tick}}\nexpect: {{victims: [v]}}\n"
    )

    stop = answers.Answer(
        answers.Outcome.PREEMPT, ("v",), "n1", answers.Rule.LOWEST_FIRST, "awaiting-victims"
    )
    assert got.pending == {"p": stop, "q": answers.Answer(answers.Outcome.PEND, reason="never-fits")}
