"""
What a stop gives back: how a victim would be stopped, and what one that is being stopped will free.

Rules only; nothing here decides whom to stop. A suspend frees the kinds that the group's ``suspend_releases``
names, an end frees all. Source: DESIGN 5.1 (releasing, stuck), 5.4, 5.7, 6.2, 6.3.
"""

from __future__ import annotations

import dataclasses

from scheduler.core import decisions, entities, resources, states

#: SIGTSTP, the polite half of a suspend. Source: XCE spec AC6 ("SIGSTP"), DESIGN 6.3.
SIGNAL_SUSPEND = 20
#: Seconds from the end of a stop's grace to its deadline. Source: DESIGN 5.1.
STOP_MARGIN_S = 10


@dataclasses.dataclass(frozen=True, slots=True)
class StopPlan:
    """How one session would be stopped, and what that frees."""

    action: decisions.Action
    mode: entities.PreemptionMode
    signal: int  #: first signal, 0 for an action without one
    grace_s: int
    frees: tuple[tuple[int, resources.ResourceVector], ...]  #: (node id, slots) for every node it holds
    frees_place: bool  #: a suspended session holds no session place

    def on(self, node_id: int) -> resources.ResourceVector:
        """Return what it frees on one node."""
        return next((slots for held_id, slots in self.frees if held_id == node_id), resources.EMPTY)

    def total(self) -> dict[str, int]:
        """Return what it frees on all its nodes together, by kind."""
        amounts: dict[str, int] = {}
        for _, slots in self.frees:
            for kind, amount in slots:
                amounts[kind] = amounts.get(kind, 0) + amount
        return amounts


def plan_stop(session: entities.Session, queue: entities.Queue | None, policy: entities.Policy) -> StopPlan:
    """
    Say how ``session`` would be stopped as a victim.

    Args:
        session: RUNNING, SCHEDULED or SUSPENDED.
        queue: its queue, whose mode goes before the group's; None when unknown.
        policy: the group's rules.
    """
    if session.state is states.SessionState.SUSPENDED:
        return _plan_requeue(session, policy)
    if session.state is states.SessionState.SCHEDULED:
        return _plan_cancel(session, policy)
    mode = (queue.preemption_mode if queue else None) or policy.mode
    if mode is entities.PreemptionMode.SUSPEND:
        kind, signal, grace_s = decisions.Action.SUSPEND, SIGNAL_SUSPEND, policy.suspend_grace_s
    else:
        kind, signal, grace_s = decisions.Action.KILL, session.warning_signal, kill_grace_s(session, policy)
    return StopPlan(kind, mode, signal, grace_s, _frees(session, mode, policy), True)


def kill_grace_s(session: entities.Session, policy: entities.Policy) -> int:
    """Return the seconds from warning to kill: the session's own, but never more than the group's."""
    return policy.grace_s if session.grace_s is None else min(session.grace_s, policy.grace_s)


def _plan_requeue(session: entities.Session, policy: entities.Policy) -> StopPlan:
    mode = entities.PreemptionMode.RESCHEDULE
    grace_s = kill_grace_s(session, policy)
    frees = _frees(session, mode, policy)
    return StopPlan(decisions.Action.REQUEUE_SUSPENDED, mode, session.warning_signal, grace_s, frees, False)


def _plan_cancel(session: entities.Session, policy: entities.Policy) -> StopPlan:
    is_resume = bool(session.resume_slots)
    mode = entities.PreemptionMode.SUSPEND if is_resume else entities.PreemptionMode.RESCHEDULE
    return StopPlan(
        decisions.Action.CANCEL_DISPATCH, mode, 0, 0, _frees_as_decided(session, mode, policy), True
    )


def _frees(
    session: entities.Session, mode: entities.PreemptionMode, policy: entities.Policy
) -> tuple[tuple[int, resources.ResourceVector], ...]:
    return tuple((a.node_id, policy.releases(mode, a.slots)) for a in session.allocations)


def _frees_as_decided(
    session: entities.Session, mode: entities.PreemptionMode, policy: entities.Policy
) -> tuple[tuple[int, resources.ResourceVector], ...]:
    """Return what a suspend frees that was decided before, whatever the group says by now (DESIGN 5.5)."""
    kinds = session.stop_releases
    if mode is not entities.PreemptionMode.SUSPEND or kinds is None:
        return _frees(session, mode, policy)
    return tuple((a.node_id, a.slots.only(kinds)) for a in session.allocations)


def holds_place(session: entities.Session) -> bool:
    """Say whether it counts as a session on its nodes and in the limits of its owner and queue (DESIGN 5.7)."""
    return session.is_counted and session.state is not states.SessionState.SUSPENDED


def is_being_stopped(session: entities.Session) -> bool:
    """Say whether its stop, end or cancelled dispatch is ordered and not yet proven."""
    if session.state in states.BEING_STOPPED:
        return True
    return session.state is states.SessionState.SCHEDULED and session.in_decision


def is_held_back(session: entities.Session) -> bool:
    """Say whether it still holds what its ordered stop is to free; one that is withdrawn frees nothing."""
    return is_being_stopped(session) and not session.is_withdrawing


def is_releasing(session: entities.Session, now: int) -> bool:
    """
    Say whether what its stop frees may be counted on: ordered, not withdrawn, its deadline not yet over.
    """
    if not is_held_back(session):
        return False
    return session.stop_deadline is None or now <= session.stop_deadline


def is_stuck(session: entities.Session, now: int) -> bool:
    """Say whether it should have stopped by now: still held, counted as nothing."""
    deadline = session.stop_deadline
    return is_being_stopped(session) and deadline is not None and now > deadline


def is_reversible(session: entities.Session, now: int) -> bool:
    """Say whether its ordered stop can still be taken back: suspended it runs on, killed it cannot."""
    if session.state is not states.SessionState.PREEMPTED or session.is_withdrawing:
        return False
    if session.stop_mode is entities.PreemptionMode.SUSPEND or session.stop_deadline is None:
        return True
    return now < session.stop_deadline - STOP_MARGIN_S * 1_000_000


def releases_by_node(
    session: entities.Session, policy: entities.Policy
) -> tuple[tuple[int, resources.ResourceVector], ...]:
    """Return (node id, slots) that a session being stopped frees once its stop is proven."""
    mode = session.stop_mode or entities.PreemptionMode.TERMINATE
    return _frees_as_decided(session, mode, policy)
