"""Whole stories on a simulated cluster: steps, expectations, and what cannot be played."""

from __future__ import annotations

import contextlib
import pathlib
from collections.abc import Iterator

import pytest
from django.db import transaction

from scheduler import models
from scheduler.scenarios import answers, entries, lifecycle, located, playing, reading
from tests import model_factories

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
HEAD = "id: A\nkind: lifecycle\nnodes:\n- id: n1\n  cap: {cpu: 4}\n"
CONTEST = """steps:
- {do: running, id: v, job_priority: 1, alloc: {n1: {cpu: 4}}}
- {do: submit, id: p, job_priority: 9, request: {cpu: 4}}
- {do: tick}
"""


@contextlib.contextmanager
def in_savepoint() -> Iterator[None]:
    """A database for one play: all that it writes is taken back."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


def play(case: entries.Case | str, database=in_savepoint) -> answers.Result:
    """Play a case, or a text that is one."""
    if isinstance(case, str):
        (case,) = reading.cases(located.parse(HEAD + case))
    return playing.run(case, lambda case: lifecycle.play(case, database))


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


def test_what_nobody_was_told_is_remarked_where_a_difference_follows():
    got = play(f"{CONTEST}- {{do: stopped, id: p}}\nexpect: {{victims: [p]}}\n")

    assert got.why.endswith("line 10: nobody told p to stop")


def test_what_cannot_be_judged_hides_no_difference():
    assert (
        play(f"{CONTEST}expect:\n  mood: good\n  state: {{v: RUNNING}}\n").verdict is answers.Verdict.FAILED
    )


@pytest.mark.parametrize(
    ("step", "why"),
    [
        ("{do: fly, id: v}", "line 10: step 'fly' is not one that this version knows"),
        ("{do: cancel, id: v, colour: red}", "line 10: step cancel has a key 'colour'"),
        ("{do: submit, id: q, request: {cpu: 1}, tags: [a]}", "line 10: tags of session q is beyond"),
    ],
)
def test_a_step_that_is_not_known_skips_the_case(step, why):
    got = play(f"{CONTEST}- {step}\nexpect: {{victims: [v]}}\n")

    assert got.verdict is answers.Verdict.SKIPPED
    assert why in got.why


@pytest.mark.parametrize(
    ("step", "why"),
    [
        ("{do: cancel, id: z}", "line 10: id of step cancel names z, and no step before"),
        ("{do: cancel}", "line 10: id of step cancel is missing"),
        ("{do: submit, id: p, request: {cpu: 1}}", "line 10: id of session p brings p a second time"),
        ("{do: tick, phase: commit}", "line 10: phase of step tick is commit, and no phase plan"),
        ("{do: stopped, id: v, run: 7}", "run of step stopped is 7, and the session is in run 1"),
        ("{do: release, id: v}", "step release was refused: A session that is preempted"),
        ("{do: started, id: v}", "names v, which has no open start"),
        ("{do: drain, id: n7}", "names n7, which is no node of the case"),
        ("{do: admin_sets, ordr: newest}", "did you mean 'order'"),
        ("{do: late_exit_report, id: v, run: 4}", "run of step late_exit_report is 4"),
        ("{do: set_queue, id: q9}", "names no queue of the case"),
    ],
)
def test_a_fault_of_a_step_fails_with_its_line(step, why):
    got = play(f"{CONTEST}- {step}\nexpect: {{victims: [v]}}\n")

    assert got.verdict is answers.Verdict.FAILED
    assert why in got.why


def test_a_loop_plays_its_steps_again_and_again():
    loop = "- do: loop\n  times: 3\n  body:\n  - {do: advance_s, seconds: 10}\n  - {do: tick}\n"
    got = play(f"{CONTEST}{loop}expect: {{tick_4: no decision, decisions: {{p: 1}}}}\n")

    assert got.verdict is answers.Verdict.PASSED, got.why


@pytest.mark.parametrize(
    ("steps", "expect"),
    [
        ("- {do: hold, id: p}\n- {do: tick}\n", "state: {p: PENDING}, pending_reason: {p: held}"),
        ("- {do: opt_out, id: v}\n- {do: tick}\n", "result: {v: ''}, decisions: {p: 1}"),
        (
            "- {do: stopped, id: v}\n- {do: tick}\n",
            "state: {v: TERMINATED, p: RUNNING}, result: {v: preempted}",
        ),
        (
            "- {do: stopped, id: v}\n- {do: finished, id: p}\n",
            "state: {p: TERMINATED}, result: {p: success}, decision_1: {outcome: used}",
        ),
        ("- {do: stopped, id: v}\n- {do: tick}\n- {do: failed, id: p}\n", "result: {p: failure}"),
        (
            "- {do: cancel, id: p}\n- {do: stopped, id: v}\n",
            "decision_1: {outcome: wasted}, result: {p: cancelled}",
        ),
        ("- {do: drain, id: n1}\n- {do: tick}\n", "state: {p: PENDING}"),
        ("- {do: cancel, id: v}\n", "state: {v: TERMINATED}, result: {v: cancelled}"),
        ("- {do: agent_restarts, id: n1}\n", "state: {v: PREEMPTED}"),
        ("- {do: node_reboots, id: n1}\n- {do: tick}\n", "state: {v: PENDING, p: RUNNING}, run_of: {v: 2}"),
        (
            "- {do: agent_silent, id: n1}\n- {do: advance_s, seconds: 20}\n- {do: tick}\n",
            "state: {v: PREEMPTED, p: PENDING}, pending_reason: {p: no-resources}",
        ),
        (
            "- {do: submit, id: q, owner: u2, request: {cpu: 1}}\n- {do: tick}\n",
            "pending_reason: {q: no-resources}",
        ),
    ],
)
def test_each_kind_of_step_has_its_effect(steps, expect):
    got = play(f"{CONTEST}{steps}expect: {{{expect}}}\n")

    assert got.verdict is answers.Verdict.PASSED, got.why


def test_a_dispatch_that_is_not_confirmed_waits_until_its_agent_answers():
    steps = (
        "steps:\n- {do: running, id: v, state: SCHEDULED, alloc: {n1: {cpu: 4}}}\n- {do: started, id: v}\n"
    )
    got = play(f"{steps}expect: {{after_step_1: {{v: SCHEDULED}}, after_step_2: {{v: RUNNING}}}}\n")

    assert got.verdict is answers.Verdict.PASSED, got.why


def test_a_suspend_that_fails_lets_the_session_run_on():
    steps = f"config: {{mode: suspend}}\n{CONTEST}- {{do: stop_failed, id: v}}\n"
    got = play(
        f"{steps}expect: {{state: {{v: RUNNING}}, notice_to_owner_of: {{v: [warned, stop failed]}}}}\n"
    )

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
