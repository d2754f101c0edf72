"""
The live stream: connect, subscribe, replay, relay; rights looked at again when they change, and on a timer. It
writes nothing.

Frames in: ``subscribe {topic, after}``, ``unsubscribe {topic}``, ``pong``. Frames out: ``events``,
``resync``, ``ping``, ``error``. Each frame of a topic carries numbers, so that a client can prove that it
lost nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from collections.abc import Awaitable, Callable
from typing import Any

from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncWebsocketConsumer
from django.conf import settings

from scheduler import errors
from scheduler.selectors import event_log
from xceweb.live import log as event_reader
from xceweb.live import logins, replay, topics

log = logging.getLogger(__name__)

BATCH_S = 0.25
PING_S = 20.0
RECHECK_S = 60.0
MOST_BYTES_IN = 8 * 1024
MOST_TOPICS = 20
MOST_MISSED_PONGS = 3
TOO_BIG, BROKEN, SILENT = 1009, 1011, 4408


class BadFrame(errors.Refusal):
    """This is not a frame of the stream: send {"type": "subscribe", "topic": "cluster", "after": null}."""

    code = "bad-frame"


class StreamConsumer(AsyncWebsocketConsumer):
    """One browser's socket."""

    channel_layer_alias = None  # hints go to the process's one log reader, not to sockets

    async def connect(self) -> None:
        """Accept people who are logged in; close 4401 or 4403 else, after the handshake: it can be read."""
        await self.accept()
        self.subscriptions: dict[str, topics.Subscription] = {}
        self.tasks: list[asyncio.Task[None]] = []
        self.missed_pongs = 0
        self.wake, self.rights_bell, self.lock = asyncio.Event(), asyncio.Event(), asyncio.Lock()
        if await self._load_rights():
            self.reader = event_reader.reader()
            self.reader.watch_rights(self.rights_bell, self.rights.user.pk)
            await self.reader.attach(self.wake)
            self.tasks = [self._start(self._relay), self._start(self._ping), self._start(self._recheck)]

    async def disconnect(self, code: int) -> None:
        """Stop what runs for this socket."""
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)
        if self.tasks:
            self.reader.forget_rights(self.rights_bell)
            await self.reader.detach(self.wake)

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """Answer one frame; a bad one gets an error frame, one above 8 KiB ends the socket."""
        if text_data is None or len(text_data.encode()) > MOST_BYTES_IN:
            await self.close(TOO_BIG)
            return
        topic = ""
        try:
            frame = _parse(text_data)
            topic = frame.get("topic", "")
            await _ANSWERS[frame["type"]](self, frame)
        except errors.Refusal as error:
            await self._send({"type": "error", "topic": topic, "code": error.code, "message": str(error)})

    async def subscribe(self, frame: dict[str, Any]) -> None:
        """Start (or start anew) a topic after a number; null = from now on. Answers with a batch."""
        topic, after = frame["topic"], frame.get("after")
        if len(self.subscriptions) >= MOST_TOPICS and topic not in self.subscriptions:
            raise errors.Refusal(f"At most {MOST_TOPICS} topics on one socket.", code="too-many-topics")
        wants = await database_sync_to_async(topics.matcher)(self.rights.user, topic)
        if after is None or after > self.reader.last:
            await self.reader.catch_up()
        start = self.reader.last if after is None else after
        async with self.lock:
            self.subscriptions[topic] = topics.Subscription(topic, wants, sent=start, scanned=start)
            await self._bring_up(self.subscriptions[topic], tell_empty=True)

    async def unsubscribe(self, frame: dict[str, Any]) -> None:
        """End a topic; one that is not there is no error."""
        self.subscriptions.pop(frame["topic"], None)

    async def pong(self, frame: dict[str, Any]) -> None:
        """Note that the client is there."""
        self.missed_pongs = 0

    async def _relay(self) -> None:
        while True:
            await self.wake.wait()
            self.wake.clear()
            await self._bring_up_all()
            await asyncio.sleep(BATCH_S)

    async def _bring_up_all(self, *, tell_empty: bool = False) -> None:
        async with self.lock:
            for subscription in list(self.subscriptions.values()):
                is_behind = tell_empty and subscription.sent < self.reader.last
                await self._bring_up(subscription, tell_empty=is_behind)

    async def _bring_up(self, subscription: topics.Subscription, *, tell_empty: bool) -> None:
        frame = await replay.catch_up(subscription, self.reader, rights=self.rights, tell_empty=tell_empty)
        if frame is not None:
            await self._send(frame)

    async def _ping(self) -> None:
        while True:
            await asyncio.sleep(PING_S * settings.TIME_SCALE)
            if self.missed_pongs >= MOST_MISSED_PONGS:
                await self.close(SILENT)
                return
            self.missed_pongs += 1
            await self._bring_up_all(tell_empty=True)
            await self._send({"type": "ping"})

    async def _recheck(self) -> None:
        while True:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self.rights_bell.wait(), RECHECK_S * settings.TIME_SCALE)
            self.rights_bell.clear()
            if not await self._load_rights():
                return
            await self._drop_hidden()

    async def _load_rights(self) -> bool:
        session = self.scope.get("session")
        try:
            self.rights = await _current_rights(session.session_key if session else None)
        except logins.Ended as ended:
            await self.close(ended.code)
            return False
        return True

    async def _drop_hidden(self) -> None:
        """End the topics whose group or session this viewer may no longer see."""
        for topic in list(self.subscriptions):
            try:
                await database_sync_to_async(topics.matcher)(self.rights.user, topic)
            except errors.Refusal as error:
                self.subscriptions.pop(topic, None)
                await self._send({"type": "error", "topic": topic, "code": error.code, "message": str(error)})

    async def _send(self, frame: dict[str, Any]) -> None:
        await self.send(text_data=json.dumps(frame, separators=(",", ":")))

    def _start(self, loop: Callable[[], Awaitable[None]]) -> asyncio.Task[None]:
        task = asyncio.create_task(self._guard(loop))
        return task

    async def _guard(self, loop: Callable[[], Awaitable[None]]) -> None:
        """Run one loop of the socket; a failure ends the socket; the client resumes by number."""
        try:
            await loop()
        except Exception:
            log.exception("a loop of a live socket failed")
            with contextlib.suppress(Exception):
                await self.close(BROKEN)


@database_sync_to_async
def _current_rights(session_key: str | None) -> event_log.Rights:
    return event_log.rights_of(logins.current_user(session_key))


def _parse(text: str) -> dict[str, Any]:
    try:
        frame = json.loads(text)
    except ValueError:
        raise BadFrame from None
    if not isinstance(frame, dict) or frame.get("type") not in _ANSWERS:
        raise BadFrame
    if frame["type"] != "pong" and not isinstance(frame.get("topic"), str):
        raise BadFrame("topic: a text such as cluster or session:<id>")
    after = frame.get("after")
    if after is not None and (type(after) is not int or not 0 <= after < 1 << 63):
        raise BadFrame("after: null or the last number seen, a whole number of zero or more")
    return frame


_ANSWERS: dict[str, Callable[[StreamConsumer, dict[str, Any]], Awaitable[None]]] = {
    "subscribe": StreamConsumer.subscribe,
    "unsubscribe": StreamConsumer.unsubscribe,
    "pong": StreamConsumer.pong,
}
