"""
What one round may know about nodes, groups, queues, owners and sessions: frozen values.

Times are integers, microseconds since the epoch, from the database's clock. Ids are the database's integers.
Mappings are plain dicts that nobody changes after construction.
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Mapping

from scheduler.core import resources, states

#: Nobody can ask for a higher rank. Source: DESIGN 2 (signed 32 bit).
MOST_JOB_PRIORITY = 2**31 - 1


class PreemptionState(enum.StrEnum):
    """The switch of a resource group."""

    OFF = "off"
    SHADOW = "shadow"
    ON = "on"


class PreemptionMode(enum.StrEnum):
    """What becomes of a victim."""

    TERMINATE = "terminate"
    RESCHEDULE = "reschedule"
    SUSPEND = "suspend"


class PreemptionOrder(enum.StrEnum):
    """Which of several legal victims goes first."""

    OLDEST = "oldest"
    NEWEST = "newest"
    FEWEST_SESSIONS = "fewest-sessions"
    SMALLEST_RESOURCES = "smallest-resources"


class PreemptionScope(enum.StrEnum):
    """Which axes a group uses."""

    OWNER = "owner"
    QUEUE = "queue"
    OWNER_THEN_QUEUE = "owner_then_queue"


class Axis(enum.StrEnum):
    """Which comparison makes a victim legal: one's own sessions (BEP-1055) or queues (XCE)."""

    OWNER = "owner"
    QUEUE = "queue"


class Placement(enum.StrEnum):
    """How a free node is chosen among those that fit."""

    CONCENTRATED = "concentrated"
    DISPERSED = "dispersed"
    ROUND_ROBIN = "round_robin"


class NodeState(enum.StrEnum):
    """Whether a node takes new sessions (only ``ready`` does)."""

    READY = "ready"
    DRAINING = "draining"
    DOWN = "down"
    SUSPECT = "suspect"


class QueueState(enum.StrEnum):
    """Whether a queue takes submissions and starts sessions."""

    OPEN = "open"
    NO_SUBMIT = "no_submit"
    STOPPED = "stopped"


class SessionType(enum.StrEnum):
    """Sets defaults and labels; ``system`` is infrastructure and is never stopped or pre-empting."""

    BATCH = "batch"
    INTERACTIVE = "interactive"
    INFERENCE = "inference"
    SYSTEM = "system"


class DependencyState(enum.StrEnum):
    """What the sessions that this one waits for allow."""

    MET = "met"
    WAITING = "waiting"
    IMPOSSIBLE = "impossible"


@dataclasses.dataclass(frozen=True, slots=True)
class Policy:
    """The preemption rules of a group, as one version says (DESIGN section 2)."""

    version: int
    state: PreemptionState = PreemptionState.OFF
    mode: PreemptionMode = PreemptionMode.TERMINATE
    order: PreemptionOrder = PreemptionOrder.OLDEST
    scope: PreemptionScope = PreemptionScope.OWNER_THEN_QUEUE
    min_runtime_s: int = 0  #: seconds; 0 = off
    grace_s: int = 10  #: seconds from warning to kill
    suspend_grace_s: int = 2  #: seconds from SIGTSTP to SIGSTOP
    in_flight_timeout_s: int = 60  #: seconds beyond the grace
    max_preemptions_per_session: int | None = None
    cancel_unconfirmed_dispatch: bool = False
    suspend_releases: frozenset[str] | None = None  #: kinds that a suspend frees; None = every kind
    requeue_suspended: bool = False
    max_suspend_time_s: int | None = None
    max_suspended_per_node: int | None = None
    starvation_after_s: int = 1800  #: seconds; 0 = off
    placement: Placement = Placement.CONCENTRATED

    def releases(self, mode: PreemptionMode, held: resources.ResourceVector) -> resources.ResourceVector:
        """Return what of ``held`` a proven stop in ``mode`` frees."""
        if mode is not PreemptionMode.SUSPEND or self.suspend_releases is None:
            return held
        return held.only(self.suspend_releases)


@dataclasses.dataclass(frozen=True, slots=True)
class Node:
    """One machine of the group."""

    id: int
    name: str
    capacity: resources.ResourceVector
    devices: Mapping[str, tuple[int, ...]] = dataclasses.field(
        default_factory=dict
    )  #: indexed kind -> indices
    max_sessions: int | None = None
    labels: Mapping[str, str] = dataclasses.field(default_factory=dict)
    state: NodeState = NodeState.READY


@dataclasses.dataclass(frozen=True, slots=True)
class Usage:
    """
    Limits of an owner or a queue, and what is used of them over the whole cluster.

    Allocations alone: what reservations count is added by the round.
    """

    used: resources.ResourceVector = resources.EMPTY
    sessions: int = 0
    max_slots: Mapping[str, int] = dataclasses.field(
        default_factory=dict
    )  #: kinds without a limit are absent
    max_sessions: int | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Owner:
    """One user, as far as the core needs one."""

    id: int
    usage: Usage = Usage()


@dataclasses.dataclass(frozen=True, slots=True)
class Queue:
    """One queue with its cross-owner rules."""

    id: int
    name: str
    state: QueueState = QueueState.OPEN
    serves_group: bool = True  #: False: no longer; sessions of it may still run here, none starts
    preemptible: bool = False
    preemptible_queues: frozenset[int] = frozenset()  #: ids of the other queues it may preempt from
    preempt_policy: str | None = None  #: plug-in's name; None = lowest_priority_first
    preemption_mode: PreemptionMode | None = None  #: for its sessions as victims; None = the group's
    usage: Usage = Usage()


@dataclasses.dataclass(frozen=True, slots=True)
class Allocation:
    """What a session holds on one node now (a suspended one: what was not released)."""

    node_id: int
    slots: resources.ResourceVector
    indices: Mapping[str, tuple[int, ...]] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True, slots=True)
class Session:
    """One session that waits or holds a node."""

    id: int
    owner_id: int
    queue_id: int
    state: states.SessionState
    request: resources.ResourceVector  #: slots on each node
    submitted_at: int
    type: SessionType = SessionType.BATCH
    node_count: int = 1
    priority: int = 10
    job_priority: int = 10
    is_preemptible: bool = True
    is_private: bool = False
    is_held: bool = False
    labels: Mapping[str, frozenset[str]] = dataclasses.field(
        default_factory=dict
    )  #: label -> accepted values, all-of
    begin_at: int | None = None
    dependency: DependencyState = DependencyState.MET
    wall_limit_s: int | None = None
    waiting_since: int | None = None  #: since when it lacks slots without a break; None = not yet
    started_at: int | None = None  #: last start or resume
    epoch: int = 0
    attempt: int = 1
    times_preempted: int = 0
    stop_failed_since_start: bool = False
    allocations: tuple[Allocation, ...] = ()
    #: SUSPENDED, or SCHEDULED by a resume: all that it holds once it runs again, node and indices
    resume_slots: tuple[Allocation, ...] = ()
    stop_mode: PreemptionMode | None = None  #: being stopped: the mode of the decision; None = it ends
    stop_deadline: int | None = None  #: being stopped: after this it is stuck and counts as nothing
    in_decision: bool = False  #: already a victim of a decision under way
    is_withdrawing: bool = False  #: its stop is being taken back: neither free nor releasing
    #: counts as a session on its nodes and in its limits; False: suspended, or stopped while it was
    is_counted: bool = True
    #: being suspended, or SCHEDULED by a resume: the kinds its suspend frees, fixed in the decision; None = as the
    #: group says now
    stop_releases: frozenset[str] | None = None
    warning_signal: int = 15  #: sent before the kill
    grace_s: int | None = (
        None  #: own seconds from warning to kill, counted up to the group's; None = the group's
    )
    backoff: Mapping[int, int] = dataclasses.field(
        default_factory=dict
    )  #: node id -> closed to its preemption until

    @property
    def is_system(self) -> bool:
        """Say whether this is infrastructure."""
        return self.type is SessionType.SYSTEM


@dataclasses.dataclass(frozen=True, slots=True)
class Reservation:
    """Room kept for one pending session on one node (DESIGN 5.6)."""

    id: int
    session_id: int
    node_id: int
    slots: resources.ResourceVector
    drawn: resources.ResourceVector  #: already taken out of the node's free slots
    victim_ids: tuple[int, ...]  #: sessions whose stop will be drawn
    deadline: int
    indices: Mapping[str, tuple[int, ...]] = dataclasses.field(default_factory=dict)  #: drawn indices
    is_wait: bool = False  #: made by a wait: nobody was stopped for it
    is_binding: bool = False  #: a kill has begun: the holder starts nowhere else while it stands


@dataclasses.dataclass(frozen=True, slots=True)
class Claim:
    """
    Nodes kept for a session that has waited too long: those after it in the line leave its room there.

    Stored until the session starts, ends, is held or edited; what is kept follows from its request (DESIGN 4).
    """

    session_id: int
    node_ids: tuple[int, ...]  #: as many as the session asks for, sorted


@dataclasses.dataclass(frozen=True, slots=True)
class Edge:
    """``winner`` took something from ``loser``; kept while both live, so that no cycle can close."""

    winner_id: int
    loser_id: int
