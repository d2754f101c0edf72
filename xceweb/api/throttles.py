"""
So many requests a minute for each keypair, or for each person who is logged in.

Counts live in the servers' Redis, in windows of a minute. Without Redis requests go on, uncounted: the API needs the
database alone.
"""

from __future__ import annotations

import logging
import time

import redis
from django.conf import settings
from rest_framework import request, throttling, views

from scheduler import models

log = logging.getLogger(__name__)
WINDOW_S = 60
_TIMEOUT_S = 0.5
_pools: dict[str, redis.ConnectionPool] = {}


class RequestsPerMinute(throttling.BaseThrottle):
    """Refuses what comes beyond the limit of the minute, and tells what is left of it."""

    def __init__(self) -> None:
        self._left_s = float(WINDOW_S)

    def allow_request(self, request: request.Request, view: views.APIView) -> bool:
        """Count a request, and say whether it may go on."""
        most: int = settings.API_REQUESTS_PER_MINUTE
        now = time.time()
        self._left_s = WINDOW_S - now % WINDOW_S
        if not most or not request.user.is_authenticated:
            return True
        count = _count(_who(request), int(now // WINDOW_S))
        if count is None:
            return True
        left = {"RateLimit-Limit": most, "RateLimit-Remaining": max(0, most - count)}
        request._request.rate_limit = {**left, "RateLimit-Reset": int(self._left_s) + 1}
        return count <= most

    def wait(self) -> float:
        """Return the seconds until the next window."""
        return self._left_s


def _who(request: request.Request) -> str:
    return f"key:{request.auth.pk}" if isinstance(request.auth, models.Keypair) else f"user:{request.user.pk}"


def _count(who: str, window: int) -> int | None:
    key = f"xce:api-requests:{who}:{window}"
    try:
        with redis.Redis(connection_pool=_pool()) as store, store.pipeline(transaction=False) as line:
            line.incr(key).expire(key, 2 * WINDOW_S)
            return int(line.execute()[0])
    except redis.RedisError as error:
        log.warning("requests are not counted: %s", error)
        return None


def _pool() -> redis.ConnectionPool:
    url = settings.ENV["REDIS_URL"]
    if url not in _pools:
        options = {"socket_timeout": _TIMEOUT_S, "socket_connect_timeout": _TIMEOUT_S}
        _pools[url] = redis.ConnectionPool.from_url(url, **options)
    return _pools[url]
