"""
Named places at which a test may end, halt or fail the process that reaches them (RELIABILITY 3).

``reach`` does nothing, and nothing in the product changes that: only a test that starts a process through its own
launcher arms it, and a system check fails where it is armed. Standard library only: agents and supervisors reach
points, too.
"""

from __future__ import annotations

from collections.abc import Callable

#: Reached by the controller: web, worker, commands.
CONTROLLER = (
    "submit.written",  # a session's row and event are written, not committed
    "round.locked",  # the round has its group's lock
    "round.decided",  # the core has decided, nothing is written
    "round.written",  # the decisions are written, not committed
    "round.committed",  # and committed
    "preempt.written",  # a decision with its victims and their orders is written, not committed
    "order.written",  # a command is in the outbox, not committed
    "order.sent",  # a command was handed to the broker, and nobody has noted it
    "order.marked",  # and noted
    "report.opened",  # a report was taken from the broker, nothing is applied
    "report.judged",  # it is applied, not committed
    "report.applied",  # and committed, not acknowledged
    "report.acknowledged",  # and acknowledged
    "eviction.requeued",  # a stopped session waits again, not committed
    "withdrawal.ordered",  # a stop is asked back, not committed
    "event.numbered",  # the events of a transaction have their numbers, not committed
    "commit.done",  # a transaction is committed, none of its bells was rung
    "hint.sent",  # browsers were told of new events
    "reconcile.looked",  # one rule of the reconciler was applied
)
#: Reached by agents and the supervisors of sessions.
AGENT = (
    "agent.journaled",  # a command is in the journal, nothing was done
    "agent.launched",  # the session's processes run, the journal does not know it
    "agent.stopping",  # a stop is in the journal, no signal was sent
    "agent.stopped",  # the processes were seen stopped, nobody was told
    "agent.reported",  # a report is in the journal, not sent
    "agent.sent",  # a report was handed to the broker
    "shepherd.launched",  # the supervisor has let the job go, and nobody was told
)
ALL = (*CONTROLLER, *AGENT)

_act: Callable[[str], None] | None = None


def reach(point: str) -> None:
    """Pass one of the named places."""
    if _act is not None:
        _act(point)


def arm(act: Callable[[str], None] | None) -> None:
    """Let something happen in this process whenever a place is passed; None = nothing any more. For tests alone."""
    global _act
    _act = act


def is_armed() -> bool:
    """Say whether something may happen at the named places."""
    return _act is not None
