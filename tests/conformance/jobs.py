"""A job under a real shepherd, without an agent: started, looked at, and gone when the test ends."""

from __future__ import annotations

import asyncio
import contextlib
import pathlib
import signal
import time
import uuid
from collections.abc import AsyncIterator, Callable

from scheduler.agent import processes, records, spawner, starting, workspace
from scheduler.agent.stop import driver, freezer
from scheduler.protocol import messages

DEADLINE_S = 20


class Job:
    """A started program and what a test asks about it."""

    def __init__(self, target: driver.Target, directory: pathlib.Path, ticks: pathlib.Path) -> None:
        self.target = target
        self.directory = directory
        self._ticks = ticks

    @property
    def output(self) -> str:
        """What it has written so far."""
        with contextlib.suppress(OSError):
            return (self.directory / records.OUTPUT).read_text(errors="replace")
        return ""

    @property
    def ticks(self) -> int:
        """How often anything of it has run."""
        return self._ticks.stat().st_size if self._ticks.exists() else 0

    def members(self) -> list[processes.Process]:
        """Living processes with this session's mark in their environment, wherever they are."""
        marked = processes.carrying(f"XCE_SESSION_ID={self.directory.name.rpartition('.')[0]}")
        return [p for i in marked if (p := processes.look(i.pid)) is not None and not p.is_dead]

    def adopt(self) -> None:
        """Know of it what an agent knows that has just been started."""
        old = self.target
        self.target = driver.Target(old.job, old.shepherd, old.cgroup, run=old.run)

    async def lose_shepherd(self) -> None:
        """Kill the shepherd."""
        shepherd = self.target.shepherd
        assert shepherd is not None
        processes.send(shepherd, signal.SIGKILL)
        await until(lambda: not processes.is_alive(shepherd), "the shepherd is dead")
        self.target.shepherd = None

    def processor_ns(self) -> dict[tuple[int, str], int]:
        """Time on a processor in ns, by process and thread."""
        spent = {}
        for member in self.members():
            for task in pathlib.Path(f"/proc/{member.pid}/task").iterdir():
                spent[member.pid, task.name] = int((task / "schedstat").read_text().split()[0])
        return spent


async def until(is_so: Callable[[], object], what: str = "") -> None:
    """Wait until something is so; fail at the deadline."""
    deadline = time.monotonic() + DEADLINE_S
    while not is_so():
        assert time.monotonic() < deadline, f"never came to be: {what}"
        await asyncio.sleep(0.005)


async def holds(is_so: Callable[[], object], seconds: float) -> bool:
    """Look again and again for some time; return whether it was so at every look."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if not is_so():
            return False
        await asyncio.sleep(0.01)
    return True


@contextlib.asynccontextmanager
async def started(
    argv: tuple[str, ...],
    place: pathlib.Path,
    forks: spawner.Spawner,
    *,
    cgroup_root: pathlib.Path | None = None,
) -> AsyncIterator[Job]:
    """
    Start a program under a shepherd and wait until it says `ready`; end it and its control group after the
    test.
    """
    command = messages.StartCommand(
        command_id=str(uuid.uuid4()),
        session=str(uuid.uuid4()),
        epoch=1,
        attempt=1,
        argv=argv,
        env={"TICKS": str(place / "ticks")},
    )
    space = workspace.Workspace(place / "state", "n1")
    means = starting.Means(None, space, forks, cgroup_root=cgroup_root)
    record = await starting.start(command, means, ())
    identities = [processes.Identity(*record[name]) for name in ("job", "shepherd")]
    directory = space.run_dir(command.session, 1)
    job = Job(
        driver.Target(
            *identities, records.read(directory / records.SPEC)["cgroup"], run=(command.session, 1)
        ),
        directory,
        place / "ticks",
    )
    try:
        await until(lambda: "ready" in job.output, f"the program is ready; it said: {job.output}")
        yield job
    finally:
        await _end(job)


async def _end(job: Job) -> None:
    for member in job.members():
        processes.send(member, signal.SIGKILL)
    if job.target.cgroup:
        freezer.FreezerDriver().kill(job.target, [])
    await until(lambda: not job.members() and not processes.is_alive(job.target.shepherd), "the job is gone")
    freezer.drop_group(job.target.cgroup)
