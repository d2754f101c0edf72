"""A case as values: what is the same for every kind of case, with the format's defaults filled in."""

from __future__ import annotations

import dataclasses
import decimal
import enum
from collections.abc import Mapping
from typing import Any

from scheduler.core import states
from scheduler.scenarios import located

Amounts = Mapping[str, int]
Devices = Mapping[str, tuple[int, ...]]  #: kind -> device numbers
#: Seconds, exact to the microsecond.
Seconds = int | decimal.Decimal
DEFAULT_QUEUE = "q1"
#: What a limit on the number of sessions is called among the amounts.
SESSIONS = "sessions"
#: How long a running session has run when the case does not say.
STARTED_S_AGO = 3600


class Kind(enum.StrEnum):
    """What an entry is about."""

    SELECT = "select"
    LIFECYCLE = "lifecycle"
    CONFIG = "config"
    EXPLAIN = "explain"
    SIGNAL = "signal"


#: What these are about is a cluster with sessions; of the others alone what has steps.
PICTURED = (Kind.SELECT, Kind.LIFECYCLE)


@dataclasses.dataclass(frozen=True)
class NodeEntry:
    """One node of the case."""

    id: str
    cap: Amounts
    labels: Mapping[str, str]
    max_sessions: int | None = None
    state: str = "ready"
    devices: Devices = dataclasses.field(default_factory=dict)  #: of kinds that are not numbered from 0


@dataclasses.dataclass(frozen=True)
class QueueEntry:
    """One queue of the case; the default one is always there."""

    id: str
    preemptible: bool = False
    preemptible_queues: tuple[str, ...] = ()
    mode: str = ""
    policy: str = ""
    state: str = "open"
    limits: Amounts = dataclasses.field(default_factory=dict)
    max_sessions: int | None = None
    serves: bool = True  #: False: it is a queue of other groups


@dataclasses.dataclass(frozen=True)
class Standing:
    """What a picture may say of a session besides, so that a stored one can be written down exactly."""

    stop_mode: str = ""  #: being stopped: what becomes of it; "" = the rules' mode
    stop_releases: tuple[str, ...] | None = (
        None  #: being suspended, or resumed: what that frees; None = by the rules
    )
    is_counted: bool = True  #: False: it was suspended when its stop began
    stop_deadline_s: Seconds = 1  #: being stopped: seconds from now; past = stuck
    in_decision: bool | None = None  #: None = exactly the preempted ones are
    is_withdrawing: bool = False
    is_resume: bool = False  #: scheduled: by a resume
    stop_failed: bool = False
    holds: Mapping[str, Amounts] | None = None  #: suspended: what it holds still; None = by the rules
    devices: Mapping[str, Devices] = dataclasses.field(
        default_factory=dict
    )  #: node -> of ``alloc``; else the lowest
    holds_devices: Mapping[str, Devices] = dataclasses.field(default_factory=dict)  #: of ``holds``
    backoff_s: Mapping[str, Seconds] = dataclasses.field(default_factory=dict)  #: node -> closed for so long
    waiting_s_ago: Seconds | None = None
    begin_in_s: Seconds | None = None
    dependency: str = "met"


@dataclasses.dataclass(frozen=True)
class ReservationEntry:
    """Room that is kept for a waiting session in the picture."""

    session: str
    node: str
    slots: Amounts
    drawn: Amounts
    waits_for: tuple[str, ...]
    deadline_s: Seconds
    is_wait: bool = False
    is_binding: bool = False
    devices: Devices = dataclasses.field(default_factory=dict)  #: of what is drawn; else the lowest


@dataclasses.dataclass(frozen=True)
class SessionEntry:
    """One session: running (it has ``alloc``) or waiting (it has ``request``)."""

    id: str
    owner: str = "u1"
    queue: str = "q1"
    priority: int = 10
    job_priority: int = 10
    preemptible: bool = True
    state: states.SessionState = states.SessionState.PENDING
    started_s_ago: Seconds | None = None  #: None = not given
    submitted: int | None = None  #: place in the order of submission
    request: Amounts = dataclasses.field(default_factory=dict)
    alloc: Mapping[str, Amounts] = dataclasses.field(default_factory=dict)  #: node -> kind -> amount
    requires_any: Mapping[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)
    node_count: int = 1
    type: str = "batch"
    is_private: bool = False
    is_held: bool = False
    times_preempted: int = 0
    grace_s: int | None = None
    walltime_s: int | None = None
    run: int = 1
    standing: Standing = Standing()

    @property
    def wishes(self) -> dict[str, Any]:
        """Return what its owner asked for, by the names that the core and the services share."""
        return {
            "node_count": self.node_count,
            "priority": self.priority,
            "job_priority": self.job_priority,
            "is_preemptible": self.preemptible,
            "is_private": self.is_private,
            "is_held": self.is_held,
        }


@dataclasses.dataclass(frozen=True)
class Config:
    """The rules of the case, as the fields of a policy version, and limits by owner and queue."""

    rules: Mapping[str, Any]
    owner_limits: Mapping[str, Amounts] = dataclasses.field(default_factory=dict)
    queue_limits: Mapping[str, Amounts] = dataclasses.field(default_factory=dict)
    owner_used: Mapping[str, Amounts] = dataclasses.field(default_factory=dict)  #: in other groups
    queue_used: Mapping[str, Amounts] = dataclasses.field(default_factory=dict)  #: in other groups

    def of_owner(self, name: str) -> Limits:
        """Return the limits of an owner."""
        return _limits(self.owner_limits.get(name, {}))

    def of_queue(self, queue: QueueEntry) -> Limits:
        """Return the limits of a queue, those of the config before its own."""
        limits = _limits({**queue.limits, **self.queue_limits.get(queue.id, {})})
        return (
            limits
            if limits.sessions is not None
            else dataclasses.replace(limits, sessions=queue.max_sessions)
        )


@dataclasses.dataclass(frozen=True)
class Limits:
    """How much an owner or a queue may hold."""

    slots: dict[str, int]
    sessions: int | None  #: at the same time; None = as many as they like


def _limits(amounts: Amounts) -> Limits:
    """Return limits as they are written: the number of sessions is one of the amounts, in thousandths like others."""
    slots = {kind: amount for kind, amount in amounts.items() if kind != SESSIONS}
    return Limits(slots, amounts[SESSIONS] // 1000 if SESSIONS in amounts else None)


@dataclasses.dataclass(frozen=True)
class Case:
    """One entry of a file."""

    id: str
    kind: Kind
    line: int
    title: str = ""
    nodes: tuple[NodeEntry, ...] = ()
    queues: tuple[QueueEntry, ...] = ()
    running: tuple[SessionEntry, ...] = ()
    pending: tuple[SessionEntry, ...] = ()
    config: Config = dataclasses.field(default_factory=lambda: Config({}))
    reservations: tuple[ReservationEntry, ...] = ()
    edges: tuple[tuple[str, str], ...] = ()  #: winner, loser
    claims: tuple[tuple[str, tuple[str, ...]], ...] = ()  #: session, nodes
    round_number: int = 0
    is_starting: bool = True
    tells_shadow: bool = False  #: what shadow would have done is the answer
    steps: tuple[located.Table, ...] = ()
    expect: located.Table | None = None
    alternative: located.Table | None = None
    beyond: tuple[str, ...] = ()  #: reasons why this version cannot run it; empty = it can
    fault: str = ""  #: what is wrong with it; empty = it is well formed

    @property
    def is_played(self) -> bool:
        """Say whether it is run on a simulated cluster, which needs a database."""
        has_story = self.kind is Kind.LIFECYCLE or (self.kind not in PICTURED and bool(self.steps))
        return has_story and not self.fault and not self.beyond
