"""
Life of a session: the states, what moves it, and the one table.

Theory of operation. A session waits (PENDING), is promised slots (SCHEDULED) and runs (RUNNING). Whoever
wants it to stop says so first (PREEMPTED for the scheduler, STOPPING for a person who suspends or requeues,
TERMINATING for an end); in these three states it **keeps its slots**, because wanting is not evidence. Only
an agent's proof moves it on (SUSPENDED, PENDING, TERMINATED) and frees what the mode frees. A way back exists
wherever the processes still live: a withdrawn or failed stop returns to RUNNING. ``next_state`` is the only
reader of the table, and ``scheduler.services.transitions`` is the only writer of a session's state. Source:
DESIGN section 3.
"""

from __future__ import annotations

import enum

from scheduler.core import errors


class SessionState(enum.StrEnum):
    """Where a session is in its life."""

    PENDING = "pending"  #: waits for slots; holds nothing
    SCHEDULED = "scheduled"  #: slots held, start or resume ordered, not yet confirmed
    RUNNING = "running"  #: the agent confirmed that its processes run
    PREEMPTED = "preempted"  #: chosen as a victim and told to stop; keeps its slots until the stop is proven
    SUSPENDED = "suspended"  #: processes proven stopped; holds what the group does not release
    STOPPING = "stopping"  #: a person suspends or requeues it; keeps its slots until proven
    TERMINATING = "terminating"  #: being ended; keeps its slots until proven
    TERMINATED = "terminated"  #: over; holds nothing


class Trigger(enum.StrEnum):
    """What moves a session from one state to another."""

    DISPATCH = "dispatch"  #: a round promised slots to a pending session
    RESUME_DISPATCH = "resume-dispatch"  #: a round promised slots to a suspended session
    CONFIRM = "confirm"  #: the agent confirmed start or resume
    DISPATCH_UNDONE = "dispatch-undone"  #: start failed, was withdrawn or cancelled
    RESUME_UNDONE = "resume-undone"  #: the same for a resume
    CANCEL_WAITING = "cancel-waiting"  #: owner, operator or dependency ends a session that holds nothing
    CANCEL = "cancel"  #: owner, operator or wall time ends a session that holds a node
    PREEMPT = "preempt"  #: chosen as a victim
    STOP_PROVEN_TERMINATE = "stop-proven-terminate"  #: preempted, mode terminate
    STOP_PROVEN_REQUEUE = "stop-proven-requeue"  #: preempted, mode reschedule
    STOP_PROVEN_SUSPEND = "stop-proven-suspend"  #: preempted, mode suspend
    WITHDRAWN = "withdrawn"  #: the preemption was withdrawn, or its stop failed and was undone
    STOP_ASKED = (
        "stop-asked"  #: a person suspends, requeues, or makes a suspended session give up its process
    )
    ASKED_SUSPENDED = "asked-suspended"  #: the suspend of a person is proven
    ASKED_REQUEUED = "asked-requeued"  #: the requeue of a person is proven
    ASKED_UNDONE = "asked-undone"  #: the suspend of a person failed and was undone
    ENDED = "ended"  #: its processes are gone
    LOST_REQUEUE = "lost-requeue"  #: its node is proven lost, and it may start anew
    LOST_END = "lost-end"  #: its node is proven lost, and it may not


class Result(enum.StrEnum):
    """How a session ended. A preemption is never a failure."""

    SUCCESS = "success"
    FAILURE = "failure"
    CANCELLED = "cancelled"
    PREEMPTED = "preempted"
    TIMEOUT = "timeout"
    LOST = "lost"


_S, _T = SessionState, Trigger
_HOLDS_NODE = (_S.SCHEDULED, _S.RUNNING, _S.PREEMPTED, _S.SUSPENDED, _S.STOPPING, _S.TERMINATING)

#: (state, trigger) -> next state; what is not here is forbidden.
TRANSITIONS: dict[tuple[SessionState, Trigger], SessionState] = {
    (_S.PENDING, _T.DISPATCH): _S.SCHEDULED,
    (_S.PENDING, _T.CANCEL_WAITING): _S.TERMINATED,
    (_S.SUSPENDED, _T.RESUME_DISPATCH): _S.SCHEDULED,
    (_S.SCHEDULED, _T.CONFIRM): _S.RUNNING,
    (_S.SCHEDULED, _T.DISPATCH_UNDONE): _S.PENDING,
    (_S.SCHEDULED, _T.RESUME_UNDONE): _S.SUSPENDED,
    (_S.RUNNING, _T.PREEMPT): _S.PREEMPTED,
    (_S.SUSPENDED, _T.PREEMPT): _S.PREEMPTED,
    (_S.PREEMPTED, _T.STOP_PROVEN_TERMINATE): _S.TERMINATED,
    (_S.PREEMPTED, _T.STOP_PROVEN_REQUEUE): _S.PENDING,
    (_S.PREEMPTED, _T.STOP_PROVEN_SUSPEND): _S.SUSPENDED,
    (_S.PREEMPTED, _T.WITHDRAWN): _S.RUNNING,
    (_S.RUNNING, _T.STOP_ASKED): _S.STOPPING,
    (_S.SUSPENDED, _T.STOP_ASKED): _S.STOPPING,
    (_S.STOPPING, _T.ASKED_SUSPENDED): _S.SUSPENDED,
    (_S.STOPPING, _T.ASKED_REQUEUED): _S.PENDING,
    (_S.STOPPING, _T.ASKED_UNDONE): _S.RUNNING,
    **{
        (state, _T.CANCEL): _S.TERMINATING
        for state in (_S.SCHEDULED, _S.RUNNING, _S.PREEMPTED, _S.SUSPENDED, _S.STOPPING)
    },
    **{(state, _T.ENDED): _S.TERMINATED for state in _HOLDS_NODE},
    **{(state, _T.LOST_REQUEUE): _S.PENDING for state in _HOLDS_NODE if state != _S.TERMINATING},
    **{(state, _T.LOST_END): _S.TERMINATED for state in _HOLDS_NODE},
}

#: States in which the session holds slots, or may again claim what it left on its node.
HOLDING = frozenset(_HOLDS_NODE)
#: States that only an agent's answer or a deadline may end.
TRANSITIONAL = frozenset({_S.SCHEDULED, _S.PREEMPTED, _S.STOPPING, _S.TERMINATING})
#: States whose slots become free once the stop is proven.
BEING_STOPPED = frozenset({_S.PREEMPTED, _S.STOPPING, _S.TERMINATING})
#: States in which the session's processes exist, or may exist.
LIVE = frozenset(_HOLDS_NODE)


class ForbiddenTransition(errors.CoreError):
    """The table has no such way; nothing was changed."""

    def __init__(self, state: SessionState, trigger: Trigger) -> None:
        super().__init__(f"a session that is {state} cannot {trigger}")
        self.state = state
        self.trigger = trigger


def next_state(state: SessionState, trigger: Trigger) -> SessionState:
    """
    Return where ``trigger`` leads from ``state``.

    Raises:
        ForbiddenTransition: the table has no such way.
    """
    try:
        return TRANSITIONS[state, trigger]
    except KeyError:
        raise ForbiddenTransition(state, trigger) from None


def can(state: SessionState, trigger: Trigger) -> bool:
    """Say whether the table has a way out of ``state`` by ``trigger``."""
    return (state, trigger) in TRANSITIONS
