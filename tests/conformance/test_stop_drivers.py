"""One suite for every stop driver, over real processes of every shape."""

import asyncio
import contextlib
import os
import pathlib
import signal
import time

import pytest

from scheduler.agent import processes, records
from scheduler.agent.stop import freezer, procedures, signals
from tests.conformance import jobs, programs

DRIVERS = ["signals", "freezer"]
IS_NIGHT = bool(os.environ.get("XCE_NIGHT"))
#: How long nothing of a suspended session may run, on the kernel's own account in nanoseconds.
WINDOW_S, LONG_WINDOW_S = 3, 60
#: Copies of each shape side by side (by the freezer only at night); how many are being started or stopped at one time.
COPIES, AT_ONCE = 2, 4
BATCHES = range(10 if IS_NIGHT else 1)
#: What befalls a stopped session before it is stopped once more -> who dies of it.
DEATHS = {"stop twice": (), "agent": ("agent",), "shepherd": ("shepherd",), "both": ("agent", "shepherd")}
#: The shapes that go through all of them in CI; at night every shape does.
CROSSED = ("double-forked-daemon", "job-control-shell")
#: Every shape is killed while it is suspended; while it runs, in CI, those alone.
KILLED = [
    pytest.param(program, is_suspended, id=f"{program.name}-{'suspended' if is_suspended else 'running'}")
    for program in programs.STOPPABLE
    for is_suspended in (True, False)
    if is_suspended or IS_NIGHT or program.name in (*CROSSED, "setsid-relay")
]
#: Chains of processes that each fork and end: without a shepherd, who inherits them, they are caught only while held.
CHAINS = ("relay", "setsid-relay")


class Crew:
    """Jobs that are suspended together, and what each looked like when it was."""

    def __init__(self, driver, gate):
        self.driver, self.gate = driver, gate
        self.jobs, self._seen = {}, {}

    async def suspend(self, name, job):
        held = await procedures.suspend(self.driver, job.target, procedures.Notice(0, 300))
        self.jobs[name], self._seen[name] = job, (job.processor_ns(), job.ticks)

        assert isinstance(held, procedures.Held), name
        assert {p.pid for p in job.members()} == {p.pid for p in held.members}, name

    def is_changed(self, name):
        job = self.jobs[name]
        return (job.processor_ns(), job.ticks) != self._seen[name]

    async def resume(self, name):
        job = self.jobs[name]
        async with self.gate:
            ticks = job.ticks
            continued = await procedures.resume(self.driver, job.target)
            await jobs.until(lambda: job.ticks > ticks, f"{name} goes on")
            for member in job.members():
                processes.send(member, signal.SIGKILL)

        assert continued.is_running, name


@pytest.fixture(params=DRIVERS)
def how(request):
    if request.param == "signals":
        return signals.SignalDriver(), None
    root = freezer.delegated_root()
    if root is None:
        pytest.skip("no cgroup v2 directory is delegated to this user")
    return freezer.FreezerDriver(), root


@pytest.mark.parametrize("batch", BATCHES)
@pytest.mark.timeout(600)
async def test_P10_suspended_means_that_no_member_runs_until_it_is_resumed(how, batch, forks, tmp_path):
    """Every shape at once, some of them more than once: suspended, watched, and resumed."""
    driver, root = how
    window_s = LONG_WINDOW_S if IS_NIGHT and batch == 0 else WINDOW_S
    crew = Crew(driver, asyncio.Semaphore(AT_ONCE))
    async with contextlib.AsyncExitStack() as stack:

        async def begin(program, turn):
            place = tmp_path / f"{program.name}-{turn}"
            place.mkdir()
            async with crew.gate:
                job = await stack.enter_async_context(
                    jobs.started(program.argv, place, forks, cgroup_root=root)
                )
                await crew.suspend(place.name, job)

        turns = range(COPIES if root is None or IS_NIGHT else 1)
        await asyncio.gather(*(begin(program, turn) for program in programs.STOPPABLE for turn in turns))
        await asyncio.sleep(window_s)

        assert len(crew.jobs) == len(turns) * len(programs.STOPPABLE)
        assert [name for name in crew.jobs if crew.is_changed(name)] == []

        await asyncio.gather(*(crew.resume(name) for name in crew.jobs))


@pytest.mark.parametrize(("program", "is_suspended"), KILLED)
async def test_a_kill_leaves_no_process_whether_it_ran_or_was_suspended(
    how, program, is_suspended, forks, tmp_path
):
    driver, root = how
    async with jobs.started(program.argv, tmp_path, forks, cgroup_root=root) as job:
        if is_suspended:
            await procedures.suspend(driver, job.target, procedures.Notice(0, 0))
        begun = []
        await procedures.kill(
            driver,
            job.target,
            procedures.Notice(0, 0),
            before_kill=lambda: begun.append(1),
            is_over=(job.directory / records.END).exists,
        )

        assert begun == [1]
        assert job.members() == []
        await jobs.until(lambda: not processes.is_alive(job.target.shepherd), "the shepherd has left")


@pytest.mark.parametrize("death", DEATHS)
@pytest.mark.parametrize(
    "program",
    [p for p in programs.STOPPABLE if IS_NIGHT or p.name in CROSSED],
    ids=lambda program: program.name,
)
async def test_P10_over_every_death_a_session_stays_stopped_is_stopped_again_goes_on_and_is_ended(
    how, program, death, forks, tmp_path
):
    driver, root = how
    async with jobs.started(program.argv, tmp_path, forks, cgroup_root=root) as job:
        crew = Crew(driver, asyncio.Semaphore(1))
        await crew.suspend("it", job)
        if "shepherd" in DEATHS[death]:
            await job.lose_shepherd()
        if "agent" in DEATHS[death]:
            job.adopt()
        again = await procedures.suspend(driver, job.target, procedures.Notice(0, 0))

        assert isinstance(again, procedures.Held)
        assert {p.pid for p in again.members} == {p.pid for p in job.members()}
        assert await jobs.holds(lambda: not crew.is_changed("it"), 0.3)

        if job.target.shepherd is not None or program.name not in CHAINS:
            ticks = job.ticks
            await procedures.resume(driver, job.target)
            await jobs.until(lambda: job.ticks > ticks, "it goes on")
        await procedures.kill(driver, job.target, procedures.Notice(0, 0), before_kill=lambda: None)

        assert job.members() == []


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


async def caught_before_exec(job):
    """Stop a shell's group at the moment when its child has not called exec: a stop meets it now and then."""

    def is_caught():
        os.killpg(job.target.job.pid, signal.SIGSTOP)
        time.sleep(0.005)
        if "D" in {p.state for p in job.members()}:
            return True
        os.killpg(job.target.job.pid, signal.SIGCONT)
        return False

    await jobs.until(is_caught, "a stop between vfork and exec")


async def test_a_stop_that_meets_a_child_before_exec_is_made_true_and_the_session_goes_on(forks, tmp_path):
    driver = signals.SignalDriver()
    async with jobs.started(programs.SPAWNER.argv, tmp_path, forks) as job:
        await caught_before_exec(job)
        held = await procedures.suspend(driver, job.target, procedures.Notice(0, 0), proof_ms=3000)

        assert isinstance(held, procedures.Held)
        assert {p.state for p in job.members()} == {"T"}
        ticks = job.ticks
        await procedures.resume(driver, job.target)
        await jobs.until(lambda: job.ticks > ticks + 2, "the shell goes on")


async def test_a_handler_may_checkpoint_before_the_stop(forks, tmp_path):
    program = next(p for p in programs.STOPPABLE if p.name == "checkpoints-on-sigtstp")
    async with jobs.started(program.argv, tmp_path, forks) as job:
        told = []
        notice = procedures.Notice(0, 5000, told.append)
        result = await procedures.suspend(signals.SignalDriver(), job.target, notice)

        assert result.was_noticed
        assert told == [True]
        assert [p.read_text() for p in (tmp_path / "state" / "checkpoints").glob("*/state")] == ["saved"]


async def test_who_leaves_a_frozen_group_or_thaws_it_is_held_again(forks, tmp_path):
    root = freezer.delegated_root()
    if root is None:
        pytest.skip("no cgroup v2 directory is delegated to this user")
    driver = freezer.FreezerDriver()
    program = next(p for p in programs.STOPPABLE if p.name == "setsid-child")
    async with jobs.started(program.argv, tmp_path, forks, cgroup_root=root) as job:
        group = pathlib.Path(job.target.cgroup)
        leaver = next(p for p in job.members() if p.pid != job.target.job.pid)
        (root / "cgroup.procs").write_text(str(leaver.pid))
        held = await procedures.suspend(driver, job.target, procedures.Notice(0, 0))

        assert {p.pid for p in held.members} == {p.pid for p in job.members()}
        assert leaver.pid in {p.pid for p in held.members}
        ticks, spent = job.ticks, job.processor_ns()
        assert await jobs.holds(lambda: (job.ticks, job.processor_ns()) == (ticks, spent), 0.3)

        (group / "cgroup.freeze").write_text("0")
        await jobs.until(lambda: job.ticks > ticks, "it thawed itself")

        assert not procedures.holds_still(driver, job.target)
        driver.hold(job.target)
        await jobs.until(lambda: driver.is_held(job.target, driver.observe(job.target)), "it is held again")
