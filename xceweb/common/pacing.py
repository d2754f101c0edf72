"""
Slowing down what costs much to compute: a number of times a minute for one person, and one at a time in one process.

Counts live in the servers' Redis and end by themselves. Without Redis only the second rule holds: the pages need the
database alone.
"""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Iterator

import redis
from django.conf import settings

from scheduler import errors

log = logging.getLogger(__name__)

#: Times that one person may ask within ``WINDOW_S`` seconds.
MOST = 10
WINDOW_S = 60
_TIMEOUT_S = 1.0
_ONE = threading.Lock()


@contextlib.contextmanager
def turn(what: str, user_id: int) -> Iterator[None]:
    """
    Let one person compute something costly once.

    Args:
        what: names it; each is counted by itself.

    Raises:
        TooOften: too often in this minute, or another one is under way here; says how long to wait.
    """
    if not _ONE.acquire(blocking=False):
        raise errors.TooOften("Another one is under way just now: try again in a second.", wait_s=1)
    try:
        wait_s = _count(what, user_id)
        if wait_s:
            raise errors.TooOften(
                f"This can be asked for {MOST} times in {WINDOW_S} seconds: wait {wait_s} s.", wait_s=wait_s
            )
        yield
    finally:
        _ONE.release()


def _count(what: str, user_id: int) -> int:
    """Count one time; return how many seconds to wait, 0 = none."""
    key = f"xce:pace:{what}:{user_id}"
    try:
        with redis.Redis.from_url(
            settings.ENV["REDIS_URL"], socket_timeout=_TIMEOUT_S, socket_connect_timeout=_TIMEOUT_S
        ) as store:
            if store.set(key, 1, ex=WINDOW_S, nx=True) or int(store.incr(key)) <= MOST:
                return 0
            return max(1, int(store.ttl(key)))
    except redis.RedisError as error:
        log.warning("%s is not slowed down: %s", what, error)
        return 0
