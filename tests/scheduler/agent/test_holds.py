"""A suspended run is looked at again, by this agent and by the next."""

import errno

from scheduler.agent import accounting, holds, processes, records
from scheduler.agent.stop import driver, fake

JOB = processes.Identity(100, 1)


def a_hold(place, how):
    target = driver.Target(JOB, None)
    return holds.Hold(place, how, target, accounting.Usage()), target


def proven(place):
    """Return a hold with its proof given, and driver and target."""
    how = fake.FakeDriver({100: "T"}, used={100: 7})
    hold, target = a_hold(place, how)
    target.spent = how.spent(how.observe(target))
    hold.prove(how.observe(target), warned=True)
    return hold, how


def test_what_stands_still_is_not_told(tmp_path):
    hold, _ = proven(tmp_path)

    assert hold.look("s") is None


def test_who_ran_and_was_stopped_before_the_look_is_told_three_times_at_most(tmp_path):
    hold, how = proven(tmp_path)
    told = []
    for _ in range(5):
        how.used[100] += 10**9
        told.append(hold.look("s"))

    assert [report is not None for report in told] == [True, True, True, False, False]
    assert [m.state for m in told[0].members] == ["T"]
    assert not told[0].warned


def test_the_next_agent_compares_with_the_proof_of_the_one_before(tmp_path):
    _, how = proven(tmp_path)
    how.used[100] += 10**9
    successor, _ = a_hold(tmp_path, how)
    successor.recall()

    assert successor.look("s") is not None


def test_a_full_disk_keeps_no_proof_from_being_told(tmp_path, monkeypatch):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(records, "write", full)
    hold, _ = proven(tmp_path)

    assert hold.prove([]).members == ()


def test_what_cannot_be_stopped_again_is_not_told_as_stopped(tmp_path):
    hold, how = proven(tmp_path)
    how.members, how.resists = {100: "S"}, frozenset({100})

    assert hold.look("s") is None
