"""
An agent of its own process for the schedules of stops: real but for its processes, and killed where it hurts.

Its journal loses what was not synced, as a power cut would have it; its session's processes are counted ones: a driver
that writes down every stop in a file. Its wall clock is wrong, and jumps (P17).
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import dataclasses
import itertools
import json
import logging
import os
import pathlib
import signal
import time
from collections.abc import Iterator
from typing import Any

from scheduler.agent import __main__ as program
from scheduler.agent import journal, loop, memory, processes, records, schedstat, starting, workspace
from scheduler.agent.stop import driver, procedures
from scheduler.protocol import fields, signing

KEY = signing.NodeKey("k1", "n1", b"s" * 32)
SESSION = "0197b2c4-8d1e-7a3b-9c4d-5e6f7a8b9c0e"
#: Where an agent may die: around every write of the journal, every act on processes, every report.
POINTS = ("before writing", "written", "before acting", "acted", "sent")
HEARTBEAT_S, LOOK_S = 0.05, 0.002
#: By how much the wall clock is wrong, reading after reading, in seconds.
_WRONG_S = (3600, -3600, 600, 0, -600)


@dataclasses.dataclass(frozen=True)
class Place:
    """Where one schedule has its files."""

    root: pathlib.Path

    @property
    def journal(self) -> pathlib.Path:
        """The agent's journal."""
        return self.root / "journal"

    @property
    def acts(self) -> pathlib.Path:
        """What the driver did."""
        return self.root / "acts"

    @property
    def run_dir(self) -> pathlib.Path:
        """The directory of the session's run."""
        return self.root / "sessions" / f"{SESSION}.1"


class Death:
    """Kills this process at the n-th time that it passes a point."""

    def __init__(self, point: str = "", nth: int = 0) -> None:
        self._point, self._left = point, nth

    def passes(self, point: str) -> None:
        """Pass a point, perhaps for the last time."""
        if point == self._point:
            self._left -= 1
            if self._left == 0:
                os.kill(os.getpid(), signal.SIGKILL)


class Journal(journal.Journal):
    """A journal whose unsynced entries do not outlive its process; with `syncs` off, no entry does."""

    def __init__(self, path: pathlib.Path, death: Death, *, syncs: bool) -> None:
        super().__init__(path)
        self._death, self._syncs = death, syncs
        self._unsynced: list[journal.Entry] = []

    def append(self, entry: journal.Entry, *, sync: bool = True) -> None:
        """Add one entry."""
        self._death.passes("before writing")
        self._unsynced.append(entry)
        if sync and self._syncs:
            for one in self._unsynced:
                super().append(one, sync=False)
            self._unsynced.clear()
        self._death.passes("written")


class World:
    """The session's processes: running, stopped or dead, as the last line of a file says."""

    def __init__(self, path: pathlib.Path) -> None:
        self.path = path

    @property
    def acts(self) -> list[dict[str, Any]]:
        """Every change so far."""
        with contextlib.suppress(FileNotFoundError):
            return [json.loads(line) for line in self.path.read_text().splitlines()]
        return []

    @property
    def state(self) -> str:
        """State letter of the session's process, X when there is none."""
        changes = [act["now"] for act in self.acts if act["now"]]
        return changes[-1] if changes else "S"

    def write(self, act: dict[str, Any]) -> None:
        """Let something happen."""
        descriptor = os.open(self.path, os.O_CREAT | os.O_WRONLY | os.O_APPEND)
        os.write(descriptor, json.dumps(act).encode() + b"\n")
        os.close(descriptor)


class CountingDriver:
    """Stops and continues the session of a world, and notes for which order, and what the journal knew."""

    method = fields.StopMethod.SIGNALS

    def __init__(self, place: Place, death: Death) -> None:
        self._place, self._death, self._world = place, death, World(place.acts)
        self.store: memory.Memory | None = None

    def observe(self, target: driver.Target) -> list[processes.Process]:
        """Return the one process, if it lives."""
        state, pid = self._world.state, target.job.pid
        if state == "X":
            return []
        return [processes.Process(pid, target.job.start_time, state, 1, pid, pid, 1, 0, 0)]

    def is_held(self, target: driver.Target, members: list[processes.Process]) -> bool:
        """Say whether it is stopped."""
        return all(process.state == "T" for process in members)

    def spent(self, members: list[processes.Process]) -> schedstat.Spent:
        """Say nothing."""
        return {}

    def notify(self, target: driver.Target, number: int, *, everyone: bool) -> bool:
        """Note the signal."""
        self._act("warn" if everyone else "notice", "")
        return True

    def hold(self, target: driver.Target) -> None:
        """Stop it."""
        self._act("stop", "T" if self._world.state == "S" else "")

    def release(self, target: driver.Target) -> None:
        """Continue it."""
        self._act("continue", "S" if self._world.state == "T" else "")

    def kill(self, target: driver.Target, members: list[processes.Process]) -> None:
        """End it; the supervisor (the same process here) writes its record and leaves."""
        self._act("kill", "X" if self._world.state != "X" else "")

    def _act(self, what: str, now: str) -> None:
        assert self.store is not None
        run = self.store.book.runs[SESSION]
        order = run.stop.command_id if run.stop else ""
        known = not order or order in self._place.journal.read_text()
        self._death.passes("before acting")
        with unkilled():
            self._world.write({"what": what, "now": now, "epoch": run.epoch, "order": order, "known": known})
            if now == "X":
                records.write(
                    self._place.run_dir / records.END,
                    {"code": None, "signal": 9, "cpu_ms": 1, "peak_bytes": 1},
                )
                os.kill(run.job.pid, signal.SIGKILL)
        self._death.passes("acted")


@contextlib.contextmanager
def unkilled() -> Iterator[None]:
    """Let a kill from outside wait until an act and its note are one."""
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
    yield
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM])


class Wire:
    """Lines of text over two pipes."""

    def __init__(self, inbox: int, outbox: int, death: Death) -> None:
        self._inbox, self._outbox, self._death = inbox, outbox, death
        self._text = b""
        self.agent: loop.Agent | None = None

    def start(self) -> None:
        """Read from now on."""
        asyncio.get_running_loop().add_reader(self._inbox, self._read)

    def _read(self) -> None:
        assert self.agent is not None
        data = os.read(self._inbox, 65536)
        if not data:
            os._exit(0)
        *lines, self._text = (self._text + data).split(b"\n")
        for line in lines:
            self.agent.on_command(line.decode())

    def send(self, text: str, *, expires_s: int | None = None) -> None:
        """Write one line."""
        os.write(self._outbox, text.encode() + b"\n")
        self._death.passes("sent")

    def stop(self) -> None:
        """Nothing is left to do."""


def be_an_agent(place: Place, pipes: tuple[int, int], death: Death, *, syncs: bool) -> None:
    """Wait for the lock, then be the agent of the node until somebody kills this process."""
    logging.disable(logging.CRITICAL)
    procedures.LOOK_S = LOOK_S
    real, wrong_s = time.time, itertools.cycle(_WRONG_S)
    time.time = lambda: real() + next(wrong_s)
    while True:
        with contextlib.suppress(program.UsageError):
            program._lock(place.root / "lock")
            break
        time.sleep(0.005)
    how = CountingDriver(place, death)
    store = memory.Memory(Journal(place.journal, death, syncs=syncs), boot=processes.boot_id())
    store.load()
    how.store = store
    means = starting.Means(
        store, workspace.Workspace(place.root, "n1"), None, choose_driver=lambda group: how
    )  # type: ignore[arg-type]
    wire = Wire(*pipes, death)
    wire.agent = loop.Agent(means, loop.Options(KEY, heartbeat_s=HEARTBEAT_S))
    asyncio.run(wire.agent.run(wire))


class Agent:
    """One agent process, seen from outside."""

    def __init__(self, place: Place, death: Death, *, syncs: bool) -> None:
        self.is_doomed = False
        theirs_in, self.inbox = os.pipe()
        self.outbox, theirs_out = os.pipe()
        self._text = b""
        self.pid = os.fork()
        if self.pid == 0:
            die_with_the_parent()
            with contextlib.suppress(BaseException):
                os.close(self.inbox)
                be_an_agent(place, (theirs_in, theirs_out), death, syncs=syncs)
            os._exit(1)
        os.close(theirs_in)
        os.close(theirs_out)
        os.set_blocking(self.outbox, False)

    def tell(self, text: str) -> None:
        """Deliver a text, if it still lives."""
        with contextlib.suppress(BrokenPipeError):
            os.write(self.inbox, text.encode() + b"\n")

    def hear(self) -> list[str] | None:
        """Return what it has said since; None when it is dead."""
        try:
            data = os.read(self.outbox, 1 << 20)
        except BlockingIOError:
            return []
        if not data:
            return None
        *lines, self._text = (self._text + data).split(b"\n")
        return [line.decode() for line in lines]

    def kill(self) -> None:
        """Kill it, wherever it is but within an act, and bury it. Nobody catches SIGTERM: it kills at once."""
        os.kill(self.pid, signal.SIGTERM)
        os.waitpid(self.pid, 0)
        os.close(self.inbox)
        os.close(self.outbox)


def die_with_the_parent() -> None:
    """Leave nothing behind when the test is ended by force."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)
