"""
One reader of the event log for each server process, however many sockets there are.

It is woken by hints of the channel layer and looks every five seconds anyway: a lost hint costs latency,
never an event. The newest entries stay in memory, so that ordinary traffic costs one query per process.
Numbers are given in commit order without gaps, so "everything after n" misses nothing.
"""

from __future__ import annotations

import asyncio
import collections
import contextlib
import logging
import weakref
from collections.abc import Awaitable, Callable
from typing import Any

from channels.db import database_sync_to_async
from channels.layers import get_channel_layer
from django.conf import settings

from scheduler.selectors import event_log
from scheduler.services import bells

log = logging.getLogger(__name__)

POLL_S = 5.0
#: Entries kept in memory; a socket that is further behind reads the database.
KEPT = 1_000
_PAGE = 500

_read_after = database_sync_to_async(event_log.after)
_read_last = database_sync_to_async(event_log.last_number)
_readers: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, LogReader] = weakref.WeakKeyDictionary()


class LogReader:
    """Follows the log while at least one socket listens."""

    def __init__(self) -> None:
        self.last = 0
        self._entries: collections.deque[event_log.Entry] = collections.deque(maxlen=KEPT)
        self._oldest = 0  # every number above it is in memory
        self._listeners: set[asyncio.Event] = set()
        self._rights_bells: dict[asyncio.Event, int] = {}
        self._hint = asyncio.Event()
        self._lock = asyncio.Lock()
        self._tasks: list[asyncio.Task[None]] = []

    async def attach(self, wake: asyncio.Event) -> None:
        """Wake this listener from now on; the first one starts the reader at the newest number."""
        self._listeners.add(wake)
        if not self._tasks:
            self._tasks = [asyncio.create_task(self._follow()), asyncio.create_task(self._hear())]
        await self.catch_up()

    async def detach(self, wake: asyncio.Event) -> None:
        """Forget a listener; the last one stops the reader, and what it held in memory goes."""
        self._listeners.discard(wake)
        if not self._listeners:
            await self._stop()

    def watch_rights(self, bell: asyncio.Event, user_id: int) -> None:
        """Ring this bell whenever the log-in or the roles of a person may have changed."""
        self._rights_bells[bell] = user_id

    def forget_rights(self, bell: asyncio.Event) -> None:
        """Ring this bell no more."""
        self._rights_bells.pop(bell, None)

    async def _stop(self) -> None:
        tasks, self._tasks = self._tasks, []
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._entries.clear()
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
        for wake in self._listeners:
            wake.set()

    async def between(self, after: int, last: int) -> list[event_log.Entry]:
        """Return the entries with ``after`` < number <= ``last``, from memory where they are still there."""
        if after >= self._oldest:
            return [entry for entry in self._entries if after < entry.number <= last]
        return await _read_after(after, limit=last - after)

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
        for bell, user_id in self._rights_bells.items():
            if user_id in message["users"]:
                bell.set()


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
