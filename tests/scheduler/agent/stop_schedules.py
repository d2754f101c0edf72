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
import collections
import contextlib
import itertools
import json
import multiprocessing
import os
import pathlib
import random
import selectors
import signal
import tempfile
import time
from typing import Any

from scheduler.agent import journal, processes, workspace
from scheduler.protocol import codec, fields, messages, signing
from tests.scheduler.agent import doubled_agent, stop_judge
from tests.scheduler.agent.doubled_agent import KEY, SESSION

KEYS = {KEY.key_id: KEY}
DEADLINE_S, AGAIN_S = 20, 0.05
MOST_DEATHS, MOST_COPIES = 10, 5


class Schedule:
    """One story of orders, copies and deaths, drawn from a seed."""

    def __init__(self, seed: int, place: doubled_agent.Place, *, syncs: bool) -> None:
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
        self._withdrawals: dict[str, str] = {}

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
            doubled_agent.die_with_the_parent()
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
        return "withdrawn" in self._answers[self._withdrawals.get(stop.command_id, "")]

    def _order(self, command: messages.Command) -> None:
        """Give an order one to five times, and wait for its answer; now and then take a stop back meanwhile."""
        waits = [command]
        self._copies += self._late.pop(0)
        self._late.append([])
        self._issue(command)
        if isinstance(command, messages.StopCommand):
            self.orders.append(command)
            if command.action == fields.StopAction.SUSPEND and self._chance.random() < 0.3:
                for _ in range(self._chance.randint(0, 4)):
                    self._step()
                withdrawal = self._about(messages.WithdrawCommand, command.epoch, stops=command.command_id)
                self.withdrawn.add(command.command_id)
                self._withdrawals[command.command_id] = withdrawal.command_id
                self._issue(withdrawal)
                waits = [withdrawal]
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

    def _agent(self) -> doubled_agent.Agent:
        """Start an agent that dies somewhere, until enough have died."""
        self._deaths += 1
        if self._deaths > MOST_DEATHS or self._chance.random() < 0.2:
            return doubled_agent.Agent(self._place, doubled_agent.Death(), syncs=self._syncs)
        death = doubled_agent.Death(self._chance.choice(doubled_agent.POINTS), self._chance.randint(1, 12))
        return doubled_agent.Agent(self._place, death, syncs=self._syncs)

    def _note(self, what: str) -> None:
        """Keep what happened, with what the agents did before it."""
        done = [line for line in self.story if line.startswith("act")]
        new = doubled_agent.World(self._place.acts).acts[len(done) :]
        self.story += [f"act {act['what']} {act['now']} {act['order']} {act['epoch']}" for act in new]
        self.story.append(what)

    def _new_id(self) -> str:
        text = f"{self._chance.getrandbits(128):032x}"
        return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))

    def _count(self) -> dict[str, int]:
        found = stop_judge.count(doubled_agent.World(self._place.acts).acts, self.orders, self.withdrawn)
        return {**found, "deaths": self._deaths - 2, "unanswered": self._unanswered}


def play(job: tuple[int, bool]) -> tuple[dict[str, int], list[str]]:
    """Play one schedule; returns what was counted, and its story."""
    seed, syncs = job
    with tempfile.TemporaryDirectory(prefix="xce-stops-", ignore_cleanup_errors=True) as scratch:
        schedule = Schedule(seed, doubled_agent.Place(pathlib.Path(scratch)), syncs=syncs)
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
    with multiprocessing.get_context("fork").Pool(4, doubled_agent.die_with_the_parent) as pool:
        counts = pool.imap(play, [(seed, not options.no_sync) for seed in seeds])
        for seed, (count, story) in zip(seeds, counts, strict=True):
            sums.update(count)
            if any(count[name] for name in stop_judge.FAULTS):
                wrong[seed] = story
    print(json.dumps({"schedules": len(seeds), **sums, "wrong": wrong}))


if __name__ == "__main__":
    main()
