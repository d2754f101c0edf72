"""One course of events: writers race and roll back, readers are cut off, hints are lost, the server ends."""

from __future__ import annotations

import asyncio
import dataclasses
import itertools
import random
import signal
import threading
import time
from collections.abc import Callable, Mapping, Sequence

import redis
from django.conf import settings
from django.db import connection
from django.test import Client

from scheduler import models
from scheduler.selectors import event_log
from scheduler.services import actors, work
from tests import model_factories, worlds
from tests.stream import clients, server

_TYPES = ("session.changed", "session.started", "session.ended", "session.waits", "session.held")
_OTHERS = ("group.policy_changed", "node.state_changed")


@dataclasses.dataclass(frozen=True)
class Scale:
    """How much happens."""

    events: int
    readers: int
    restarts: int
    cut_s: float
    flush_s: float
    writers: int = 8
    #: Seconds that readers may need after the last event.
    patience_s: float = 60


class RolledBack(Exception):
    """A transaction that was not to be."""


@dataclasses.dataclass
class Course:
    """What is told, to whom, by which server."""

    world: worlds.World
    server: server.Server
    scale: Scale
    seed: int
    readers: list[clients.Reader] = dataclasses.field(default_factory=list)
    rolled_back: int = 0
    flushed: int = 0

    def __post_init__(self) -> None:
        """Add a session that few may see, and the readers, all from the number of now."""
        manager, queue = self.world.people["manager"], self.world.queues["normal"]
        hidden = model_factories.a_session(
            owner=manager, queue=queue, group=self.world.group, name="hidden-work", is_private=True
        )
        self._sessions = [self.world.running, self.world.waiting, self.world.victim, hidden]
        self._told, self._counting = 0, threading.Lock()
        self.start = event_log.last_number()
        cookies = {name: _cookie(user) for name, user in self.world.people.items()}
        kinds = itertools.cycle([clients.SocketReader, clients.SocketReader, clients.HttpReader])
        people = itertools.cycle(sorted(cookies))
        for number in range(self.scale.readers):
            name = next(people)
            self.readers.append(self._reader(next(kinds), name, cookies[name], number))
        self.naive = self._reader(clients.NaiveReader, "administrator", cookies["administrator"], -1)

    def _reader(self, kind: type[clients.Reader], name: str, cookie: str, number: int) -> clients.Reader:
        seed = self.seed * 1_000 + number
        return kind(self.server, name, cookie, start=self.start, cut_s=self.scale.cut_s, seed=seed)

    def play(self) -> None:
        """Let it all happen; ends when every reader holds the last number, or has lost patience."""
        writers = [
            threading.Thread(target=self._write, args=(number,)) for number in range(self.scale.writers)
        ]
        nemesis = threading.Thread(target=self._disturb)
        readers = threading.Thread(target=lambda: asyncio.run(self._read()))
        for thread in (readers, *writers, nemesis):
            thread.start()
        for thread in (*writers, nemesis):
            thread.join()
        last = event_log.last_number()
        for reader in (*self.readers, self.naive):
            reader.until(last)
        readers.join()

    async def _read(self) -> None:
        tasks = [asyncio.create_task(reader.read()) for reader in (*self.readers, self.naive)]
        while not self._is_told:
            await asyncio.sleep(0.1)
        await asyncio.wait(tasks, timeout=self.scale.patience_s)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    @property
    def _is_told(self) -> bool:
        return self._told >= self.scale.events

    def _write(self, number: int) -> None:
        chance = random.Random(f"writer/{self.seed}/{number}")
        while not self._is_told:
            try:
                told = self._commit(chance)
            except RolledBack:
                told = 0
            with self._counting:
                self._told += told
                self.rolled_back += not told
        connection.close()

    def _commit(self, chance: random.Random) -> int:
        count = chance.choice((1, 1, 2, 3, 8))
        with work.begin(actors.SYSTEM) as unit:
            for _ in range(count):
                self._tell(unit, chance)
            if chance.random() < 0.02:
                raise RolledBack
        return count

    def _tell(self, unit: work.Work, chance: random.Random) -> None:
        if chance.random() < 0.9:
            unit.tell(chance.choice(_TYPES), session=chance.choice(self._sessions))
            return
        kind = chance.choice(_OTHERS)
        group = chance.choice((self.world.group, self.world.elsewhere))
        unit.tell(kind, **({"node": self.world.node} if kind.startswith("node") else {"group_id": group.pk}))

    def _disturb(self) -> None:
        """Lose hints and end the server, spread over the events."""
        steps = [
            self.scale.events * n // (self.scale.restarts + 1) for n in range(1, self.scale.restarts + 1)
        ]
        flush_at = time.monotonic()
        for number, step in enumerate(steps):
            while self._told < step:
                flush_at = self._flush(flush_at)
                time.sleep(0.05)
            self.server.stop(signal.SIGKILL if number % 2 else signal.SIGTERM)
            self.server.start()

    def _flush(self, flush_at: float) -> float:
        """Empty the store of the hints, and cut off all who listen to it."""
        if time.monotonic() < flush_at:
            return flush_at
        with redis.Redis.from_url(settings.ENV["REDIS_URL"]) as store:
            store.flushdb()
            store.client_kill_filter(_type="pubsub")
        self.flushed += 1
        return time.monotonic() + self.scale.flush_s

    def permitted(self) -> Mapping[str, Sequence[int]]:
        """Return what each person was to be told."""
        entries = event_log.after(self.start, limit=10 * self.scale.events)
        rights: Callable[[models.User], event_log.Rights] = event_log.rights_of
        return {
            name: [entry.number for entry, _ in event_log.seen(rights(user), entries)]
            for name, user in self.world.people.items()
        }


def _cookie(user: models.User) -> str:
    client = Client()
    client.force_login(user)
    name = settings.SESSION_COOKIE_NAME
    return f"{name}={client.cookies[name].value}"
