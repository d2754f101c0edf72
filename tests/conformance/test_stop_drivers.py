"""One suite for every stop driver, over real processes of every shape."""

import pytest

from scheduler.agent import processes
from scheduler.agent.stop import freezer, procedures, signals
from tests.conformance import jobs, programs

DRIVERS = ["signals", "freezer"]
WINDOW_S = 0.15


@pytest.fixture(params=DRIVERS)
def how(request):
    if request.param == "signals":
        return signals.SignalDriver(), None
    root = freezer.delegated_root()
    if root is None:
        pytest.skip("no cgroup v2 directory is delegated to this user")
    return freezer.FreezerDriver(), root


def shapes():
    return pytest.mark.parametrize("program", programs.STOPPABLE, ids=lambda program: program.name)


@shapes()
async def test_P10_suspended_means_that_no_member_runs_until_it_is_resumed(how, program, forks, tmp_path):
    driver, root = how
    async with jobs.started(program.argv, tmp_path, forks, cgroup_root=root) as job:
        held = await procedures.suspend(driver, job.target, procedures.Notice(0, 300))
        spent, ticks = job.processor_ns(), job.ticks

        assert isinstance(held, procedures.Held)
        assert {p.pid for p in job.members()} == {p.pid for p in held.members}
        assert await jobs.holds(lambda: (job.processor_ns(), job.ticks) == (spent, ticks), WINDOW_S)

        continued = await procedures.resume(driver, job.target)

        assert continued.is_running
        await jobs.until(lambda: job.ticks > ticks, "the counter goes on")


@shapes()
async def test_a_kill_leaves_no_process_whether_it_ran_or_was_suspended(how, program, forks, tmp_path):
    driver, root = how
    async with jobs.started(program.argv, tmp_path, forks, cgroup_root=root) as job:
        await procedures.suspend(driver, job.target, procedures.Notice(0, 0))
        begun = []
        await procedures.kill(
            driver, job.target, procedures.Notice(0, 0), before_kill=lambda: begun.append(1)
        )

        assert begun == [1]
        assert job.members() == []
        await jobs.until(lambda: not processes.is_alive(job.target.shepherd), "the shepherd has left")


async def test_signals_show_every_member_in_state_T(forks, tmp_path):
    program = next(p for p in programs.STOPPABLE if p.name == "double-forked-daemon")
    async with jobs.started(program.argv, tmp_path, forks) as job:
        await procedures.suspend(signals.SignalDriver(), job.target, procedures.Notice(0, 0))

        assert {p.state for p in job.members()} == {"T"}


async def test_a_stop_that_cannot_be_shown_is_undone_and_names_who_resisted(forks, tmp_path):
    driver = signals.SignalDriver()
    async with jobs.started(programs.VFORK.argv, tmp_path, forks) as job:
        await jobs.until(lambda: any(p.state == "D" for p in job.members()), "the vfork parent waits")
        result = await procedures.suspend(driver, job.target, procedures.Notice(0, 0), proof_ms=200)

        assert isinstance(result, procedures.NotHeld)
        assert "D" in {p.state for p in result.running}
        ticks = job.ticks
        await jobs.until(lambda: job.ticks > ticks, "the first process runs on")


async def test_a_handler_may_checkpoint_before_the_stop(forks, tmp_path):
    program = next(p for p in programs.STOPPABLE if p.name == "checkpoints-on-sigtstp")
    async with jobs.started(program.argv, tmp_path, forks) as job:
        told = []
        notice = procedures.Notice(0, 5000, told.append)
        result = await procedures.suspend(signals.SignalDriver(), job.target, notice)

        assert result.was_noticed
        assert told == [True]
        assert [p.read_text() for p in (tmp_path / "state" / "checkpoints").glob("*/state")] == ["saved"]
