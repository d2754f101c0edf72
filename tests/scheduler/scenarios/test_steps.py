"""The steps of a story: each has its effect, and each fault its line."""

from __future__ import annotations

import pytest

from scheduler import models
from scheduler.scenarios import answers, cast, entries, errors, fields, located, rules, stages
from scheduler.simulator import world
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
        ("{do: submit, id: q}", "line 10: session q has neither a request nor an alloc"),
        (
            "{do: submit, id: q, queue: express, request: {cpu: 1}}",
            "session q is in queue express, and the case",
        ),
        ("{do: loop, times: 2, body: again}", "line 10: the body of the loop is prose, no steps"),
        (
            "{do: running, id: q, state: SUSPENDED, alloc: {n1: {cpu: 1}}}",
            "session q is SUSPENDED; a story begins",
        ),
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
        ("{do: finished, id: p}", "id of step finished names p, which does not run"),
        ("{do: tick, times: 1001}", "line 10: times of step tick is 1001; it is at most 1000"),
        ("{do: tick_in_parallel, workers: 9}", "workers of step tick_in_parallel is 9; it is at most 8"),
        (
            "{do: report_again, id: v, times: 0}",
            "times of step report_again must be a whole number of at least 1",
        ),
    ],
)
def test_a_fault_of_a_step_fails_with_its_line(step, why):
    got = play(f"{CONTEST}- {step}\nexpect: {{victims: [v]}}\n")

    assert got.verdict is answers.Verdict.FAILED
    assert why in got.why


def test_a_session_is_named_as_it_is_now():
    with world.World(rules.DEFAULTS).running() as cluster:
        stage = stages.Stage(cast.Cast(entries.Case("A", entries.Kind.LIFECYCLE, 1), cluster))
        stage.history.sessions["v"] = models.Session(pk=1)

        with pytest.raises(errors.BadScenario, match="line 3: id of step cancel names w, and no step before"):
            stage.session(fields.Fields(located.parse("\n\nid: w"), "step cancel", line=3, beyond=[]))
        with pytest.raises(models.Session.DoesNotExist):
            stage.session(fields.Fields(located.parse("id: v"), "step cancel", line=1, beyond=[]))
