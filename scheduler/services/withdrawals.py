"""
Taking a preemption back, per victim, while it can be (DESIGN 5.5).

A warned victim is asked back from its agent, whose journal decides the race with the kill. A suspended one needs
nothing: with its preemptor's reservation gone the next round resumes it. Once the kill has begun nothing is undone.
"""

from __future__ import annotations

from collections.abc import Collection

from scheduler import models
from scheduler.core import states
from scheduler.services import orders, reservations
from scheduler.services import work as unit

S = states.SessionState


def withdraw_victims(
    work: unit.Work, decision: models.Decision, *, cause: str, only: Collection[int] | None = None
) -> int:
    """
    Ask the agents of a decision's victims for their stops back.

    Args:
        only: session ids; None = every victim of the decision.

    Returns:
        The number of victims whose stop was asked back.
    """
    victims = models.Victim.objects.filter(decision=decision, fate=None, session__state=S.PREEMPTED)
    if only is not None:
        victims = victims.filter(session__in=only)
    count = 0
    for victim in victims.select_related("session", "session__group").order_by("session_id"):
        if orders.withdraw(work, victim.session):
            work.tell("session.withdraw_asked", session=victim.session, decision=decision, cause=cause)
            count += 1
    return count


def holder_gone(work: unit.Work, session: models.Session, *, cause: str) -> None:
    """End what was reserved for a session that ended, was held or edited, and take back what can be."""
    kept = models.Reservation.objects.filter(session=session).select_related("decision").first()
    if kept is None:
        return
    decision = kept.decision
    nothing_lost = not _has_lost(decision)
    kind = reservations.Kind.WITHDRAWN if nothing_lost else reservations.Kind.WASTED
    reservations.end(work, kept, kind, cause)
    if decision.kind == models.Decision.Kind.PREEMPT:
        withdraw_victims(work, decision, cause=cause)


def _has_lost(decision: models.Decision) -> bool:
    """Say whether a victim of the decision has already lost work that cannot be given back."""
    ended = models.Victim.objects.filter(decision=decision, fate__isnull=False)
    return ended.exclude(mode="suspend").exists()


def end_reservation(work: unit.Work, kept: models.Reservation, *, cause: str) -> None:
    """End a reservation for a reason of its node or victims: what was lost is wasted, the rest is taken back."""
    decision = kept.decision
    kind = reservations.Kind.WASTED if _has_lost(decision) else reservations.Kind.WITHDRAWN
    reservations.end(work, kept, kind, cause)
    withdraw_victims(work, decision, cause=cause)


def switched_off(work: unit.Work, group: models.ResourceGroup) -> int:
    """
    Take back everything reversible of a group whose preemption was switched off (P12).

    Returns:
        The number of decisions withdrawn. One whose kill has begun stands.
    """
    count = 0
    kept_rows = models.Reservation.objects.filter(node__group=group, is_consumed=False).select_related(
        "decision"
    )
    for kept in kept_rows.order_by("node_id", "pk"):
        if kept.decision.kind != models.Decision.Kind.PREEMPT or _has_lost(kept.decision):
            continue
        decision = kept.decision
        reservations.end(work, kept, reservations.Kind.WITHDRAWN, "switched off")
        withdraw_victims(work, decision, cause="switched off")
        count += 1
    return count


def withdraw_one(work: unit.Work, victim: models.Victim, *, cause: str) -> None:
    """Take one victim back; the decision's room cannot be complete any more, so its reservation ends too."""
    kept = models.Reservation.objects.filter(decision=victim.decision, is_consumed=False).first()
    if kept is not None:
        end_reservation(work, kept, cause=cause)
    else:
        withdraw_victims(work, victim.decision, cause=cause, only=[victim.session_id])
