"""Stopping by signals, what the conformance suite does not ask."""

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
