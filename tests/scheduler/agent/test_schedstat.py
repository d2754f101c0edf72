"""The kernel's account of processor time."""

import subprocess
import sys

import pytest

from scheduler.agent import processes, schedstat

ONE, OTHER, ELSEWHERE = (1, 1, 1), (1, 1, 2), (3, 1, 3)
#: A second thread works once for each line that it is told.
WORKER = """
import sys, threading, time
def work():
    for line in sys.stdin:
        sum(range(2_000_000)); print(flush=True)
threading.Thread(target=work, daemon=True).start(); print(flush=True); time.sleep(1000)
"""


def test_the_time_of_every_thread_counts():
    command = [sys.executable, "-I", "-S", "-c", WORKER]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        member = processes.look(process.pid)
        before = schedstat.spent([member])
        process.stdin.write(b"\n")
        process.stdin.flush()
        process.stdout.readline()
        after = schedstat.spent([member])
        process.kill()

    assert {key[:2] for key in after} == {(member.pid, member.start_time)}
    assert len(after) == 2
    assert schedstat.has_grown(before, after)


def test_who_is_gone_is_not_in_it():
    assert schedstat.spent([processes.Process(2**22 + 1, 1, "T", 1, 1, 1, 1, 30, 0)]) == {}


def test_without_that_account_the_ticks_count(monkeypatch):
    monkeypatch.setattr(schedstat, "_IS_KEPT", False)

    assert schedstat.spent([processes.Process(5, 7, "T", 1, 1, 1, 1, 30, 0)]) == {(5, 7, 0): 30_000_000}


@pytest.mark.parametrize(
    ("before", "now", "is_growth"),
    [
        ({ONE: 5}, {ONE: 5 + schedstat.SLACK_NS}, False),
        ({ONE: 5}, {ONE: 6 + schedstat.SLACK_NS}, True),
        ({ONE: 5, OTHER: 10**9}, {ONE: 5}, True),
        ({ONE: 5}, {ONE: 5, OTHER: 1}, True),
        ({ONE: 5}, {ELSEWHERE: 10**9}, False),
        ({}, {ONE: 10**9}, False),
    ],
)
def test_a_process_in_both_has_run_when_a_thread_gained_more_than_its_last_steps_came_or_went(
    before, now, is_growth
):
    assert schedstat.has_grown(before, now) is is_growth
