"""The procedures over a scripted driver: order of acts, races, and what cannot be shown."""

import asyncio
import signal

import pytest

from scheduler.agent import processes
from scheduler.agent.stop import driver, fake, procedures
from scheduler.protocol import fields

JOB = processes.Identity(100, 1)


def a_target():
    return driver.Target(JOB, None)


def notice(number=0, grace_ms=0, told=None):
    return procedures.Notice(number, grace_ms, None if told is None else told.append)


async def test_a_suspend_gives_notice_then_acts_then_proves():
    how, told = fake.FakeDriver({100: "S", 101: "R"}), []
    result = await procedures.suspend(how, a_target(), notice(told=told))

    assert isinstance(result, procedures.Held)
    assert how.acts == ["notify 20", "hold"]
    assert told == [True]
    assert not result.was_noticed


async def test_what_is_stopped_already_gets_no_notice():
    how = fake.FakeDriver({100: "T"})
    result = await procedures.suspend(how, a_target(), notice())

    assert result.members
    assert "notify 20" not in how.acts


async def test_a_member_that_resists_undoes_the_whole_stop():
    how = fake.FakeDriver({100: "S", 101: "D"}, resists=frozenset({101}))
    result = await procedures.suspend(how, a_target(), notice(), proof_ms=60)

    assert isinstance(result, procedures.NotHeld)
    assert [p.pid for p in result.running] == [101]
    assert how.acts[-1] == "release"
    assert how.members == {100: "S", 101: "S"}


async def test_a_member_that_appears_between_two_looks_is_held_too():
    how = fake.FakeDriver({100: "S"})
    looks = []
    observe = how.observe

    def observe_newcomer(target):
        looks.append(1)
        if len(looks) == 3:
            how.members[101] = "R"
        return observe(target)

    how.observe = observe_newcomer
    result = await procedures.suspend(how, a_target(), notice())

    assert {p.pid: p.state for p in result.members} == {100: "T", 101: "T"}


async def test_a_kill_believes_the_supervisor_that_swept_before_it_searches_the_machine(monkeypatch):
    how, target = fake.FakeDriver({100: "S"}), driver.Target(JOB, processes.Identity(99, 1))
    monkeypatch.setattr(processes, "is_alive", lambda identity: True)
    monkeypatch.setattr(processes, "tree", lambda pid: [])
    how.observe = None
    await procedures.kill(how, target, notice(), before_kill=lambda: None, is_over=lambda: how.members == {})

    assert how.acts == ["kill"]


async def test_a_supervisor_that_does_not_sweep_in_time_is_not_waited_for(monkeypatch):
    how, target = fake.FakeDriver({100: "S"}), driver.Target(JOB, processes.Identity(99, 1))
    monkeypatch.setattr(processes, "is_alive", lambda identity: True)
    monkeypatch.setattr(processes, "tree", lambda pid: [])
    monkeypatch.setattr(procedures, "SWEEP_MS", 30)
    await procedures.kill(how, target, notice(), before_kill=lambda: None, is_over=lambda: False)

    assert how.members == {}


class Chain(fake.FakeDriver):
    """A job of which each look finds another member that has ended already."""

    def observe(self, target):
        target.census |= {processes.Identity(1000 + len(target.census), 1)}
        return super().observe(target)


async def test_who_came_and_went_between_two_looks_shows_that_something_runs():
    how = Chain({100: "S"})
    result = await procedures.suspend(how, a_target(), notice(), proof_ms=60)

    assert isinstance(result, procedures.NotHeld)
    assert how.acts[-1] == "release"


@pytest.mark.parametrize(
    ("how", "holds"),
    [(fake.FakeDriver({100: "T"}), True), (Chain({100: "T"}), False), (fake.FakeDriver({100: "S"}), False)],
)
def test_a_suspended_session_still_holds_when_nothing_runs_and_nothing_has(how, holds):
    target = a_target()
    how.observe(target)

    assert procedures.holds_still(how, target) is holds


async def test_a_suspended_session_of_which_a_member_used_the_processor_does_not_hold():
    how, target = fake.FakeDriver({100: "T"}, used={100: 5}), a_target()
    await procedures.suspend(how, target, notice())

    assert procedures.holds_still(how, target)

    how.used[100] += 10**8

    assert not procedures.holds_still(how, target)


async def test_a_job_that_is_gone_is_held_with_no_member():
    result = await procedures.suspend(fake.FakeDriver({}), a_target(), notice())

    assert result.members == []


async def test_a_resume_is_believed_when_something_runs():
    how = fake.FakeDriver({100: "T"})
    result = await procedures.resume(how, a_target())

    assert result.is_running
    assert how.acts == ["release"]


async def test_a_resume_that_moves_nothing_holds_everything_again():
    how = fake.FakeDriver({100: "T"})
    how.release = lambda target: how.acts.append("release")
    result = await procedures.resume(how, a_target(), timeout_ms=40)

    assert not result.is_running
    assert how.acts == ["release", "hold"]


async def test_a_kill_warns_continues_waits_and_kills():
    how, told, begun = fake.FakeDriver({100: "T"}), [], []
    await procedures.kill(
        how, a_target(), notice(15, 50, told), before_kill=lambda: begun.append(list(how.acts))
    )

    assert how.acts == ["hold", "notify 15", "release", "kill"]
    assert begun == [["hold", "notify 15", "release"]]
    assert told == [True]


@pytest.mark.parametrize("number", [signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU, signal.SIGCONT])
async def test_a_warning_that_a_continue_would_discard_goes_to_what_runs(number):
    how, told = fake.FakeDriver({100: "T"}), []
    await procedures.kill(how, a_target(), notice(int(number), 30, told), before_kill=lambda: None)

    assert how.acts == ["release", f"notify {int(number)}", "kill"]
    assert told == [True]


async def test_who_is_told_of_a_warning_is_told_while_it_still_waits():
    how, states = fake.FakeDriver({100: "S"}), []
    told = procedures.Notice(15, 30, lambda delivered: states.append(dict(how.members)))
    await procedures.kill(how, a_target(), told, before_kill=lambda: None)

    assert states == [{100: "T"}]


async def test_a_warning_that_cannot_be_written_down_leaves_nothing_held():
    def full(delivered):
        raise OSError("full")

    how = fake.FakeDriver({100: "S"})
    with pytest.raises(OSError, match="full"):
        await procedures.kill(how, a_target(), procedures.Notice(15, 30, full), before_kill=lambda: None)

    assert how.members == {100: "S"}


async def test_a_notice_that_was_given_before_is_not_given_twice():
    how = fake.FakeDriver({100: "S"})
    await procedures.suspend(how, a_target(), notice())

    assert how.acts == ["hold"]


async def test_a_job_that_heeds_the_warning_is_not_killed():
    how, begun = fake.FakeDriver({100: "S"}, dies_of=frozenset({15})), []
    await procedures.kill(how, a_target(), notice(15, 60_000, []), before_kill=lambda: begun.append(1))

    assert (how.acts, begun) == (["hold", "notify 15", "release"], [])


async def test_without_grace_there_is_no_warning():
    how, told = fake.FakeDriver({100: "S"}), []
    await procedures.kill(how, a_target(), notice(15, 0, told), before_kill=lambda: None)

    assert (how.acts, told) == (["kill"], [])


async def test_a_warning_that_was_sent_before_is_not_sent_twice():
    how = fake.FakeDriver({100: "S"})
    await procedures.kill(how, a_target(), notice(15, 30), before_kill=lambda: None)

    assert how.acts == ["release", "kill"]


async def test_a_warning_to_a_job_whose_first_process_is_gone_was_not_delivered():
    how, told = fake.FakeDriver({101: "S"}), []
    await procedures.kill(how, a_target(), notice(15, 30, told), before_kill=lambda: None)

    assert told == [False]


async def test_a_kill_in_its_grace_can_be_taken_back():
    how = fake.FakeDriver({100: "S"})
    task = asyncio.create_task(procedures.kill(how, a_target(), notice(15, 60_000), before_kill=lambda: None))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert "kill" not in how.acts
    assert how.members


def test_the_fake_claims_to_be_signals():
    assert fake.FakeDriver({}).method is fields.StopMethod.SIGNALS
