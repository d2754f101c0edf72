"""
The types of message fields, each with the range it may have.

A bound is part of the annotation (`Annotated[int, Bounds(0, 10)]`), so that the messages read as the
specification and `codec` needs no second table.
"""

from __future__ import annotations

import dataclasses
import enum
import re
from typing import Annotated

INT64_MAX = 2**63 - 1


@dataclasses.dataclass(frozen=True)
class Bounds:
    """Smallest and largest value of an integer, both allowed."""

    low: int
    high: int


@dataclasses.dataclass(frozen=True)
class Text:
    """Longest length of a string in characters, and the pattern that all of it must match, if any."""

    longest: int
    pattern: re.Pattern[str] | None = None


@dataclasses.dataclass(frozen=True)
class Size:
    """Largest number of members of a list or a map."""

    most: int


@dataclasses.dataclass(frozen=True)
class Since:
    """
    The version of the protocol that brought a field; the versions before neither send nor accept it.

    Such a field has a default, which means what its absence means.
    """

    version: int


_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_UUID_OR_EMPTY = re.compile(r"([0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})?")
_NO_NUL = re.compile(r"[^\0]*")
_VARIABLE = re.compile(r"[^=\0]+")
_KIND = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]*")

Uuid = Annotated[str, Text(36, _UUID)]
OptionalUuid = Annotated[str, Text(36, _UUID_OR_EMPTY)]
BootId = Annotated[str, Text(64, re.compile(r"[0-9A-Za-z._-]+"))]
Word = Annotated[str, Text(200)]
Reason = Annotated[str, Text(2000)]
Argument = Annotated[str, Text(131072, _NO_NUL)]
Path = Annotated[str, Text(4096, _NO_NUL)]
Variable = Annotated[str, Text(1000, _VARIABLE)]
SlotKind = Annotated[str, Text(64, _KIND)]
OutputText = Annotated[str, Text(65536)]

Natural = Annotated[int, Bounds(0, INT64_MAX)]
Epoch = Annotated[int, Bounds(0, 2**31 - 1)]
Pid = Annotated[int, Bounds(0, 2**31 - 1)]
Millis = Annotated[int, Bounds(0, 10**12)]
GraceMillis = Annotated[int, Bounds(0, 7 * 86_400_000)]
WallSeconds = Annotated[int, Bounds(1, 10 * 366 * 86_400)]
SignalNumber = Annotated[int, Bounds(0, 64)]
ExitCode = Annotated[int, Bounds(0, 255)]
PageBytes = Annotated[int, Bounds(1, 32768)]


class HookDetail(enum.IntEnum):
    """Numbers of XCE's hook details that travel in commands."""

    #: A preemption stop: action, signal, mode and grace follow in the command.
    JOB_STOP = 65


class StopAction(enum.StrEnum):
    """What a stop does to the processes."""

    #: Every process seen stopped; they stay in memory.
    SUSPEND = "suspend"
    #: Warning, grace, SIGKILL until none is left.
    KILL = "kill"


class StopMode(enum.StrEnum):
    """What becomes of the session afterwards: the controller's business, kept in the agent's records."""

    SUSPEND = "suspend"
    RESCHEDULE = "reschedule"
    TERMINATE = "terminate"


class StopBy(enum.StrEnum):
    """Who wanted the stop."""

    SCHEDULER = "scheduler"
    PERSON = "person"


class KillCause(enum.StrEnum):
    """Why a session is ended for good."""

    CANCELLED = "cancelled"
    WALL_TIME = "wall-time"
    NODE_LOST = "node-lost"
    STALE = "stale"


class HeldState(enum.StrEnum):
    """Knowledge of an agent about a session on its node."""

    RUNNING = "running"
    SUSPENDED = "suspended"
    #: A stop or an end is under way and not yet proven.
    STOPPING = "stopping"
    ENDED = "ended"


class StartRefusal(enum.StrEnum):
    """Why a start was refused before anything ran."""

    #: The start of this epoch had been cancelled.
    CANCELLED = "cancelled"
    #: A later epoch of the session is known here.
    STALE_EPOCH = "stale-epoch"


class WithdrawRefusal(enum.StrEnum):
    """Why a stop could not be withdrawn."""

    KILL_BEGUN = "kill-begun"
    ENDED = "ended"
    #: The processes are suspended and could not be continued.
    SUSPENDED = "suspended"


class StopMethod(enum.StrEnum):
    """How processes were held."""

    SIGNALS = "signals"
    FREEZER = "freezer"


class EndCause(enum.StrEnum):
    """How a session came to its end."""

    #: By itself, whether or not it had been warned.
    SELF = "self"
    #: By a kill that this agent carried out.
    KILLED = "killed"
    WALL_TIME = "wall-time"
    #: Found gone: reboot, or a supervisor that died with its job; exit status unknown.
    GONE = "gone"
    #: By the node itself, after it had not been heard for as long as the start said.
    FENCED = "fenced"


@dataclasses.dataclass(frozen=True)
class NewerWord:
    """
    A word of an enumeration that came later.

    Attributes:
        since: the version that brought it.
        before: the word that reports say instead to a controller of an older version.
    """

    since: int
    before: enum.Enum


#: Words that the first version does not have.
NEWER_WORDS: dict[enum.Enum, NewerWord] = {EndCause.FENCED: NewerWord(2, EndCause.GONE)}
