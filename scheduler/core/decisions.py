"""
What a round decides: dispatch, pend or preempt, each handed to one callback.

The core learns nothing of what the callback does: the committer writes rows and commands, preview and shadow
collect, tests append to a list. Source: XCE spec AC1, AC4; DESIGN sections 4, 5 and 7.
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Mapping, Sequence
from typing import Protocol

from scheduler.core import entities, proofs, resources


class DecisionOp(enum.IntEnum):
    """Numbers as in XCE's ``decision.h``; NEW_SESSION is kept for number compatibility and never emitted."""

    NONE = 0
    DISPATCH = 1
    PEND = 2
    PREEMPT = 3
    NEW_SESSION = 4


class PendReason(enum.StrEnum):
    """Why a session waits. One headline each; the order is the precedence, tier by tier (ECOSYSTEM D.4)."""

    HELD = "held"
    UNKNOWN_QUEUE = "unknown-queue"  #: its queue does not serve the group any more
    NO_MATCHING_NODE = "no-matching-node"  #: no node of the group has the labels
    NODE_UNAVAILABLE = "node-unavailable"  #: suspended, and its node is down
    GROUP_STOPPED = "group-stopped"
    QUEUE_STOPPED = "queue-stopped"
    DEPENDENCY_IMPOSSIBLE = "dependency-impossible"
    DEPENDENCY = "dependency"
    BEGIN_TIME = "begin-time"
    NEVER_FITS = "never-fits"  #: can never run as asked
    EXCEEDS_OWNER_LIMIT = "exceeds-owner-limit"  #: the request alone is above the owner's limit
    EXCEEDS_QUEUE_LIMIT = "exceeds-queue-limit"
    OWNER_LIMIT = "owner-limit"
    QUEUE_LIMIT = "queue-limit"
    POLICY_FAILED = "policy-failed"  #: lacks slots, and the queue's plug-in is missing or gave a bad answer
    NO_RESOURCES = "no-resources"
    FRAGMENTED = "fragmented"  #: enough is free in total, but not on one node
    AWAITING_VICTIMS = "awaiting-victims"
    AWAITING_RELEASE = "awaiting-release"  #: what is already being stopped suffices
    HOLDS_CLAIM = (
        "holds-claim"  #: lacks slots; nodes are kept for it, since it is first and has waited too long
    )
    ROOM_CLAIMED = "room-claimed"  #: enough is free, but it is kept for a session further ahead
    BEHIND_OTHERS = "behind-others"  #: enough is free, but reserved for sessions whose turn came before
    NOT_EVALUATED = "not-evaluated"  #: the next round will look


#: With one of these a session waits for ever, unless a person changes it or the cluster.
NEVER_STARTS = frozenset(
    {
        PendReason.UNKNOWN_QUEUE,
        PendReason.NO_MATCHING_NODE,
        PendReason.DEPENDENCY_IMPOSSIBLE,
        PendReason.NEVER_FITS,
        PendReason.EXCEEDS_OWNER_LIMIT,
        PendReason.EXCEEDS_QUEUE_LIMIT,
    }
)
#: A session that passed every check and lacks slots; ``facts`` have the numbers of the shortage.
SHORT_OF_SLOTS = frozenset({PendReason.NO_RESOURCES, PendReason.FRAGMENTED, PendReason.BEHIND_OTHERS})


class Verdict(enum.StrEnum):
    """What the core thought of one candidate victim; every running session of the group gets exactly one."""

    SELECTED = "selected"
    NOT_NEEDED = "not-needed"
    NOT_LOWER = "not-lower"  #: facts: own, theirs
    OTHER_OWNER = "other-owner"
    QUEUE_NOT_LISTED = "queue-not-listed"
    QUEUE_NOT_PREEMPTIBLE = "queue-not-preemptible"
    OPTED_OUT = "opted-out"
    PRIVATE_OR_SYSTEM = "private-or-system"
    MIN_RUNTIME = "min-runtime"  #: facts: until
    NOT_RUNNING = "not-running"
    IN_ANOTHER_DECISION = "in-another-decision"
    PREEMPTED_TOO_OFTEN = "preempted-too-often"
    WOULD_CLOSE_CYCLE = "would-close-cycle"
    RANKED_HIGHER_BY_OWNER = "ranked-higher-by-owner"
    NODE_RULED_OUT = "node-ruled-out"  #: legal, but the preemptor is made no room on any node where it runs
    FREES_NOTHING_SHORT = "frees-nothing-short"
    STOP_FAILED = "stop-failed"
    #: legal or not, a limit stands in the way: of owner or queue, or of the suspended sessions of a node
    LIMIT = "limit"
    INSUFFICIENT = "insufficient"  #: legal, but all that are legal do not free enough together on its node
    POLICY_CHOSE_NOBODY = "policy-chose-nobody"  #: legal, and nothing else is known to stand in the way
    POLICY_GAVE_NO_ANSWER = "policy-gave-no-answer"  #: the same, and the policy failed or is missing


class Action(enum.StrEnum):
    """What is done to one victim."""

    SUSPEND = "suspend"
    KILL = "kill"
    CANCEL_DISPATCH = "cancel-dispatch"
    REQUEUE_SUSPENDED = "requeue-suspended"


@dataclasses.dataclass(frozen=True, slots=True)
class NodeGrant:
    """Slots, and for indexed kinds the very indices, promised on one node."""

    node_id: int
    slots: resources.ResourceVector
    indices: Mapping[str, tuple[int, ...]]


@dataclasses.dataclass(frozen=True, slots=True)
class Dispatch:
    """Start (or resume) a session on these nodes."""

    session_id: int
    grants: tuple[NodeGrant, ...]
    is_resume: bool = False
    reservation_id: int | None = None  #: the reservation that this start uses up

    op = DecisionOp.DISPATCH


@dataclasses.dataclass(frozen=True, slots=True)
class NodeView:
    """One node as the planner saw it for one request."""

    node_id: int
    free: resources.ResourceVector  #: net of reservations and claims of others
    releasing: resources.ResourceVector
    short: resources.ResourceVector  #: request - free - releasing, where positive
    sessions_short: int  #: session places missing, 0 when enough
    note: str  #: "" or why it was not considered: "labels", "not-ready", "too-small", "backoff", "no-set"


@dataclasses.dataclass(frozen=True, slots=True)
class CandidateView:
    """One session as the planner saw it, with its verdict."""

    session_id: int
    node_ids: tuple[int, ...]
    verdict: Verdict
    facts: Mapping[str, int]  #: numbers behind the verdict, e.g. {"own": 5, "theirs": 20} or {"until": time}


@dataclasses.dataclass(frozen=True, slots=True)
class Pend:
    """Leave a session waiting, with the headline reason."""

    session_id: int
    reason: PendReason
    facts: Mapping[str, int | str]  #: flat numbers and words, e.g. {"until": time} or {"short.cpu": 2000}
    nodes: Sequence[NodeView] = ()
    candidates: Sequence[CandidateView] = ()  #: filled when preemption was tried and found no set
    wait: Wait | None = None  #: AWAITING_RELEASE: the reservation to make
    claim: entities.Claim | None = None  #: the claim to make, or to move to other nodes

    op = DecisionOp.PEND


@dataclasses.dataclass(frozen=True, slots=True)
class Wait:
    """What is already being stopped suffices: reserve like a preemption, stop nobody."""

    node_id: int
    slots: resources.ResourceVector
    draw: resources.ResourceVector  #: the free part, drawn at once
    draw_indices: Mapping[str, tuple[int, ...]]
    releasing_ids: tuple[int, ...]  #: sessions being stopped whose slots are promised


@dataclasses.dataclass(frozen=True, slots=True)
class VictimOrder:
    """What happens to one victim, and why it was legal."""

    session_id: int
    action: Action
    mode: entities.PreemptionMode
    signal: int  #: first signal; 0 for an action without one
    grace_s: int
    own_value: int  #: the victim's job_priority (owner axis) or priority (queue axis)
    frees: resources.ResourceVector  #: on the target node


@dataclasses.dataclass(frozen=True, slots=True)
class Preempt:
    """
    Stop these victims so that one session can start on one node.

    ``victim_jobids``, ``n_victims``, ``signal`` and ``preempting_jobid`` are XCE's payload; ``signal`` is the
    victims' common value, 0 when they differ.
    """

    preempting_jobid: int
    victims: tuple[VictimOrder, ...]
    axis: entities.Axis
    policy_name: str
    node_id: int
    slots: resources.ResourceVector
    draw: resources.ResourceVector  #: the free part, drawn at once
    draw_indices: Mapping[str, tuple[int, ...]]
    releasing_ids: tuple[int, ...]  #: sessions already being stopped whose slots are counted too
    preemptor_value: int  #: the preemptor's job_priority or priority, by axis
    nodes: Sequence[NodeView]
    candidates: Sequence[CandidateView]
    is_shadow: bool
    is_fewest_proved: bool
    search_steps: int
    takes_over: int | None = None  #: reservation id of the holder that gives way
    proof: proofs.Proof | None = None  #: of the number of victims, where the policy gives one

    op = DecisionOp.PREEMPT

    @property
    def victim_jobids(self) -> tuple[int, ...]:
        """Return the victims' ids, in the order in which they are stopped."""
        return tuple(victim.session_id for victim in self.victims)

    @property
    def n_victims(self) -> int:
        """Return the number of victims; 0 for a takeover that stops nobody further."""
        return len(self.victims)

    @property
    def signal(self) -> int:
        """Return the victims' common first signal, 0 when they differ."""
        signals = {victim.signal for victim in self.victims}
        return signals.pop() if len(signals) == 1 else 0


Decision = Dispatch | Pend | Preempt


class Decide(Protocol):
    """The one callback through which a round speaks."""

    def __call__(self, decision: Decision, /) -> None:
        """Take one decision. A Preempt is always followed by a Pend(AWAITING_VICTIMS) for its preemptor."""
