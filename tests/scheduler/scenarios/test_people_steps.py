"""What people do in a story, and what becomes of nodes."""

from __future__ import annotations

import pytest

from scheduler.scenarios import answers
from tests.scheduler.scenarios import stories

pytestmark = pytest.mark.django_db
CONTEST, play = stories.CONTEST, stories.play


@pytest.mark.parametrize(
    ("steps", "expect"),
    [
        ("- {do: hold, id: p}\n- {do: tick}\n", "state: {p: PENDING}, pending_reason: {p: held}"),
        (
            "- {do: hold, id: p}\n- {do: release, id: p}\n- {do: tick}\n",
            "state: {p: PENDING}, pending_reason: {p: awaiting-victims}",
        ),
        ("- {do: opt_out, id: v}\n- {do: tick}\n", "decisions: {p: 1}"),
        ("- {do: set_job_priority, id: p, to: 1}\n- {do: tick}\n", "pending_reason: {p: awaiting-release}"),
        ("- {do: set_priority, id: p, to: 50}\n- {do: tick}\n", "state: {p: PENDING}"),
        (
            "- {do: set_preemptible, id: v, to: false}\n- {do: tick}\n",
            "pending_reason: {p: awaiting-release}",
        ),
        (
            "- {do: cancel, id: p}\n- {do: stopped, id: v}\n",
            "decision_1: {outcome: wasted}, result: {p: cancelled}",
        ),
        ("- {do: cancel, id: v}\n", "state: {v: TERMINATED}, result: {v: cancelled}"),
        ("- {do: admin_sets, enabled: false}\n- {do: tick}\n", "decisions: {p: 1}"),
        ("- {do: set_queue, id: q1, state: stopped}\n- {do: tick}\n", "pending_reason: {p: queue-stopped}"),
        ("- {do: drain, id: n1}\n- {do: tick}\n", "state: {p: PENDING}, pending_reason: {p: no-resources}"),
        ("- {do: drain, id: n1}\n- {do: undrain, id: n1}\n- {do: tick}\n", "decisions: {p: '>= 1'}"),
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
def test_each_step_has_its_effect(steps, expect):
    got = play(f"{CONTEST}{steps}expect: {{{expect}}}\n")

    assert got.verdict is answers.Verdict.PASSED, got.why


@pytest.mark.parametrize(
    ("steps", "expect"),
    [
        ("- {do: disable}\n- {do: tick}\n", "state: {v: RUNNING}, promise_of_p: withdrawn and recorded"),
        ("- {do: shadow}\n- {do: tick}\n", "state: {v: RUNNING}, promise_of_p: withdrawn and recorded"),
        ("- {do: disable}\n- {do: tick}\n- {do: enable}\n- {do: tick}\n", "decisions: {p: 2}"),
        (
            "- {do: node_down, id: n1}\n- {do: advance, seconds: 20}\n- {do: tick}\n",
            "pending_reason: {p: no-resources}, state: {v: PREEMPTED, p: PENDING}",
        ),
    ],
)
def test_what_is_only_warned_goes_on_when_its_reason_is_gone(steps, expect):
    got = play(f"config: {{grace_s: 120}}\n{CONTEST}{steps}expect: {{{expect}}}\n")

    assert got.verdict is answers.Verdict.PASSED, got.why
