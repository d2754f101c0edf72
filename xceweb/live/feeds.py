"""
What one live connection follows, whatever carries it: replay, relay, heartbeat, and rights looked at again when they
change, and on a timer. It writes nothing.

Each frame of a topic carries numbers, so that a client can prove that it lost nothing (DESIGN section 8).
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator

from channels.db import database_sync_to_async
from django.conf import settings

from scheduler import errors
from scheduler.selectors import event_log
from xceweb.live import frames, logins, places, replay, topics
from xceweb.live import log as event_reader

#: At most so often a topic is told something new: four times a second.
BATCH_S = 0.25
PING_S = 20.0
RECHECK_S = 60.0
MOST_TOPICS = 20
PING = frames.frame("ping")

_matcher = database_sync_to_async(topics.matcher)


class Feed:
    """
    The topics of one connection, and how far each has got.

    Args:
        who: whose connection this is.
        address: where it comes from.
    """

    def __init__(self, who: logins.Who, address: str) -> None:
        self.user_id = 0
        #: Held by whoever makes frames until they are sent: a topic's frames leave in their order.
        self.lock = asyncio.Lock()
        self._who, self._address = who, address
        self._place: places.Place | None = None
        self._subscriptions: dict[str, topics.Subscription] = {}
        self._wake, self._must_look = asyncio.Event(), False

    async def open(self) -> None:
        """
        Begin to listen.

        Raises:
            Ended: nobody is logged in, or there are too many connections.
        """
        await self._load_rights()
        self.user_id = self._rights.user.pk
        self._place = places.take(self.user_id, self._address)
        self._reader = event_reader.reader()
        try:
            await self._reader.attach(self)
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        """Listen no more; a feed that never opened has nothing to close."""
        if self._place is not None:
            self._place.give_back()
            self._place = None
            await self._reader.detach(self)

    def wake(self) -> None:
        """Look for new events."""
        self._wake.set()

    def ring(self) -> None:
        """Look whether log-in and roles still stand, before anything more is told."""
        self._must_look = True
        self._wake.set()

    async def subscribe(self, topic: str, after: int | None) -> list[frames.Frame]:
        """
        Start (or start anew) a topic after a number, None = from now on; return what is already to be told.

        Raises:
            Refusal: no such topic, or too many of them.
        """
        if len(self._subscriptions) >= MOST_TOPICS and topic not in self._subscriptions:
            raise errors.Refusal(f"At most {MOST_TOPICS} topics on one connection.", code="too-many-topics")
        wants = await _matcher(self._rights.user, topic)
        if after is None or after > self._reader.last:
            await self._reader.catch_up()
        start = self._reader.last if after is None else after
        self._subscriptions[topic] = topics.Subscription(topic, wants, sent=start, scanned=start)
        return await self._bring_up(self._subscriptions[topic], tell_empty=True)

    def unsubscribe(self, topic: str) -> None:
        """End a topic; one that is not there is no error."""
        self._subscriptions.pop(topic, None)

    async def frames(self) -> AsyncIterator[frames.Frame]:
        """
        Yield what is to be told, for ever; the lock is held while a frame is out.

        Raises:
            Ended: the log-in is over.
        """
        self._ping_at, self._look_at = _after(PING_S), _after(RECHECK_S)
        while True:
            await self._sleep()
            async with self.lock:
                for frame in await self._due():
                    yield frame
            await asyncio.sleep(BATCH_S)

    async def _sleep(self) -> None:
        rest_s = min(self._ping_at, self._look_at) - time.monotonic()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._wake.wait(), max(0.0, rest_s))
        self._wake.clear()

    async def _due(self) -> list[frames.Frame]:
        """Return what is to be told now, after a look at the rights where one is due."""
        found: list[frames.Frame] = []
        if self._must_look or time.monotonic() >= self._look_at:
            self._look_at, self._must_look = _after(RECHECK_S), False
            found += await self._look_again()
        is_quiet = time.monotonic() >= self._ping_at
        for subscription in list(self._subscriptions.values()):
            is_behind = is_quiet and subscription.sent < self._reader.last
            found += await self._bring_up(subscription, tell_empty=is_behind)
        if is_quiet:
            self._ping_at = _after(PING_S)
            found.append(PING)
        return found

    async def _bring_up(self, subscription: topics.Subscription, *, tell_empty: bool) -> list[frames.Frame]:
        return await replay.catch_up(subscription, self._reader, rights=self._rights, tell_empty=tell_empty)

    async def _load_rights(self) -> None:
        self._rights = await _rights_now(self._who)

    async def _look_again(self) -> list[frames.Frame]:
        """Read the rights anew, and end the topics whose group or session this viewer may no longer see."""
        await self._load_rights()
        gone = []
        for topic in list(self._subscriptions):
            try:
                await _matcher(self._rights.user, topic)
            except errors.Refusal as error:
                self.unsubscribe(topic)
                gone.append(refused(error, topic))
        return gone


def refused(error: errors.Refusal, topic: str) -> frames.Frame:
    """Return the frame that says why a topic is not followed, or why a frame was not taken."""
    return frames.frame("error", topic=topic, code=error.code, message=str(error))


def _after(seconds: float) -> float:
    return time.monotonic() + seconds * settings.TIME_SCALE


@database_sync_to_async
def _rights_now(who: logins.Who) -> event_log.Rights:
    return event_log.rights_of(who())
