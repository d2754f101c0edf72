"""What agents say in a story."""

from __future__ import annotations

import pytest

from scheduler.scenarios import answers
from tests.scheduler.scenarios import stories

pytestmark = pytest.mark.django_db
CONTEST, play = stories.CONTEST, stories.play


@pytest.mark.parametrize(
    ("steps", "expect"),
    [
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
            "- {do: stopped, id: v}\n- {do: report_again, id: v, times: 3}\n- {do: tick}\n",
            "state: {v: TERMINATED, p: RUNNING}, preemptions: {v: 1}, run_of: {p: 1}",
        ),
        ("- {do: killed, id: v}\n- {do: tick}\n- {do: exits, id: p, code: 3}\n", "result: {p: failure}"),
        ("- {do: warned, id: v}\n", "state: {v: PREEMPTED}"),
        (
            "- {do: stopped, id: v}\n- {do: late_exit_report, id: v, run: 1}\n",
            "ignored: exit report of run 1, state: {v: TERMINATED}",
        ),
    ],
)
def test_each_step_has_its_effect(steps, expect):
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
