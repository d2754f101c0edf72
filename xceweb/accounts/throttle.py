"""
Slowing down guesses of passwords: after some failures the pair of account and address has to wait.

Only failures count, and only for the pair: right passwords are never slowed down, and nobody locks another person out
from elsewhere. Counts live in the servers' Redis and end by themselves. Without Redis log-ins go on, unslowed: the
pages need the database alone.
"""

from __future__ import annotations

import hashlib
import logging

import redis
from django.conf import settings

log = logging.getLogger(__name__)

#: Failures of one account from one address, before it has to wait.
MOST_FAILURES = 8
#: Seconds that it has to wait, and after which failures are forgotten.
WAIT_S = 300
_TIMEOUT_S = 1.0


def _client() -> redis.Redis:
    return redis.Redis.from_url(
        settings.ENV["REDIS_URL"], socket_timeout=_TIMEOUT_S, socket_connect_timeout=_TIMEOUT_S
    )


def _key(account: str, address: str) -> str:
    pair = f"{account.strip().casefold()}\n{address}".encode()
    return f"xce:log-in-failures:{hashlib.sha256(pair).hexdigest()}"


def wait_s(account: str, address: str) -> int:
    """Return how many seconds the pair has to wait before its next try, 0 = none."""
    try:
        with _client() as store:
            key = _key(account, address)
            failures = int(store.get(key) or 0)
            return max(1, store.ttl(key)) if failures >= MOST_FAILURES else 0
    except redis.RedisError as error:
        log.warning("log-ins are not slowed down: %s", error)
        return 0


def failed(account: str, address: str) -> None:
    """Count one failure; the wait starts anew with each."""
    try:
        with _client() as store, store.pipeline() as pipe:
            key = _key(account, address)
            pipe.incr(key)
            pipe.expire(key, WAIT_S)
            pipe.execute()
    except redis.RedisError as error:
        log.warning("a failed log-in was not counted: %s", error)


def succeeded(account: str, address: str) -> None:
    """Forget the failures of the pair."""
    try:
        with _client() as store:
            store.delete(_key(account, address))
    except redis.RedisError as error:
        log.warning("failed log-ins were not forgotten: %s", error)
