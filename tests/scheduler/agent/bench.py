"""
A whole agent in the test's own event loop, with a wire that the test holds in its hand instead of a broker.

`restart` ends the agent and starts another one on the same state directory, as an upgrade would.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import pathlib
import time
import uuid
from collections.abc import Callable
from typing import Any, TypeVar

from scheduler.agent import journal, loop, memory, processes, spawner, starting, workspace
from scheduler.protocol import messages, signing
from tests.conformance import programs

KEY = signing.NodeKey("k1", "n1", b"s" * 32)
KEYS = {KEY.key_id: KEY}
DEADLINE_S = 30
R = TypeVar("R", bound=messages.Report)


class Wire:
    """Takes what the agent sends."""

    def __init__(self) -> None:
        self.envelopes: list[signing.Envelope] = []
        self.texts: list[str] = []
        self.is_up = False

    def start(self) -> None:
        """Come up."""
        self.is_up = True

    def send(self, text: str, *, expires_s: int | None = None) -> None:
        """Take one text up."""
        self.texts.append(text)
        self.envelopes.append(signing.open_envelope(text, keys=KEYS, direction="up"))

    def stop(self) -> None:
        """Go down."""
        self.is_up = False


class Bench:
    """See the module."""

    def __init__(
        self, place: pathlib.Path, forks: spawner.Spawner, *, multi_user: bool = False, **means: Any
    ) -> None:
        self.place = place
        self.forks = forks
        self.wire = Wire()
        self.space = workspace.Workspace(place / "state", "n1", multi_user=multi_user)
        self.more_means = means
        self.boot = processes.boot_id()
        self.options = loop.Options(KEY, heartbeat_s=0.1)
        self._seq = itertools.count(1)
        self._task: asyncio.Task[None] | None = None

    async def up(self) -> None:
        """Start the agent and connect it."""
        self.memory = memory.Memory(journal.Journal(self.space.root / "journal"), boot=self.boot)
        self.memory.load()
        self.means = starting.Means(self.memory, self.space, self.forks, **self.more_means)
        self.agent = loop.Agent(self.means, self.options)
        self._task = asyncio.get_running_loop().create_task(self.agent.run(self.wire))
        await self.until(lambda: self.wire.is_up, "the agent is up")
        greeted = len(self.reports(messages.Hello))
        self.agent.on_connected()
        await self.until(lambda: len(self.reports(messages.Hello)) > greeted, "the agent said hello")

    async def down(self) -> None:
        """End the agent; sessions run on."""
        if self._task is not None:
            self.agent.stop()
            await self._task
            self.memory.close()
        self._task = None

    async def restart(self) -> None:
        """Put another agent in the place of this one."""
        await self.down()
        await self.up()

    def tell(self, command: messages.Message, *, key: signing.NodeKey = KEY) -> None:
        """Send a command in the present version."""
        seq, version = next(self._seq), messages.VERSION
        self.agent.on_command(signing.seal(command, key=key, boot="c", seq=seq, version=version))

    def reports(self, kind: type[R]) -> list[R]:
        """Return what was sent of one kind so far."""
        return [e.body for e in self.wire.envelopes if type(e.body) is kind]

    async def report(self, kind: type[R], **facts: Any) -> R:
        """Wait for a report of this kind with these values, and return it."""

        def found() -> list[R]:
            return [r for r in self.reports(kind) if all(getattr(r, k) == v for k, v in facts.items())]

        await self.until(found, f"a report {kind.TYPE} {facts}; there are {self.wire.envelopes[-5:]}")
        return found()[-1]

    async def ask(self, command: messages.Command, kind: type[R]) -> R:
        """Send a command and wait for its answer of this kind."""
        self.tell(command)
        return await self.report(kind, command_id=command.command_id)

    async def until(self, is_so: Callable[[], object], what: str) -> None:
        """Wait until something is so; fail at the deadline."""
        deadline = time.monotonic() + DEADLINE_S
        while not is_so():
            assert time.monotonic() < deadline, f"never came to be: {what}"
            await asyncio.sleep(0.005)

    async def started(self, code: str = "", **more: Any) -> Run:
        """
        Start a Python program (see `programs`) that says `ready`, or what `more` says, and wait until it
        runs.
        """
        if code:
            more["argv"] = programs.python(code)
        command = a_start(**more)
        report = await self.ask(command, messages.Started)
        run = Run(self, command, report.pid)
        if code:
            await self.until(lambda: "ready" in run.output, f"the program is ready; it said {run.output}")
        return run

    async def clear(self) -> None:
        """End every session, then the agent."""
        for run in list(self.memory.book.runs.values()):
            marked = processes.carrying(f"XCE_SESSION_ID={run.session}")
            for identity in marked:
                processes.send(identity, 9)
            await self.until(lambda r=run: not processes.is_alive(r.shepherd), "the shepherd has left")
        await self.down()


class Run:
    """A session that the bench has started."""

    def __init__(self, bench: Bench, start: messages.StartCommand, pid: int) -> None:
        self.bench = bench
        self.start = start
        self.pid = pid
        self.directory = bench.space.run_dir(start.session, start.epoch)

    @property
    def session(self) -> str:
        """Its UUID."""
        return self.start.session

    @property
    def output(self) -> str:
        """What it has written."""
        with contextlib.suppress(OSError):
            return (self.directory / "output").read_text(errors="replace")
        return ""

    @property
    def members(self) -> list[processes.Process]:
        """Its living processes, wherever they went."""
        seen = (processes.look(i.pid) for i in processes.carrying(f"XCE_SESSION_ID={self.session}"))
        return [process for process in seen if process is not None and not process.is_dead]

    @property
    def shepherd(self) -> processes.Identity:
        """Its supervisor."""
        known = self.bench.memory.book.runs[self.session].shepherd
        assert known is not None
        return known

    def about(self, kind: type[Any], **more: Any) -> Any:
        """Make a command about this session, for its first epoch unless said otherwise."""
        return kind(**{"command_id": new_id(), "session": self.session, "epoch": self.start.epoch} | more)

    def suspend(self, **more: Any) -> messages.StopCommand:
        """Make a stop of mode suspend."""
        return self.about(messages.StopCommand, action="suspend", mode="suspend", **more)

    def end(self, **more: Any) -> messages.StopCommand:
        """Make a stop by kill, of mode reschedule."""
        return self.about(messages.StopCommand, action="kill", mode="reschedule", **more)

    def kill(self, **more: Any) -> messages.KillCommand:
        """Make a kill at once."""
        return self.about(messages.KillCommand, **{"cause": "cancelled", "grace_ms": 0} | more)


def a_start(**more: Any) -> messages.StartCommand:
    """Make a start of a program that does nothing for long."""
    what = {} if "script" in more else {"argv": ("sleep", "1000")}
    ids = {"command_id": new_id(), "session": new_id(), "epoch": 1, "attempt": 1}
    return messages.StartCommand(**ids | what | more)


def new_id() -> str:
    """Return a new UUID."""
    return str(uuid.uuid4())
