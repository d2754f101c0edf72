"""Stopping by signals, what the conformance suite does not ask."""

import os
import signal
import subprocess
import time

import pytest

from scheduler.agent import processes
from scheduler.agent.stop import driver, signals


@pytest.fixture
def job():
    child = subprocess.Popen(["sleep", "1000"], start_new_session=True)
    yield child, driver.Target(processes.look(child.pid).identity, None)
    child.kill()
    child.wait()


def until(is_so):
    deadline = time.monotonic() + 10
    while not is_so():
        assert time.monotonic() < deadline


def test_a_notice_tells_whether_the_first_process_got_it(job):
    child, target = job
    how = signals.SignalDriver()

    assert how.notify(target, signal.SIGCONT, everyone=True)
    child.kill()
    until(lambda: processes.look(child.pid).state == "Z")
    assert not how.notify(target, signal.SIGCONT, everyone=True)


def test_members_seen_are_remembered(job):
    child, target = job
    signals.SignalDriver().observe(target)

    assert {identity.pid for identity in target.known} == {child.pid}


def test_what_is_still_is_not_signalled_again(job, monkeypatch):
    _, target = job
    how = signals.SignalDriver()
    how.hold(target)
    until(lambda: how.is_held(target, how.observe(target)))
    sent = []
    monkeypatch.setattr(processes, "send_group", lambda *args, **more: sent.append(args))
    how.hold(target)

    assert sent == []


def test_the_dead_are_counted_though_they_are_no_members(job):
    child, target = job
    child.kill()
    until(lambda: processes.look(child.pid).state == "Z")

    assert signals.SignalDriver().observe(target) == []
    assert {identity.pid for identity in target.census} == {child.pid}


def test_a_newcomer_below_the_shepherd_is_stopped_though_no_scan_saw_it(job, monkeypatch):
    child, target = job
    target.shepherd = processes.look(os.getpid()).identity
    monkeypatch.setattr(processes, "scan", dict)
    monkeypatch.setattr(processes, "children", lambda pid: [child.pid])
    signals.SignalDriver().hold(target)

    until(lambda: processes.look(child.pid).state == "T")
    assert not signals._stop_child(target.shepherd, child.pid)


def test_nobody_elses_child_is_stopped(job):
    child, _ = job

    assert not signals._stop_child(processes.Identity(1, 1), child.pid)
    assert processes.look(child.pid).state != "T"
