"""Processes by identity, never by pid alone."""

import os
import signal
import subprocess
import time

import pytest

from scheduler.agent import processes

STAT = "77 (a) R (b) T 1 2 3 4 5 6 7 8 9 10 100 50 20 10 20 0 9 0 12345 1 1"


@pytest.fixture
def sleeper():
    child = subprocess.Popen(["sleep", "1000"], start_new_session=True)
    yield child
    child.kill()
    child.wait()


def until(is_so):
    deadline = time.monotonic() + 10
    while not is_so():
        assert time.monotonic() < deadline


def a_process(pid, *, parent=1, session=0, start=1, state="S", threads=1):
    return processes.Process(pid, start, state, parent, pid, session, threads, 0, 0)


def table(*members):
    return {process.pid: process for process in members}


def test_when_a_process_started_is_what_a_whole_look_says():
    assert processes.start_time(os.getpid()) == processes.look(os.getpid()).start_time

    with pytest.raises(OSError, match="No such file"):
        processes.start_time(2**22 + 1)


def test_a_name_with_brackets_does_not_confuse_the_reader():
    process = processes.parse_stat(STAT)

    assert (process.pid, process.state, process.parent, process.group, process.session) == (77, "T", 1, 2, 3)
    assert (process.threads, process.start_time) == (9, 12345)
    assert (process.cpu_ms, process.reaped_ms) == (150 * processes.TICK_MS, 30 * processes.TICK_MS)


@pytest.mark.parametrize("text", ["", "1", "1 (x", "1 (x) S 1"])
def test_a_line_that_is_none_is_an_error(text):
    with pytest.raises((ValueError, IndexError)):
        processes.parse_stat(text)


def test_this_process_is_found_and_alive(sleeper):
    me = processes.look(os.getpid())

    assert processes.scan()[os.getpid()].identity == me.identity
    assert processes.is_alive(me.identity)
    assert not processes.is_alive(processes.Identity(me.pid, me.start_time + 1))
    assert not processes.is_alive(None)


def test_a_zombie_is_dead(sleeper):
    identity = processes.look(sleeper.pid).identity
    sleeper.kill()
    until(lambda: processes.look(sleeper.pid).state == "Z")

    assert not processes.is_alive(identity)


def test_a_leader_that_ended_before_its_threads_is_not_dead():
    assert not a_process(1, state="Z", threads=2).is_dead
    assert a_process(1, state="Z").is_dead


def test_members_are_found_by_session_by_descent_and_by_memory():
    job, shepherd = processes.Identity(20, 1), processes.Identity(10, 1)
    seen = table(
        a_process(10),
        a_process(20, parent=10, session=20),
        a_process(21, parent=1, session=20),
        a_process(22, parent=20, session=22),
        a_process(23, parent=10, session=23),
        a_process(24, parent=1, session=24, start=7),
        a_process(25, parent=24, session=25),
        a_process(26, parent=20, state="Z"),
        a_process(30, parent=1, session=30),
    )
    known = [processes.Identity(24, 7), processes.Identity(30, 99)]
    found = processes.members(seen, job=job, root=shepherd, known=known)

    assert [process.pid for process in found] == [20, 21, 22, 23, 24, 25]


def test_the_family_includes_the_dead_and_leaves_the_supervisor_out():
    seen = table(a_process(10), a_process(20, parent=10, session=20), a_process(26, parent=20, state="Z"))
    found = processes.family(seen, job=processes.Identity(20, 1), root=processes.Identity(10, 1))

    assert [process.pid for process in found] == [20, 26]


def test_children_are_listed_the_newest_last(sleeper):
    second = subprocess.Popen(["sleep", "1000"])
    try:
        assert processes.children(os.getpid())[-2:] == [sleeper.pid, second.pid]
    finally:
        second.kill()
        second.wait()
    assert processes.children(2**22 + 1) == []


def test_the_tree_below_a_process_is_found_without_a_scan(monkeypatch):
    monkeypatch.setattr(processes, "scan", None)
    shell = subprocess.Popen(["/bin/sh", "-c", "sleep 1000 & wait"], start_new_session=True)
    try:
        until(lambda: processes.children(shell.pid))
        (sleeping,) = processes.children(shell.pid)

        assert [process.pid for process in processes.tree(shell.pid)] == [sleeping]
        assert {shell.pid, sleeping} <= {process.pid for process in processes.tree(os.getpid())}
    finally:
        os.killpg(shell.pid, signal.SIGKILL)
        shell.wait()


def test_a_session_number_that_was_given_out_again_makes_no_stranger_a_member():
    seen = table(a_process(20, session=20, start=500), a_process(21, parent=20, session=20))

    assert processes.members(seen, job=processes.Identity(20, 1), root=None) == []


def test_a_job_without_its_first_process_is_still_found():
    seen = table(a_process(21, session=20))

    assert [p.pid for p in processes.members(seen, job=processes.Identity(20, 1), root=None)] == [21]


def test_a_signal_reaches_exactly_the_process_that_was_meant(sleeper):
    process = processes.look(sleeper.pid)
    stranger = processes.Identity(process.pid, process.start_time + 1)

    assert not processes.send(stranger, signal.SIGKILL)
    assert sleeper.poll() is None
    assert processes.send(process, signal.SIGKILL)
    assert sleeper.wait() == -signal.SIGKILL
    assert not processes.send(process, signal.SIGKILL)


def test_a_group_signal_needs_a_living_witness_of_that_group(sleeper):
    process = processes.look(sleeper.pid)

    assert not processes.send_group(1, signal.SIGKILL, witness=process)
    assert sleeper.poll() is None
    assert processes.send_group(process.group, signal.SIGKILL, witness=process)
    sleeper.wait()
    assert not processes.send_group(process.group, signal.SIGKILL, witness=process)


def test_caught_signals_are_read_from_the_mask(sleeper):
    previous = signal.signal(signal.SIGUSR1, lambda *_: None)
    try:
        assert processes.catches(os.getpid(), signal.SIGUSR1)
    finally:
        signal.signal(signal.SIGUSR1, previous)
    assert not processes.catches(sleeper.pid, signal.SIGTSTP)
    assert not processes.catches(2**22 + 1, signal.SIGTSTP)


def test_a_stopped_process_is_still_in_all_its_threads(sleeper):
    assert not processes.is_still(processes.look(sleeper.pid))
    sleeper.send_signal(signal.SIGSTOP)
    until(lambda: processes.look(sleeper.pid).state == "T")

    assert processes.is_still(processes.look(sleeper.pid))


def test_a_stopped_look_with_running_threads_is_not_still():
    mine = processes.look(os.getpid())
    looks_stopped = processes.Process(mine.pid, mine.start_time, "T", 1, 1, 1, 2, 0, 0)

    assert not processes.is_still(looks_stopped)


def test_processes_are_found_by_a_variable_of_their_environment():
    child = subprocess.Popen(["sleep", "1000"], env={"XCE_SESSION_ID": "abc"})
    try:
        until(lambda: processes.carrying("XCE_SESSION_ID=abc"))
        assert {i.pid for i in processes.carrying("XCE_SESSION_ID=abc")} == {child.pid}
        assert processes.carrying("XCE_SESSION_ID=ab") == set()
    finally:
        child.kill()
        child.wait()


def test_resident_memory_is_in_bytes_and_nothing_for_the_gone():
    assert processes.resident_bytes(os.getpid()) > 2**20
    assert processes.resident_bytes(2**22 + 1) == 0


def test_the_boot_id_is_the_kernels():
    assert len(processes.boot_id()) == 36
