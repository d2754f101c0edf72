"""
Numbers as people read them: durations, amounts of slots, distances in time.

Pure functions without Django. Amounts go through ``scheduler.core.units``, so that a page, a mail and the
command line write the same amount the same way.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping

from scheduler.core import amounts, resources, units

MICROSECONDS = 1_000_000
_MINUTE, _HOUR, _DAY = 60, 3_600, 86_400
_DEVICES_FIRST = {"cuda.device": 0, "cpu": 1, "mem": 2}

Slots = Mapping[str, int] | Iterable[tuple[str, int]] | resources.ResourceVector


def duration(microseconds: int) -> str:
    """
    Write a span of time, finer where it is short.

    Args:
        microseconds: >= 0; a negative span is written as none.

    Returns:
        ``0.24 s``, ``8 s``, ``9 min 30 s``, ``49 min``, ``3 h 12 min`` or ``1 d 02:10``.
    """
    microseconds = max(0, microseconds)
    seconds = microseconds // MICROSECONDS
    if seconds < _MINUTE:
        return _short(microseconds)
    if seconds < _HOUR:
        minutes, rest = divmod(seconds, _MINUTE)
        return f"{minutes} min {rest} s" if rest and minutes < 10 else f"{minutes} min"
    if seconds < _DAY:
        hours, minutes = divmod(seconds // _MINUTE, 60)
        return f"{hours} h {minutes} min" if minutes else f"{hours} h"
    days, rest = divmod(seconds, _DAY)
    return f"{days} d {rest // _HOUR:02d}:{rest % _HOUR // _MINUTE:02d}"


def _short(microseconds: int) -> str:
    """Write less than a minute: whole seconds as they are, milliseconds below 100, else two decimals."""
    whole, rest = divmod(microseconds, MICROSECONDS)
    if not rest:
        return f"{whole} s"
    if microseconds < 100_000:
        return f"{(microseconds + 500) // 1_000} ms" if microseconds >= 500 else "under 1 ms"
    hundredths = (microseconds + 5_000) // 10_000
    return f"{hundredths // 100}.{hundredths % 100:02d} s"


def as_microseconds(value: int | float | datetime.timedelta) -> int:
    """Return a span in microseconds; a plain number counts seconds."""
    if isinstance(value, datetime.timedelta):
        return value // datetime.timedelta(microseconds=1)
    return value * MICROSECONDS if isinstance(value, int) else round(value * MICROSECONDS)


def distance(then: datetime.datetime, now: datetime.datetime) -> str:
    """Write how far away a time is: ``3 min ago``, ``in 9 min 30 s``, ``just now`` within five seconds."""
    seconds = (then - now) // datetime.timedelta(seconds=1)
    if -5 < seconds < 5:
        return "just now"
    text = _rough(abs(seconds))
    return f"in {text}" if seconds > 0 else f"{text} ago"


def _rough(seconds: int) -> str:
    if seconds < 2 * _DAY:
        return duration(seconds * MICROSECONDS)
    return f"{seconds // _DAY} days"


def kind_of(name: str | units.SlotKind) -> units.SlotKind:
    """Return the slot kind of a name; one that is not built in counts whole units."""
    if isinstance(name, units.SlotKind):
        return name
    return units.BUILT_IN.get(name) or units.SlotKind(name, 1)


def amount(value: int, kind: str | units.SlotKind) -> str:
    """Write an amount alone: ``2``, ``0.5``; bytes carry their unit, ``256 GiB``."""
    return units.format_amount(kind_of(kind), value)


def quantity(value: int, kind: str | units.SlotKind) -> str:
    """Write an amount with what is counted: ``4 GPUs``, ``1 GPU``, ``0.5 cores``, ``256 GiB``."""
    known = kind_of(kind)
    return amounts.one(known.name, value, kinds={known.name: known})


def slots(values: Slots | None) -> str:
    """Write amounts by kind, devices first: ``4 GPUs, 32 cores, 256 GiB``; ``nothing`` without any."""
    pairs = values.items() if isinstance(values, Mapping) else values or ()
    wanted = [(kind, value) for kind, value in pairs if value]
    wanted.sort(key=lambda pair: (_DEVICES_FIRST.get(str(pair[0]), 3), str(pair[0])))
    return ", ".join(quantity(value, kind) for kind, value in wanted) or "nothing"
