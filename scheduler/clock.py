"""The one clock: the database's. The only module that reads "now"."""

from __future__ import annotations

import datetime

from django.db import connection

_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
_MICROSECOND = datetime.timedelta(microseconds=1)


def now() -> datetime.datetime:
    """Return the database's time of this statement, aware, UTC."""
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
