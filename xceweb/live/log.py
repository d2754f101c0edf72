"""
One reader of the event log for each server process, however many live connections there are.

It is woken by hints of the channel layer and looks every five seconds anyway: a lost hint costs latency,
never an event. The newest entries stay in memory, so that ordinary traffic costs one query per process, and each is
written once for all who see as much of it.
Numbers are given in commit order without gaps, so "everything after n" misses nothing.
"""

from __future__ import annotations

import asyncio
import collections
import contextlib
import contextvars
import logging
import weakref
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Protocol

from channels.db import database_sync_to_async
from channels.layers import get_channel_layer
from django.conf import settings

from scheduler.selectors import event_log, permissions
from scheduler.services import bells
from xceweb.live import frames

log = logging.getLogger(__name__)

POLL_S = 5.0
#: Entries kept in memory; a connection that is further behind reads the database.
KEPT = 1_000
_PAGE = 500

_read_after = database_sync_to_async(event_log.after)
_read_last = database_sync_to_async(event_log.last_number)
_readers: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, LogReader] = weakref.WeakKeyDictionary()


class Listener(Protocol):
    """A live connection."""

    user_id: int

    def wake(self) -> None:
        """Look for new events."""

    def ring(self) -> None:
        """Look whether the log-in and the roles still stand."""


class LogReader:
    """Follows the log while at least one connection listens."""

    def __init__(self) -> None:
        self.last = 0
        self._entries: collections.deque[event_log.Entry] = collections.deque(maxlen=KEPT)
        self._oldest = 0  # every number above it is in memory
        self._written: dict[tuple[int, permissions.Sight], str] = {}
        self._listeners: set[Listener] = set()
        self._hint = asyncio.Event()
        self._lock = asyncio.Lock()
        self._tasks: list[asyncio.Task[None]] = []

    async def attach(self, listener: Listener) -> None:
        """Wake this listener from now on; the first one starts the reader at the newest number."""
        self._listeners.add(listener)
        if not self._tasks:
            self._tasks = [_apart(self._follow()), _apart(self._hear())]
        await self.catch_up()

    async def detach(self, listener: Listener) -> None:
        """Forget a listener; the last one stops the reader, and what it held in memory goes."""
        self._listeners.discard(listener)
        if not self._listeners:
            await self._stop()

    async def _stop(self) -> None:
        tasks, self._tasks = self._tasks, []
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._entries.clear()
        self._written.clear()
        self.last = self._oldest = 0

    async def catch_up(self) -> None:
        """Read all that was committed since the last look and wake the listeners."""
        async with self._lock:
            if not self.last:
                self.last = self._oldest = await _read_last()
            found = await self._read_pages()
        if found:
            self._wake_all()

    async def _read_pages(self) -> bool:
        before = self.last
        while page := await _read_after(self.last, limit=_PAGE):
            self._keep(page)
            if len(page) < _PAGE:
                break
        return self.last > before

    def _keep(self, page: list[event_log.Entry]) -> None:
        self._entries.extend(page)
        self.last = page[-1].number
        if len(self._entries) == KEPT:
            self._oldest = self._entries[0].number - 1

    def _wake_all(self) -> None:
        for listener in self._listeners:
            listener.wake()

    async def between(self, after: int, last: int) -> list[event_log.Entry]:
        """Return the entries with ``after`` < number <= ``last``, from memory where they are still there."""
        if after >= self._oldest:
            return [entry for entry in self._entries if after < entry.number <= last]
        return await _read_after(after, limit=last - after)

    def written(self, entry: event_log.Entry, sight: permissions.Sight) -> str:
        """Return an event as JSON, made once for each sight."""
        key = entry.number, sight
        text = self._written.get(key)
        if text is None:
            if len(self._written) >= 2 * KEPT:
                self._written.clear()
            text = self._written[key] = frames.written(entry, sight)
        return text

    async def _follow(self) -> None:
        await _for_ever("reading events", self._look)

    async def _look(self) -> None:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._hint.wait(), POLL_S * settings.TIME_SCALE)
        self._hint.clear()
        await self.catch_up()

    async def _hear(self) -> None:
        await _for_ever("hearing hints", self._listen)

    async def _listen(self) -> None:
        layer = get_channel_layer()
        channel = await layer.new_channel()
        await layer.group_add(bells.HINTS, channel)
        try:
            while True:
                self._take(await layer.receive(channel))
        finally:
            await layer.group_discard(bells.HINTS, channel)

    def _take(self, message: dict[str, Any]) -> None:
        if message.get("type") != "rights":
            self._hint.set()
            return
        for listener in self._listeners:
            if listener.user_id in message["users"]:
                listener.ring()


def _apart(work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
    """Start what outlives the connection that happens to be the first: with nothing of that one's context."""
    return asyncio.get_running_loop().create_task(work, context=contextvars.Context())


async def _for_ever(what: str, step: Callable[[], Awaitable[None]]) -> None:
    """Repeat a step; an outermost loop: what fails is logged and tried again after a pause."""
    while True:
        try:
            await step()
        except Exception as error:  # noqa: BLE001 - whatever database or broker clients raise
            log.warning("%s failed, trying again: %s", what, error)
            await asyncio.sleep(POLL_S * settings.TIME_SCALE)


def reader() -> LogReader:
    """Return this process's reader (one for each event loop)."""
    loop = asyncio.get_running_loop()
    if loop not in _readers:
        _readers[loop] = LogReader()
    return _readers[loop]
