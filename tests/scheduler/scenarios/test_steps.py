"""The steps of a story: each has its effect, and each fault its line."""

from __future__ import annotations

import pytest

from scheduler.scenarios import answers
from tests.scheduler.scenarios import stories

pytestmark = pytest.mark.django_db
CONTEST, play = stories.CONTEST, stories.play


def test_what_nobody_was_told_is_remarked_where_a_difference_follows():
    got = play(f"{CONTEST}- {{do: stopped, id: p}}\nexpect: {{victims: [p]}}\n")

    assert got.why.endswith("line 10: nobody told p to stop")


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
