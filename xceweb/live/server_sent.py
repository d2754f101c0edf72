"""
The live stream over plain HTTP, as Server-Sent Events: for ``curl -N`` and for programs without websockets.

The same frames as on a socket, one topic for each connection. The id of a message is the number that its reader then
holds, so that a reader that comes again with ``Last-Event-ID`` goes on from there. A message ``end`` says why nothing
more will come.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import AsyncIterator

from django import http

from scheduler import errors
from xceweb.live import feeds, frames, logins

log = logging.getLogger(__name__)

MEDIA_TYPE = "text/event-stream"
#: Milliseconds that a reader shall wait before it comes again.
_RETRY_MS = 2_000


def answer(feed: feeds.Feed, topic: str, after: int | None) -> http.StreamingHttpResponse:
    """Return the answer that never ends by itself; nothing on its way may hold it back or keep it."""
    found = http.StreamingHttpResponse(messages(feed, topic, after), content_type=MEDIA_TYPE)
    found["Cache-Control"] = "no-store"
    found["X-Accel-Buffering"] = "no"
    return found


async def messages(feed: feeds.Feed, topic: str, after: int | None) -> AsyncIterator[str]:
    """Yield the messages of one topic, from a number on, until the reader goes or its log-in ends."""
    yield f"retry: {_RETRY_MS}\n\n"
    try:
        async with contextlib.aclosing(_told(feed, topic, after)) as found:
            async for frame in found:
                yield _message(frame)
    except logins.Ended as ended:
        yield _end(ended.code, str(ended))
    except errors.Refusal as error:
        yield _message(feeds.refused(error, topic))
    except Exception:
        log.exception("a live stream over HTTP failed")
        yield _end(1011, "something failed here: come again")
    finally:
        await feed.close()


async def _told(feed: feeds.Feed, topic: str, after: int | None) -> AsyncIterator[frames.Frame]:
    await feed.open()
    for frame in await feed.subscribe(topic, after):
        yield frame
    async with contextlib.aclosing(feed.frames()) as found:
        async for frame in found:
            yield frame
            if frame.type == "error":
                raise logins.Ended(logins.DEACTIVATED)


def _message(frame: frames.Frame) -> str:
    if frame is feeds.PING:
        return ": ping\n\n"
    number = "" if frame.last is None else f"id: {frame.last}\n"
    return f"event: {frame.type}\n{number}data: {frame.text}\n\n"


def _end(code: int, why: str) -> str:
    return _message(frames.frame("end", code=code, message=why))
