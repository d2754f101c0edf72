"""
The closed lists of words: one text per reason to wait, per verdict, per action and per mode.

Plain English without identities: queues, priorities, sizes and times only. The tests compare each list with
its enum, so that none can be missing. Source: DESIGN 7, 9.
"""

from __future__ import annotations

from collections.abc import Mapping

from scheduler.core import decisions, entities

_R, _V, _A, _M = decisions.PendReason, decisions.Verdict, decisions.Action, entities.PreemptionMode

#: Short names, for lists and chips.
PEND_TITLE: Mapping[decisions.PendReason, str] = {
    _R.HELD: "Held",
    _R.UNKNOWN_QUEUE: "Queue does not serve this group",
    _R.NO_MATCHING_NODE: "No node with these labels",
    _R.NODE_UNAVAILABLE: "Its node is not available",
    _R.GROUP_STOPPED: "Group is stopped",
    _R.QUEUE_STOPPED: "Queue is stopped",
    _R.DEPENDENCY_IMPOSSIBLE: "Dependency cannot be met",
    _R.DEPENDENCY: "Waits for another session",
    _R.BEGIN_TIME: "Begin time",
    _R.NEVER_FITS: "Can never run as asked",
    _R.EXCEEDS_OWNER_LIMIT: "Larger than the owner's limit",
    _R.EXCEEDS_QUEUE_LIMIT: "Larger than the queue's limit",
    _R.OWNER_LIMIT: "The owner's limit is used up",
    _R.QUEUE_LIMIT: "The queue's limit is used up",
    _R.POLICY_FAILED: "Preemption policy failed",
    _R.NO_RESOURCES: "Not enough free",
    _R.FRAGMENTED: "Enough free, but not on one node",
    _R.AWAITING_VICTIMS: "Room is being made",
    _R.AWAITING_RELEASE: "Room is becoming free",
    _R.HOLDS_CLAIM: "First in line",
    _R.ROOM_CLAIMED: "Room is kept for an earlier session",
    _R.BEHIND_OTHERS: "Behind others",
    _R.NOT_EVALUATED: "Not looked at yet",
}

#: What a person can do about it.
PEND_HELP: Mapping[decisions.PendReason, str] = {
    _R.HELD: "Release it to let it start.",
    _R.UNKNOWN_QUEUE: "Submit it to a queue that serves this group, or ask for the queue to be extended.",
    _R.NO_MATCHING_NODE: "Ask for other labels, or for another group.",
    _R.NODE_UNAVAILABLE: "It goes on only on its own node. Requeue it to start anew on another.",
    _R.GROUP_STOPPED: "Nothing new starts in this group until an administrator starts it again.",
    _R.QUEUE_STOPPED: "Nothing of this queue starts until an administrator opens it again.",
    _R.DEPENDENCY_IMPOSSIBLE: "It is cancelled. Submit it again without the dependency that failed.",
    _R.DEPENDENCY: "It starts after the sessions that it depends on have ended as asked.",
    _R.BEGIN_TIME: "It is looked at from its begin time on. An earlier begin time lets it start earlier.",
    _R.NEVER_FITS: "Ask for less on each node, for fewer nodes, or for another group.",
    _R.EXCEEDS_OWNER_LIMIT: "Ask for less, or ask an administrator for a higher limit.",
    _R.EXCEEDS_QUEUE_LIMIT: "Ask for less, or use another queue.",
    _R.OWNER_LIMIT: "It starts when enough sessions of its owner have ended.",
    _R.QUEUE_LIMIT: "It starts when enough sessions of its queue have ended.",
    _R.POLICY_FAILED: "An administrator has to repair the queue's policy. Until then it stops nobody.",
    _R.NO_RESOURCES: "It starts when enough is free on one node. A smaller request may start sooner.",
    _R.FRAGMENTED: "It starts when enough is free together on one node. A smaller request may start now.",
    _R.AWAITING_VICTIMS: "Nothing to do: it starts as soon as the sessions told to stop have stopped.",
    _R.AWAITING_RELEASE: "Nothing to do: sessions that are ending leave enough, and it is kept for this one.",
    _R.HOLDS_CLAIM: "Nothing to do: sessions behind it leave its room alone. Holding or changing it gives that up.",
    _R.ROOM_CLAIMED: "It starts after that session, or at once with a wall-time limit that ends before it.",
    _R.BEHIND_OTHERS: "It starts when those before it have started and left enough, or elsewhere before that.",
    _R.NOT_EVALUATED: "The next round looks at it within a second or two.",
}

#: Why one session was stopped, or was not; filled with the numbers of the record.
VERDICT: Mapping[decisions.Verdict, str] = {
    _V.SELECTED: "stopped",
    _V.NOT_NEEDED: "not needed: it could have been stopped, but there was enough without it",
    _V.NOT_LOWER: "not lower: {value} {own} is not below {theirs}",
    _V.OTHER_OWNER: "belongs to another owner",
    _V.QUEUE_NOT_LISTED: "its queue is not one that this queue may preempt from",
    _V.QUEUE_NOT_PREEMPTIBLE: "its queue is not preemptible",
    _V.OPTED_OUT: "its owner opted out of preemption",
    _V.PRIVATE_OR_SYSTEM: "private and system sessions are never stopped",
    _V.MIN_RUNTIME: "protected by the minimum runtime{until}",
    _V.NOT_RUNNING: "not running",
    _V.IN_ANOTHER_DECISION: "already being stopped for another session",
    _V.PREEMPTED_TOO_OFTEN: "protected: already preempted as often as is allowed ({times} of {most})",
    _V.WOULD_CLOSE_CYCLE: "the waiting session gave way to it before, itself or through others",
    _V.RANKED_HIGHER_BY_OWNER: "ranked higher by the same owner: job priority {own} against {theirs}",
    _V.NODE_RULED_OUT: "could be stopped, but no room can be made for the waiting session where it runs",
    _V.FREES_NOTHING_SHORT: "its stop would free nothing that is short",
    _V.STOP_FAILED: "an earlier attempt to suspend it failed, so it is not tried again",
    _V.LIMIT: "its stop would not help: a limit would stand in the way",
    _V.INSUFFICIENT: "could be stopped, but all who could be stopped where it runs do not free enough there",
    _V.POLICY_CHOSE_NOBODY: "could be stopped, but the preemption policy chose nobody",
    _V.POLICY_GAVE_NO_ANSWER: "could be stopped, but the preemption policy gave no answer that can be used",
}

#: What was done to a victim.
ACTION: Mapping[decisions.Action, str] = {
    _A.SUSPEND: "suspended",
    _A.KILL: "stopped",
    _A.CANCEL_DISPATCH: "kept from starting",
    _A.REQUEUE_SUSPENDED: "ended while suspended",
}

#: What becomes of a stopped session.
NEXT: Mapping[entities.PreemptionMode, str] = {
    _M.TERMINATE: "It does not start again by itself.",
    _M.RESCHEDULE: "It keeps its place in the line and starts again by itself.",
    _M.SUSPEND: "Its processes are kept and go on from where they stood as soon as there is room.",
}

#: What an axis compares.
VALUE: Mapping[entities.Axis, str] = {
    entities.Axis.OWNER: "job priority",
    entities.Axis.QUEUE: "priority",
}
