"""
The one clock: the database's. The only module that reads "now".

A simulation runs on virtual time instead: inside ``virtual`` every reader gets the simulation's moment, in this thread
or task alone, and nothing that is told there leaves the process (``is_virtual``).
"""

from __future__ import annotations

import contextlib
import contextvars
import dataclasses
import datetime
from collections.abc import Iterator

from django.db import connection

_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
_MICROSECOND = datetime.timedelta(microseconds=1)


@dataclasses.dataclass
class Virtual:
    """Time that stands still until somebody moves it."""

    moment: datetime.datetime  #: aware, UTC

    def advance(self, seconds: int) -> None:
        """Move on by whole seconds."""
        self.moment += datetime.timedelta(seconds=seconds)


_virtual: contextvars.ContextVar[Virtual | None] = contextvars.ContextVar("xce_virtual_time", default=None)


@contextlib.contextmanager
def virtual(time: Virtual) -> Iterator[Virtual]:
    """Let every reader of the clock in this context read virtual time."""
    token = _virtual.set(time)
    try:
        yield time
    finally:
        _virtual.reset(token)


def is_virtual() -> bool:
    """Say whether this is a simulation: it has no broker, no browsers and no agents but its own."""
    return _virtual.get() is not None


def now() -> datetime.datetime:
    """Return the database's time of this statement, or a simulation's moment; aware, UTC."""
    simulated = _virtual.get()
    if simulated is not None:
        return simulated.moment
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        value: datetime.datetime = cursor.fetchone()[0]
    return value.astimezone(datetime.UTC)


def micros(moment: datetime.datetime) -> int:
    """Return microseconds since the epoch, exactly."""
    return (moment - _EPOCH) // _MICROSECOND


def micros_or_none(moment: datetime.datetime | None) -> int | None:
    """Return microseconds since the epoch, or None for None."""
    return None if moment is None else micros(moment)


def from_micros(value: int) -> datetime.datetime:
    """Return the aware moment of so many microseconds since the epoch."""
    return _EPOCH + value * _MICROSECOND
