"""What a reader makes of one line of a trace: an entry, or a fault that names the line."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping

#: more digits than any clock or machine needs, few enough to stay exact in every column of ours
_WHOLE = re.compile(r"(-?\d{1,15})(?:\.0*)?\Z")
#: as many characters as a session's name may have
NAME_LIMIT = 100
#: what a session may ask for of one kind: below 63 bits by one, so that sums of two still fit
MOST_AMOUNT = (1 << 62) - 1
#: how many nodes a session may ask for
MOST_NODES = 10_000
#: seconds; more than a hundred years are no time in a trace, and no clock can wait for them
MOST_SECONDS = 4_000_000_000
_MOMENT = re.compile(r"(-?)(\d{1,12})(?:\.(\d{1,3})\d*)?\Z")


@dataclasses.dataclass(frozen=True, slots=True)
class Entry:
    """One session of the trace, before its time is scaled."""

    line: int  #: from 1, as an editor counts
    name: str
    submit_ms: int  #: since the start of the trace
    life_ms: int  #: how long it ran there, >= 0
    slots: Mapping[str, str]  #: kind -> amount as people write it, on each node
    service_class: str  #: what decides the queue: a QoS class, or SWF's queue number
    node_count: int = 1


@dataclasses.dataclass(frozen=True, slots=True)
class Fault:
    """One line that cannot be understood."""

    line: int
    what: str


class BadValue(ValueError):
    """A value of a line is not what its column holds; the text says which and why."""


def whole(text: str, *, column: str, least: int) -> int:
    """
    Read a whole number.

    Raises:
        BadValue: not a whole number, or below `least`.
    """
    match = _WHOLE.match(text.strip())
    if match is None:
        raise BadValue(f"{column} is {text!r}, not a whole number")
    number = int(match[1])
    if number < least:
        raise BadValue(f"{column} is {number}, below {least}")
    return number


def at_most(amount: int, most: int, *, column: str) -> int:
    """
    Return the amount.

    Raises:
        BadValue: above what the system can count.
    """
    if amount > most:
        raise BadValue(f"{column} comes to {amount}, above {most}")
    return amount


def name_of(text: str) -> str:
    """
    Read the name that a session is to have.

    Raises:
        BadValue: empty, too long, or with characters that cannot be printed.
    """
    name = text.strip()
    if not name:
        raise BadValue("name is empty")
    if len(name) > NAME_LIMIT:
        raise BadValue(f"name has {len(name)} characters, more than {NAME_LIMIT}")
    if not name.isprintable():
        raise BadValue(f"name is {name!r}, with characters that cannot be printed")
    return name


def moment_ms(text: str, *, column: str) -> int:
    """
    Read seconds since the start of the trace, with or without decimals; returns milliseconds, >= 0.

    Raises:
        BadValue: not a number, negative, or above ``MOST_SECONDS``.
    """
    match = _MOMENT.match(text.strip())
    if match is None:
        raise BadValue(f"{column} is {text!r}, not a number of seconds")
    if match[1]:
        raise BadValue(f"{column} is {text}, below 0")
    at_most(int(match[2]), MOST_SECONDS, column=column)
    return int(match[2]) * 1000 + int((match[3] or "").ljust(3, "0"))
