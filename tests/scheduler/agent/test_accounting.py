"""What a run has used and how its end is told."""

import os

import pytest

from scheduler.agent import accounting, processes, records, runs
from scheduler.protocol import fields
from tests.scheduler.agent import bench as benches

SELF, KILLED, WALL, GONE = (
    fields.EndCause.SELF,
    fields.EndCause.KILLED,
    fields.EndCause.WALL_TIME,
    fields.EndCause.GONE,
)


def a_run(*, stop=None, warned=False):
    run = runs.Run(start=benches.a_start(), epoch=1, boot="b", running_since_ms=None, ran_ms=500)
    run.stop, run.warning = stop, runs.Warned(True, 0) if warned else None
    return run


def a_stop(*, cause=KILLED, begun=False, is_kill=True):
    return runs.Stop("c", is_kill, 15, 0, 0, 0, cause, kill_begun=begun)


def conclude(tmp_path, run, *, code=None, number=None, cause=SELF, known=True):
    if known:
        records.write(tmp_path / records.EXIT, {"code": code, "signal": number})
    return accounting.conclude(run, tmp_path, usage=accounting.Usage(5, 6), cause=cause)


@pytest.mark.parametrize(
    ("run", "end", "cause"),
    [
        pytest.param(a_run(), {"code": 0}, SELF, id="by itself"),
        pytest.param(a_run(stop=a_stop(), warned=True), {"code": 0}, SELF, id="heeded the warning"),
        pytest.param(a_run(stop=a_stop(), warned=True), {"number": 15}, KILLED, id="died of the warning"),
        pytest.param(a_run(stop=a_stop(begun=True)), {"number": 9}, KILLED, id="killed"),
        pytest.param(a_run(stop=a_stop(cause=WALL), warned=True), {"code": 0}, WALL, id="heeded the wall-time warning"),
        pytest.param(a_run(stop=a_stop(cause=WALL)), {"code": 0}, SELF, id="ended just before the wall-time warning"),
        pytest.param(a_run(stop=a_stop(is_kill=False)), {"code": 0}, SELF, id="during a suspend"),
        pytest.param(a_run(), {"known": False, "cause": GONE}, GONE, id="found gone"),
        pytest.param(a_run(), {"code": 0, "cause": GONE}, SELF, id="found gone, but it had written its exit"),
        pytest.param(a_run(stop=a_stop(begun=True)), {"known": False}, KILLED, id="killed without a witness"),
    ],
)  # fmt: skip
def test_the_cause_of_an_end_follows_from_the_facts(tmp_path, run, end, cause):
    assert conclude(tmp_path, run, **end).cause is cause


def test_a_warning_before_the_end_is_told(tmp_path):
    assert conclude(tmp_path, a_run(stop=a_stop(), warned=True), code=0).after_warning
    assert not conclude(tmp_path, a_run(stop=a_stop()), code=0).after_warning


def test_an_unknown_status_has_neither_code_nor_signal(tmp_path):
    ended = conclude(tmp_path, a_run(), known=False, cause=GONE)

    assert (ended.known, ended.exit_code, ended.signal) == (False, None, None)


def test_the_larger_figures_win(tmp_path):
    records.write(tmp_path / records.END, {"cpu_ms": 3, "peak_bytes": 60, "mono_ms": 1})
    ended = conclude(tmp_path, a_run(), code=0)

    assert (ended.cpu_ms, ended.peak_bytes, ended.ran_ms) == (5, 60, 500)


def test_usage_only_grows():
    usage, me = accounting.Usage(), processes.look(os.getpid())
    usage.look([me], None)
    first = (usage.cpu_ms, usage.peak_bytes)
    usage.look([], None)

    assert first == (usage.cpu_ms, usage.peak_bytes)
    assert first[1] > 2**20


def test_the_status_of_a_job_that_left_nobody_behind_stands_in_its_end(tmp_path):
    end = {"code": None, "signal": 9, "cpu_ms": 3, "peak_bytes": 60, "mono_ms": 1}
    records.write(tmp_path / records.END, end)
    ended = conclude(tmp_path, a_run(), known=False)

    assert (ended.known, ended.exit_code, ended.signal) == (True, None, 9)
