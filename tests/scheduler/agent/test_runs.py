"""One run as the journal tells it."""

import json

import pytest

from scheduler.agent import processes, runs
from scheduler.protocol import fields
from tests.scheduler.agent import bench


def a_run(**more):
    facts = {"boot": "b", "shepherd": processes.Identity(1, 2), "job": processes.Identity(3, 4), "ran_ms": 7}
    return runs.Run(start=bench.a_start(), epoch=2, **facts | more)


def a_stop(**more):
    facts = {"signal": 15, "grace_ms": 900, "suspend_grace_ms": 20, "begun_ms": 100}
    return runs.Stop("c", True, cause=fields.EndCause.WALL_TIME, **facts | more)


def again(run):
    return runs.restore(json.loads(json.dumps(run.dump())))


@pytest.mark.parametrize(
    "run",
    [
        a_run(state=runs.RunState.RUNNING, running_since_ms=5),
        a_run(stop=a_stop(), state=runs.RunState.STOPPING),
        a_run(stop=a_stop(kill_begun=True), warning=runs.Warned(True, 1000)),
        a_run(continuing=("c", 3), suspended_by="s", warning=runs.Warned(False, 7)),
    ],
)
def test_a_dumped_run_is_the_same_again(run):
    assert again(run) == run


def test_what_an_agent_without_word_of_warnings_dumped_counts_as_sent():
    entry = a_run(stop=a_stop()).dump()
    del entry["run"]["warning"]
    entry["run"]["warned"] = False

    assert runs.restore(entry).warning == runs.Warned(False, 1000)


@pytest.mark.parametrize(
    ("stop", "warning", "now_ms", "counts"),
    [
        (a_stop(), None, 1, False),
        (a_stop(), runs.Warned(True, 5), 1000, True),
        (a_stop(), runs.Warned(False, 5), 1, False),
        (None, runs.Warned(True, 5), 5, True),
        (None, runs.Warned(True, 5), 6, False),
        (None, None, 6, False),
    ],
)
def test_a_warning_counts_while_its_stop_is_under_way_and_for_its_grace_once_taken_back(
    stop, warning, now_ms, counts
):
    assert a_run(stop=stop, warning=warning).is_warned_at(now_ms) is counts


def test_the_notice_of_a_kill_is_its_grace_and_that_of_a_suspend_its_own():
    assert a_stop().notice_ms == 900
    assert runs.Stop("c", False, 20, 900, 20, 0, fields.EndCause.KILLED).notice_ms == 20
