"""
The live stream over websockets.

Frames in: ``subscribe {topic, after}``, ``unsubscribe {topic}``, ``pong``. Frames out: ``events``, ``resync``,
``ping``, ``error``. Close codes: 4401 log in again, 4403 no access any more, 4408 no answer to pings, 4429 too many
connections or frames, 1009 a frame above 8 KiB, 1011 something failed, 1012 the server ends (the server's own).
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from channels.generic.websocket import AsyncWebsocketConsumer

from scheduler import errors, models
from xceweb.live import feeds, frames, logins

log = logging.getLogger(__name__)

MOST_BYTES_IN = 8 * 1024
MOST_MISSED_PONGS = 3
#: Frames that a client may send at once, and how many a second it may then.
MOST_FRAMES_IN, FRAMES_IN_A_SECOND = 200, 20
TOO_BIG, BROKEN, SILENT = 1009, 1011, 4408


class BadFrame(errors.Refusal):
    """This is not a frame of the stream: send {"type": "subscribe", "topic": "cluster", "after": null}."""

    code = "bad-frame"


class StreamConsumer(AsyncWebsocketConsumer):
    """One browser's socket."""

    channel_layer_alias = None  # hints go to the process's one log reader, not to sockets

    async def connect(self) -> None:
        """Accept people who are logged in; close 4401, 4403 or 4429 else, after the handshake: it can be read."""
        await self.accept()
        self.task: asyncio.Task[None] | None = None
        self.missed_pongs = 0
        self.allowance, self.counted_at = float(MOST_FRAMES_IN), time.monotonic()
        self.feed = feeds.Feed(self._who, str((self.scope.get("client") or ("",))[0]))
        try:
            await self.feed.open()
        except logins.Ended as ended:
            await self.close(ended.code)
            return
        self.task = asyncio.create_task(self._relay())

    async def disconnect(self, code: int) -> None:
        """Stop what runs for this socket."""
        if self.task is not None:
            self.task.cancel()
            await asyncio.gather(self.task, return_exceptions=True)
        await self.feed.close()

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """Answer one frame; a bad one gets an error frame, one above 8 KiB or too many of them end the socket."""
        if text_data is None or len(text_data.encode()) > MOST_BYTES_IN:
            await self.close(TOO_BIG)
            return
        if not self._may_send():
            await self.close(logins.TOO_MANY)
            return
        topic = ""
        try:
            frame = _parse(text_data)
            topic = frame.get("topic", "")
            await _ANSWERS[frame["type"]](self, frame)
        except errors.Refusal as error:
            await self._send(feeds.refused(error, topic))

    async def subscribe(self, frame: dict[str, Any]) -> None:
        """Start (or start anew) a topic after a number; null = from now on. Answers with a batch."""
        async with self.feed.lock:
            for answer in await self.feed.subscribe(frame["topic"], frame.get("after")):
                await self._send(answer)

    async def unsubscribe(self, frame: dict[str, Any]) -> None:
        """End a topic."""
        self.feed.unsubscribe(frame["topic"])

    async def pong(self, frame: dict[str, Any]) -> None:
        """Note that the client is there."""
        self.missed_pongs = 0

    async def _relay(self) -> None:
        """Send what the feed tells; a failure ends the socket, and the client resumes by number."""
        try:
            async with contextlib.aclosing(self.feed.frames()) as found:
                await self._send_all(found)
        except logins.Ended as ended:
            await self.close(ended.code)
        except Exception:
            log.exception("the loop of a live socket failed")
            with contextlib.suppress(Exception):
                await self.close(BROKEN)

    async def _send_all(self, found: AsyncIterator[frames.Frame]) -> None:
        async for frame in found:
            if frame is feeds.PING and self.missed_pongs >= MOST_MISSED_PONGS:
                await self.close(SILENT)
                return
            self.missed_pongs += frame is feeds.PING
            await self._send(frame)

    def _who(self) -> models.User:
        session = self.scope.get("session")
        return logins.current_user(session.session_key if session else None)

    def _may_send(self) -> bool:
        """Count one frame of the client; each second makes room for some more."""
        now = time.monotonic()
        earned = (now - self.counted_at) * FRAMES_IN_A_SECOND
        self.allowance, self.counted_at = min(MOST_FRAMES_IN, self.allowance + earned) - 1, now
        return self.allowance >= 0

    async def close(self, *args: Any, **more: Any) -> None:
        """Close the socket; a client that has gone needs no code."""
        with contextlib.suppress(OSError):
            await super().close(*args, **more)

    async def _send(self, frame: frames.Frame) -> None:
        """Send one frame; a client that has gone raises OSError in some servers, and its disconnect is on the way."""
        with contextlib.suppress(OSError):
            await self.send(text_data=frame.text)


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
