"""Members that left their process session are remembered, by this agent and by the next."""

import errno

from scheduler.agent import processes, records, roll
from scheduler.agent.stop import driver

JOB, SHEPHERD = processes.Identity(100, 1), processes.Identity(99, 1)


def a_process(pid, *, parent=100, session=100, state="S"):
    return processes.Process(pid, 1, state, parent, session, session, 1, 0, 0)


def a_table(*found):
    led = [a_process(99, parent=1, session=99), a_process(100, parent=99)]
    return {process.pid: process for process in (*led, *found)}


def a_target():
    return driver.Target(JOB, SHEPHERD)


DAEMON = a_process(101, parent=99, session=101)


def test_who_left_the_session_is_known_after_the_shepherds_death(tmp_path):
    target, one = a_target(), roll.Roll(tmp_path)
    one.call(target, a_table(DAEMON))
    target.shepherd = None
    orphaned = {100: a_process(100, parent=1), 101: a_process(101, parent=1, session=101)}

    assert [p.pid for p in one.call(target, orphaned)] == [100, 101]


def test_the_next_agent_is_told_by_the_file(tmp_path):
    roll.Roll(tmp_path).call(a_target(), a_table(DAEMON))
    target = a_target()
    roll.Roll(tmp_path).recall(target)

    assert target.known == {DAEMON.identity}


def test_the_file_is_written_when_the_leavers_change_and_only_then(tmp_path, monkeypatch):
    written, one, target = [], roll.Roll(tmp_path), a_target()
    monkeypatch.setattr(records, "write", lambda path, content, **_: written.append(content["members"]))
    for found in ([], [a_process(102)], [DAEMON], [DAEMON, a_process(102)], [a_process(102)]):
        one.call(target, a_table(*found))

    assert written == [[(101, 1)], []]


def test_a_full_disk_does_not_keep_an_agent_from_knowing(tmp_path, monkeypatch):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(records, "write", full)
    target = a_target()
    roll.Roll(tmp_path).call(target, a_table(DAEMON))

    assert DAEMON.identity in target.known
