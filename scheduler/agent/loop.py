"""
The agent: one thread that reads commands, looks after runs, and speaks. Everything it does may be repeated.
"""

from __future__ import annotations

import asyncio
import dataclasses
import functools
import logging
import os
import pathlib
import time
from collections.abc import Callable, Coroutine
from typing import Any, Protocol

import scheduler.agent as package
from scheduler.agent import (
    desk,
    fencing,
    guards,
    host,
    keyring,
    outbox,
    processes,
    records,
    runs,
    starting,
    tails,
)
from scheduler.protocol import messages, signing

log = logging.getLogger(__name__)

_TICK_S = 1.0
_RECHECK_EVERY = 5
_SAMPLE_EVERY = 2
_CLEAN_EVERY = 3600
_TIMERS = ("the heartbeat", "the tick")
RETENTION_S = 7 * 86_400


class Transport(Protocol):
    """What carries texts to and from the controller; see `app.Transport`."""

    def start(self) -> None:
        """Begin to carry."""

    def send(self, text: str, *, expires_s: int | None = None) -> None:
        """Carry one text up, or lose it; after ``expires_s`` seconds it need not be read."""

    def stop(self) -> None:
        """End."""


@dataclasses.dataclass(frozen=True)
class Options:
    """
    How an agent runs.

    Attributes:
        key: the node's key.
        key_file: where it comes from; when the file changes, its new key replaces it.
        heartbeat_s: seconds between heartbeats; pauses of repeated reports scale with it.
        retention_s: seconds that output and checkpoints of ended runs are kept.
    """

    key: signing.NodeKey
    key_file: pathlib.Path | None = None
    heartbeat_s: float = 5.0
    retention_s: float = RETENTION_S


class Agent:
    """Wires memory, outbox, desk and transport; `run` returns after `stop`, and sessions run on."""

    def __init__(self, means: starting.Means, options: Options) -> None:
        self._means = means
        self._options = options
        self._done = asyncio.Event()
        self._ticks = 0
        self._guard = guards.Guard()
        self._keys = keyring.KeyRing(options.key, options.key_file)
        self._out: outbox.Outbox | None = None
        self._desk: desk.Desk | None = None
        self._tails: tails.Tails | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def on_command(self, text: str) -> None:
        """Take a text from another thread."""
        if self._loop is not None and self._desk is not None:
            self._loop.call_soon_threadsafe(self._desk.receive, text)

    def on_connected(self) -> None:
        """Take the news of a (re)connection from another thread: say hello, send all that waits."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._greet)

    def stop(self) -> None:
        """Ask `run` to return; sessions and their shepherds are left alone."""
        self._done.set()

    async def run(self, transport: Transport) -> None:
        """Run until `stop`."""
        self._loop = asyncio.get_running_loop()
        pause_ms = int(self._options.heartbeat_s * 2000)
        key = self._keys.current
        self._out = outbox.Outbox(self._means.memory, key=key, send=transport.send, pause_ms=pause_ms)
        self._out.on_heard = functools.partial(fencing.note, self._means.space.root)
        self._desk = desk.Desk(self._means, out=self._out, keys=self._keys)
        self._tails = tails.Tails(self._desk.lives, self._out.send_once, patience_ms=pause_ms)
        self._out.on_acknowledged = self._tails.heard
        transport.start()
        self._desk.adopt_all()
        timers = [
            self._every(self._options.heartbeat_s, _TIMERS[0], self._beat),
            self._every(min(_TICK_S, self._options.heartbeat_s), _TIMERS[1], self._tick),
        ]
        tasks = [self._loop.create_task(timer) for timer in timers]
        await self._done.wait()
        for task in tasks:
            task.cancel()
        for one in list(self._desk.lives.values()):
            one.leave()
        await asyncio.to_thread(transport.stop)

    def _every(self, seconds: float, timer: str, act: Callable[[], object]) -> Coroutine[Any, Any, None]:
        async def repeat() -> None:
            while True:
                self._guard.run(timer, act)
                await asyncio.sleep(seconds)

        return repeat()

    def _greet(self) -> None:
        assert self._out is not None
        self._out.send_once(
            messages.Hello(
                agent_version=package.VERSION,
                protocol=messages.VERSION,
                boot=self._means.memory.boot,
                pid=os.getpid(),
                host_facts=host.facts(self._means.space.node),
                sessions=tuple(self._means.memory.book.held()[:2000]),
                enforce=host.enforce(
                    cgroup_root=self._means.cgroup_root, multi_user=self._means.table is not None
                ),
            )
        )
        self._out.resend(everything=True)
        log.info("connected to the broker")

    def _beat(self) -> None:
        assert self._out is not None
        self._out.send_once(messages.Heartbeat(sessions=tuple(self._means.memory.book.held()[:2000])))

    def _tick(self) -> None:
        assert self._out is not None
        assert self._desk is not None
        assert self._tails is not None
        self._ticks += 1
        lives = list(self._desk.lives.values())
        table = processes.scan() if lives and self._ticks % _SAMPLE_EVERY == 0 else {}
        recheck = self._ticks % _RECHECK_EVERY == 0
        duties: dict[str, Callable[[], object]] = {
            f"the watch over session {one.run.session}": functools.partial(one.tick, table, recheck=recheck)
            for one in lives
        }
        duties |= {
            "reading the key": self._refresh_key,
            "reading outputs": self._tails.look,
            "sending reports again": self._out.resend,
            "compacting the journal": self._means.memory.compact,
        }
        if self._ticks % _CLEAN_EVERY == 1:
            retention_s = self._options.retention_s
            duties["cleaning up"] = functools.partial(clean, self._means, retention_s=retention_s)
        self._guard.keep({*duties, "cleaning up", *_TIMERS})
        for duty, act in duties.items():
            self._guard.run(duty, act)

    def _refresh_key(self) -> None:
        assert self._out is not None
        if self._keys.refresh():
            self._out.key = self._keys.current
            self._greet()


def clean(means: starting.Means, *, retention_s: float) -> None:
    """
    Delete directories of runs that ended longer ago than this, and forget what was known of them.

    The wall clock decides of runs before the last boot alone: it may jump (RELIABILITY P17).
    """
    book, oldest = means.memory.book, time.time() - retention_s
    kept = set()
    for session, epoch in means.space.runs():
        run = book.runs.get(session)
        is_live = run is not None and run.start.epoch == epoch and run.ended is None
        directory = means.space.run_dir(session, epoch)
        if is_live or _age_s(directory, run, boot=means.memory.boot) < retention_s:
            kept.add(session)
            continue
        means.space.remove(session, epoch)
        if run is not None and run.start.epoch == epoch:
            book.forget(session)
    for path in (means.space.root / "checkpoints").iterdir():
        if path.name not in kept and _last_change(path) <= oldest:
            means.space.drop_checkpoints(path.name)
    means.memory.compact(at=1)


def _age_s(directory: pathlib.Path, run: runs.Run | None, *, boot: str) -> float:
    """Return how long ago a run ended that is over, in seconds."""
    if run is not None and run.ended is not None and run.boot == boot:
        return (records.monotonic_ms() - run.ended.at_mono_ms) / 1000
    return time.time() - _last_change(directory)


def _last_change(path: pathlib.Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0
