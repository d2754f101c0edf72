"""
Taking a preemption back, per victim, while it can be (DESIGN 5.5).

A warned victim is asked back from its agent, whose journal decides the race with the kill. A suspended one needs
nothing: with its preemptor's reservation gone the next round resumes it. Once the kill has begun nothing is undone.
Every function expects the sessions that ``locks.bound_to`` names, and their nodes, to be locked.
"""

from __future__ import annotations

from collections.abc import Collection

from django.db.models import Q

from scheduler import models
from scheduler.core import decisions, states
from scheduler.selectors import snapshot
from scheduler.services import orders, reservations
from scheduler.services import work as unit

S = states.SessionState


def withdraw_victims(
    work: unit.Work, decision: models.Decision, *, cause: str, only: Collection[int] | None = None
) -> int:
    """
    Ask the agents of a decision's victims for their stops back.

    A suspended session that gives up its process is left out: its slots are gone, so it cannot run on.

    Args:
        only: session ids; None = every victim of the decision.

    Returns:
        The number of victims whose stop was asked back.
    """
    victims = models.Victim.objects.filter(decision=decision, fate=None, session__state=S.PREEMPTED)
    victims = victims.exclude(action=decisions.Action.REQUEUE_SUSPENDED.value)
    if only is not None:
        victims = victims.filter(session__in=only)
    count = 0
    for victim in victims.select_related("session", "session__group").order_by("session_id"):
        if orders.withdraw(work, victim.session):
            work.tell("session.withdraw_asked", session=victim.session, decision=decision, cause=cause)
            _end_waits_for(work, victim)
            count += 1
    return count


def _end_waits_for(work: unit.Work, victim: models.Victim) -> None:
    """End what others were promised of a victim that goes on: without back-off, for it is nobody's fault."""
    waiting = models.Reservation.objects.filter(waits_for=victim.session_id, is_consumed=False)
    for pk in list(waiting.exclude(decision=victim.decision_id).order_by("pk").values_list("pk", flat=True)):
        kept = models.Reservation.objects.select_related("decision").filter(pk=pk).first()
        if kept is not None:
            end_reservation(work, kept, cause="its victim goes on")


def holder_gone(work: unit.Work, session: models.Session, *, cause: str) -> None:
    """End what was reserved for a session that ended or was held, and take back what can be."""
    kept = models.Reservation.objects.filter(session=session).select_related("decision").first()
    if kept is not None:
        end_reservation(work, kept, cause=cause)


def holder_edited(work: unit.Work, session: models.Session) -> None:
    """End what was reserved for a session that a person changed, unless it is starting on it already."""
    kept = models.Reservation.objects.filter(session=session, is_consumed=False).select_related("decision")
    for reservation in kept:
        end_reservation(work, reservation, cause="preemptor edited")


def end_reservation(work: unit.Work, kept: models.Reservation, *, cause: str) -> None:
    """End a reservation: what was lost for it is wasted, the rest is taken back."""
    is_lost = any(has_lost(decision) for decision in (kept.decision, *kept.inherits.all()))
    kind = reservations.Kind.WASTED if is_lost else reservations.Kind.WITHDRAWN
    give_up(work, kept, kind, cause=cause)


def give_up(work: unit.Work, kept: models.Reservation, kind: models.Outcome.Kind, *, cause: str) -> None:
    """End a reservation with a given outcome, and take back every stop that nobody needs any more."""
    promised = list(kept.waits_for.values_list("pk", flat=True))
    reservations.end(work, kept, kind, cause)
    withdraw_victims(work, kept.decision, cause=cause)
    withdraw_taken_over(work, promised, cause=cause)


def not_needed(work: unit.Work, kept: models.Reservation) -> None:
    """Take back the stops that a reservation still waits for: its session starts without them."""
    promised = list(kept.waits_for.values_list("pk", flat=True))
    withdraw_victims(work, kept.decision, cause="no longer needed")
    withdraw_taken_over(work, promised, cause="no longer needed")


def withdraw_taken_over(work: unit.Work, promised: list[int], *, cause: str) -> None:
    """Take back stops whose decision was transferred: only the reservation that took it over knew of them."""
    victims = models.Victim.objects.filter(
        session__in=promised,
        fate=None,
        decision__reservation=None,
        decision__outcome__kind=models.Outcome.Kind.TRANSFERRED,
    )
    for victim in victims.select_related("decision").order_by("session_id"):
        withdraw_victims(work, victim.decision, cause=cause, only=[victim.session_id])


def has_lost(decision: models.Decision) -> bool:
    """Say whether a victim of the decision has already lost work that cannot be given back."""
    stopped = models.Victim.objects.filter(decision=decision, fate__fate=models.VictimFate.Fate.STOPPED)
    stopped = stopped.exclude(action=decisions.Action.CANCEL_DISPATCH.value)
    return stopped.filter(~Q(mode="suspend") | Q(fate__evidence__has_key="exit_code")).exists()


def conclude(work: unit.Work, decision: models.Decision) -> None:
    """Write the outcome of a decision that was given up, once the fate of its last victim is written."""
    kept = models.GivenUp.objects.select_for_update().filter(decision=decision).first()
    if kept is None or models.Victim.objects.filter(decision=decision, fate=None).exists():
        return
    kept.delete()
    kind = reservations.Kind.WASTED if has_lost(decision) else reservations.Kind.WITHDRAWN
    reservations.write_outcome(work, decision, kind, kept.cause)


def switched_off(work: unit.Work, group: models.ResourceGroup) -> int:
    """
    End the reservations of a group whose preemption was switched off, and take back what can be (P12).

    Returns:
        The number of decisions ended, waits among them. One whose kill has begun stands.
    """
    kept_rows = models.Reservation.objects.filter(node__group=group, is_consumed=False)
    inherited = kept_rows.filter(inherits__isnull=False).values_list("pk", "inherits")
    begun = snapshot.kill_begun(
        [*kept_rows.values_list("decision_id", flat=True), *(pk for _, pk in inherited)], now=work.now
    )
    standing = {pk for pk, decision_id in inherited if decision_id in begun}
    count = 0
    for pk in list(kept_rows.order_by("node_id", "pk").values_list("pk", flat=True)):
        kept = models.Reservation.objects.select_related("decision").filter(pk=pk).first()
        if kept is not None and pk not in standing and kept.decision_id not in begun:
            end_reservation(work, kept, cause="switched off")
            count += 1
    return count


def withdraw_one(work: unit.Work, victim: models.Victim, *, cause: str) -> None:
    """Take one victim back; the decision's room cannot be complete any more, so its reservation ends too."""
    kept = models.Reservation.objects.filter(decision=victim.decision, is_consumed=False).first()
    if kept is not None:
        end_reservation(work, kept, cause=cause)
    else:
        withdraw_victims(work, victim.decision, cause=cause, only=[victim.session_id])
