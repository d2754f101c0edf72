"""
Stops that come doubled, late and out of order to two agents of one node, which are killed at the worst moments.

A program of its own, since it forks: `python -m tests.scheduler.agent.stop_schedules FIRST LAST` plays the schedules
with these seeds and prints what it counted. In each, a controller stops one session again and again, each time
under a new epoch, and sends every order one to five times to either of two agent processes with the same key and state
directory. The one that holds the lock works; the other takes over when it is killed. The agents, their journals
and their deaths by SIGKILL are real; the session's processes are counted ones: a driver that writes down every
stop in a file. A journal entry that was not synced is lost with its agent, as a power cut would do it.
"""

from __future__ import annotations

import argparse
import asyncio
import collections
import contextlib
import ctypes
import dataclasses
import itertools
import json
import logging
import multiprocessing
import os
import pathlib
import random
import selectors
import signal
import tempfile
import time
from collections.abc import Iterator
from typing import Any

from scheduler.agent import __main__ as program
from scheduler.agent import journal, loop, memory, processes, records, starting, workspace
from scheduler.agent.stop import driver, procedures
from scheduler.protocol import codec, fields, messages, signing

KEY = signing.NodeKey("k1", "n1", b"s" * 32)
KEYS = {KEY.key_id: KEY}
SESSION = "0197b2c4-8d1e-7a3b-9c4d-5e6f7a8b9c0e"
#: Where an agent may die: around every write of the journal, every act on processes, every report.
POINTS = ("before writing", "written", "before acting", "acted", "sent")
DEADLINE_S, AGAIN_S, HEARTBEAT_S, LOOK_S = 20, 0.05, 0.05, 0.002
MOST_DEATHS, MOST_COPIES = 10, 5
#: What is counted of each schedule and must be nothing: orders carried out twice, or not at all; stops without an order
#: for that epoch; orders without an answer; acts before the journal knew of the order; warnings given twice.
FAULTS = ("doubled", "missed", "foreign", "unanswered", "unwritten", "warned twice")


# -- the agent's side: a process of its own


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


# -- the controller's side


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


class Schedule:
    """One story of orders, copies and deaths, drawn from a seed."""

    def __init__(self, seed: int, place: Place, *, syncs: bool) -> None:
        self._chance = random.Random(seed)
        self._place, self._syncs = place, syncs
        self._seq = itertools.count(1)
        self._copies: list[messages.Command] = []
        #: Copies that wait for as many further orders.
        self._late: list[list[messages.Command]] = [[], [], [], []]
        self._answers: dict[str, set[str]] = collections.defaultdict(set)
        self._sent_at: dict[str, float] = {}
        self._deaths = self._unanswered = 0
        self.orders: list[messages.StopCommand] = []
        self.story: list[str] = []
        self.withdrawn: set[str] = set()

    def play(self) -> dict[str, int]:
        """Play it to its end; returns what was counted."""
        job = self._begin()
        self._agents = [self._agent(), self._agent()]
        try:
            for command in self._plan():
                self._order(command)
            self._copies += itertools.chain(*self._late)
            while self._copies:
                self._step()
        finally:
            for agent in self._agents:
                agent.kill()
            with contextlib.suppress(ProcessLookupError):
                os.kill(job, signal.SIGKILL)
            os.waitpid(job, 0)
        return self._count()

    def _begin(self) -> int:
        """Write the journal of a session that runs; returns the pid that stands for its processes."""
        workspace.Workspace(self._place.root, "n1")
        self._place.run_dir.mkdir()
        job = os.fork()
        if job == 0:
            die_with_the_parent()
            while True:
                signal.pause()
        who = processes.look(job)
        assert who is not None
        start = messages.StartCommand(
            command_id=self._new_id(), session=SESSION, epoch=1, attempt=1, argv=("true",)
        )
        launched = {"kind": "launched", "session": SESSION, "boot": processes.boot_id(), "mono_ms": 1}
        identity = [who.pid, who.start_time]
        file = journal.Journal(self._place.journal)
        file.open()
        file.append({"kind": "command", "body": codec.encode(start)}, sync=False)
        file.append({**launched, "shepherd": identity, "job": identity}, sync=False)
        file.close()
        return job

    def _plan(self) -> Any:
        """Yield the orders: stop and resume in turn, some stops taken back, at last perhaps a stop by kill."""
        epoch = 1
        for _ in range(self._chance.randint(1, 3)):
            stop = self._about(messages.StopCommand, epoch, action="suspend", mode="suspend")
            yield stop
            if self.is_withdrawn(stop):
                continue
            epoch += 1
            yield self._about(messages.ResumeCommand, epoch)
            if self._chance.random() < 0.5:
                self._forget_and_repeat(stop)
        if self._chance.random() < 0.5:
            grace_ms = self._chance.choice([0, 20])
            yield self._about(messages.StopCommand, epoch, action="kill", mode="terminate", grace_ms=grace_ms)

    def _forget_and_repeat(self, stop: messages.StopCommand) -> None:
        """Kill both agents and deliver a stop that was carried out, and taken back by a resume, to their successors."""
        for agent in self._agents:
            agent.is_doomed = True
        self._listen()
        self._tell(stop)
        self._tell(stop)

    def _about(self, kind: type[Any], epoch: int, **more: Any) -> Any:
        return kind(command_id=self._new_id(), session=SESSION, epoch=epoch, **more)

    def is_withdrawn(self, stop: messages.Command) -> bool:
        """Say whether a stop was taken back in time."""
        return "withdrawn" in self._answers[stop.command_id]

    def _order(self, command: messages.Command) -> None:
        """Give an order one to five times, and wait for its answer; now and then take a stop back meanwhile."""
        waits = [command]
        self._copies += self._late.pop(0)
        self._late.append([])
        self._issue(command)
        if isinstance(command, messages.StopCommand):
            self.orders.append(command)
            if command.action is fields.StopAction.SUSPEND and self._chance.random() < 0.3:
                for _ in range(self._chance.randint(0, 4)):
                    self._step()
                withdrawal = self._about(messages.WithdrawCommand, command.epoch, stops=command.command_id)
                self.withdrawn.add(command.command_id)
                self._issue(withdrawal)
                waits.append(withdrawal)
        end = time.monotonic() + DEADLINE_S
        while not all(self._answers[one.command_id] for one in waits):
            if time.monotonic() > end:
                self._note(f"never answered {command.command_id}")
                self._unanswered += 1
                break
            self._step()
            for one in waits:
                self._send_again(one)

    def _issue(self, command: messages.Command) -> None:
        """Send one copy soon, and up to four more: soon, or only after further orders."""
        self._copies.append(command)
        for _ in range(self._chance.randrange(MOST_COPIES)):
            later = self._chance.choice([0, 1, 2, 3])
            (self._late[later] if later else self._copies).append(command)
        self._sent_at[command.command_id] = time.monotonic()

    def _send_again(self, command: messages.Command) -> None:
        """Do as the controller does: what is not answered is sent again."""
        now = time.monotonic()
        if now - self._sent_at[command.command_id] > AGAIN_S and not self._answers[command.command_id]:
            self._sent_at[command.command_id] = now
            self._copies.append(command)

    def _step(self) -> None:
        """Deliver one copy, any one, to either agent; or let time pass; or kill one."""
        what = self._chance.random()
        if what < 0.5 and self._copies:
            copy = self._copies.pop(self._chance.randrange(len(self._copies)))
            self._tell(copy)
        elif what < 0.55 and self._deaths < MOST_DEATHS:
            self._chance.choice(self._agents).is_doomed = True
        self._listen()

    def _tell(self, message: messages.Message) -> None:
        if isinstance(message, messages.Command):
            self._note(f"send {message.TYPE} {message.command_id} {message.epoch}")
        text = signing.seal(message, key=KEY, boot="controller", seq=next(self._seq))
        self._chance.choice(self._agents).tell(text)

    def _listen(self) -> None:
        with selectors.DefaultSelector() as ready:
            for agent in self._agents:
                ready.register(agent.outbox, selectors.EVENT_READ)
            ready.select(self._chance.choice([0, 0.001, 0.004]))
        for number, agent in enumerate(self._agents):
            said = agent.hear()
            for text in said or []:
                self._take(text)
            if said is None or agent.is_doomed:
                self._note("death")
                agent.kill()
                self._agents[number] = self._agent()

    def _take(self, text: str) -> None:
        envelope = signing.open_envelope(text, keys=KEYS, direction="up")
        report = envelope.body
        assert isinstance(report, messages.Report)
        if report.command_id:
            self._note(f"hear {report.TYPE} {report.command_id} {report.epoch}")
            self._answers[report.command_id].add(report.TYPE)
        if report.session and self._chance.random() < 0.7:
            self._tell(messages.AckCommand(reports=((envelope.boot, envelope.seq),)))

    def _agent(self) -> Agent:
        """Start an agent that dies somewhere, until enough have died."""
        self._deaths += 1
        if self._deaths > MOST_DEATHS or self._chance.random() < 0.2:
            return Agent(self._place, Death(), syncs=self._syncs)
        death = Death(self._chance.choice(POINTS), self._chance.randint(1, 12))
        return Agent(self._place, death, syncs=self._syncs)

    def _note(self, what: str) -> None:
        """Keep what happened, with what the agents did before it."""
        done = [line for line in self.story if line.startswith("act")]
        new = World(self._place.acts).acts[len(done) :]
        self.story += [f"act {act['what']} {act['now']} {act['order']} {act['epoch']}" for act in new]
        self.story.append(what)

    def _new_id(self) -> str:
        text = f"{self._chance.getrandbits(128):032x}"
        return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))

    # -- judgement

    def _count(self) -> dict[str, int]:
        acts = World(self._place.acts).acts
        changes = [act for act in acts if act["now"] in ("T", "X")]
        stops = collections.Counter(act["order"] for act in changes)
        return {
            "stops": len(changes),
            "deaths": self._deaths - 2,
            "doubled": sum(most > 1 for most in stops.values()),
            "missed": sum(not self._is_carried_out(order, stops) for order in self.orders),
            "foreign": sum(not self._is_ours(act) for act in changes),
            "unanswered": self._unanswered,
            "unwritten": sum(not act["known"] for act in acts),
            "warned twice": sum(
                most > 1
                for most in collections.Counter(a["order"] for a in acts if a["what"] == "warn").values()
            ),
        }

    def _is_carried_out(self, order: messages.StopCommand, stops: collections.Counter[str]) -> bool:
        return stops[order.command_id] == 1 or order.command_id in self.withdrawn

    def _is_ours(self, act: dict[str, Any]) -> bool:
        """Say whether a stop was ordered for the epoch in which it was carried out."""
        return any((o.command_id, o.epoch) == (act["order"], act["epoch"]) for o in self.orders)


def die_with_the_parent() -> None:
    """Leave nothing behind when the test is ended by force."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


def play(job: tuple[int, bool]) -> tuple[dict[str, int], list[str]]:
    """Play one schedule; returns what was counted, and its story."""
    seed, syncs = job
    with tempfile.TemporaryDirectory(prefix="xce-stops-", ignore_cleanup_errors=True) as scratch:
        schedule = Schedule(seed, Place(pathlib.Path(scratch)), syncs=syncs)
        return schedule.play(), schedule.story


def main() -> None:
    """Play schedules and print the sums, and the seeds that went wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("first", type=int)
    parser.add_argument("last", type=int)
    parser.add_argument(
        "--no-sync", action="store_true", help="lose every entry of the journal with its agent"
    )
    options = parser.parse_args()
    seeds = range(options.first, options.last + 1)
    sums: collections.Counter[str] = collections.Counter()
    wrong: dict[int, list[str]] = {}
    with multiprocessing.get_context("fork").Pool(4, die_with_the_parent) as pool:
        counts = pool.imap(play, [(seed, not options.no_sync) for seed in seeds])
        for seed, (count, story) in zip(seeds, counts, strict=True):
            sums.update(count)
            if any(count[name] for name in FAULTS):
                wrong[seed] = story
    print(json.dumps({"schedules": len(seeds), **sums, "wrong": wrong}))


if __name__ == "__main__":
    main()
