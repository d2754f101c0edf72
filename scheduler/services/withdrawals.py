"""
Taking a preemption back, per victim, while it can be (DESIGN 5.5).

A warned victim is asked back from its agent, whose journal decides the race with the kill. A suspended one needs
nothing: with its preemptor's reservation gone the next round resumes it. Once the kill has begun nothing is undone.
Every function expects the sessions that ``locks.ground_of`` names, and their nodes, to be locked.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from django.db.models import Q, QuerySet

from scheduler import models
from scheduler.core import decisions, entities, states
from scheduler.selectors import stops
from scheduler.services import handovers, orders, reservations
from scheduler.services import work as unit

S = states.SessionState


def withdraw_victims(
    work: unit.Work, decision: models.Decision, *, cause: str, only: Collection[int] | None = None
) -> int:
    """
    Take back the stops that a decision answers for, where no next holder goes on with them.

    Args:
        only: session ids; None = every victim of the decision.

    Returns:
        The number of victims whose stop was asked back.
    """
    victims = _being_stopped(stops.answered_for([decision.pk]))
    if only is not None:
        victims = victims.filter(session__in=only)
    return _take_back(work, victims, cause=cause)


def _being_stopped(victims: QuerySet[models.Victim]) -> QuerySet[models.Victim]:
    rows = victims.filter(fate=None, session__state=S.PREEMPTED)
    return rows.select_related("session__group", "decision", "handover").order_by("session_id")


def _take_back(work: unit.Work, victims: Iterable[models.Victim], *, cause: str) -> int:
    return _ask_back(work, [one for one in victims if not handovers.pass_on(work, one)], cause=cause)


def _ask_back(work: unit.Work, victims: Iterable[models.Victim], *, cause: str) -> int:
    """
    Ask the agents for stops back, and end what others were promised of them.

    A suspended session that gives up its process is left out: its slots are gone, so it cannot run on. So is a kill
    without grace: it begins with its order, and what it frees may go on being counted on.
    """
    count = 0
    for victim in victims:
        is_kill_at_once = victim.mode != entities.PreemptionMode.SUSPEND and victim.grace_s == 0
        if victim.action == decisions.Action.REQUEUE_SUSPENDED or is_kill_at_once:
            continue
        if not orders.withdraw(work, victim.session):
            continue
        work.tell("session.withdraw_asked", session=victim.session, decision=victim.decision, cause=cause)
        runs_on(work, victim.session, cause="its victim goes on", but=victim.decision)
        count += 1
    return count


def runs_on(
    work: unit.Work, session: models.Session, *, cause: str, but: models.Decision | None = None
) -> None:
    """End what was promised of a session that goes on: without back-off, for it is nobody's fault."""
    waiting = models.Reservation.objects.filter(waits_for=session, is_consumed=False)
    for pk in list(waiting.exclude(decision=but).order_by("pk").values_list("pk", flat=True)):
        kept = models.Reservation.objects.select_related("decision").filter(pk=pk).first()
        if kept is not None:
            end_reservation(work, kept, cause=cause)


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
    """End a reservation: what was lost for it is wasted, the rest is handed over or taken back."""
    is_lost = has_lost(kept.decision, *kept.inherits.all())
    kind = reservations.Kind.WASTED if is_lost else reservations.Kind.WITHDRAWN
    give_up(work, kept, kind, cause=cause)


def give_up(work: unit.Work, kept: models.Reservation, kind: models.Outcome.Kind, *, cause: str) -> None:
    """End a reservation with a given outcome; hand its stops over, and take back those that nobody goes on with."""
    needless = [*_being_stopped(stops.answered_for([kept.decision_id]))]
    needless += _taken_over(kept.waits_for.values_list("pk", flat=True), but=kept)
    left = [victim for victim in needless if not handovers.pass_on(work, victim, but=kept)]
    reservations.end(work, kept, kind, cause)
    _ask_back(work, left, cause=cause)


def not_needed(work: unit.Work, kept: models.Reservation) -> None:
    """Hand over or take back the stops that a reservation still waits for: its session starts without them."""
    promised = list(kept.waits_for.values_list("pk", flat=True))
    withdraw_victims(work, kept.decision, cause="no longer needed")
    _take_back(work, _taken_over(promised, but=kept), cause="no longer needed")


def withdraw_taken_over(work: unit.Work, promised: list[int], *, cause: str) -> None:
    """Take back stops whose decision was transferred: only the reservation that took it over knew of them."""
    _take_back(work, _taken_over(promised), cause=cause)


def _taken_over(promised: Iterable[int], *, but: models.Reservation | None = None) -> list[models.Victim]:
    """Return the stops of some sessions whose decision was transferred, or whose next holder is gone."""
    rows = _being_stopped(models.Victim.objects.filter(session__in=list(promised)))
    transferred = Q(decision__outcome__kind=models.Outcome.Kind.TRANSFERRED) | Q(handover__isnull=False)
    rows = rows.filter(transferred, decision__reservation=None)
    standing = Q(handover__decision__reservation__isnull=False)
    mine = Q(handover__decision=but.decision_id) if but else Q(pk=None)
    return list(rows.exclude(standing | mine))


def has_lost(*answering: models.Decision) -> bool:
    """Say whether a victim has lost work that cannot be given back, for which one of these decisions answers."""
    victims = stops.answered_for([decision.pk for decision in answering])
    stopped = victims.filter(fate__fate=models.VictimFate.Fate.STOPPED)
    stopped = stopped.exclude(action=decisions.Action.CANCEL_DISPATCH.value)
    return stopped.filter(~Q(mode="suspend") | Q(fate__evidence__has_key="exit_code")).exists()


def conclude(work: unit.Work, decision: models.Decision) -> None:
    """Write the outcome of a decision that was given up, once the fate of its last victim is written."""
    kept = models.GivenUp.objects.select_for_update().filter(decision=decision).first()
    if kept is None or stops.answered_for([decision.pk]).filter(fate=None).exists():
        return
    kept.delete()
    kind = reservations.Kind.WASTED if has_lost(decision) else reservations.Kind.WITHDRAWN
    reservations.write_outcome(work, decision, kind, kept.cause)


def holder_barred(work: unit.Work, session: models.Session, *, cause: str) -> None:
    """End what is reserved for a session that may not start now, whatever is free; where a kill has begun it stands."""
    kept_rows = models.Reservation.objects.filter(session=session, is_consumed=False)
    _end_reversible(work, kept_rows, cause=cause)


def all_under_way(work: unit.Work, group: models.ResourceGroup, *, cause: str = "switched off") -> int:
    """
    End the reservations of a group, as when its preemption is switched off, and take back what can be (P12).

    Returns:
        The number of decisions ended, waits among them. One whose kill has begun stands.
    """
    kept_rows = models.Reservation.objects.filter(node__group=group, is_consumed=False)
    return _end_reversible(work, kept_rows, cause=cause)


def axis_closed(work: unit.Work, group: models.ResourceGroup, axis: entities.Axis) -> int:
    """
    End what was decided on an axis that a group does not use any more; one whose kill has begun stands.

    Returns:
        The number of reservations and stops ended.
    """
    cause = f"axis {axis} switched off"
    kept_rows = models.Reservation.objects.filter(node__group=group, is_consumed=False)
    count = _end_reversible(work, kept_rows.filter(decision__axis=axis), cause=cause)
    handed = _being_stopped(models.Victim.objects.filter(session__group=group, handover__axis=axis))
    begun = stops.kill_begun([victim.handover.decision_id for victim in handed], now=work.now)
    left = [victim for victim in handed if victim.handover.decision_id not in begun]
    _take_back(work, left, cause=cause)
    return count + len(left)


def _end_reversible(work: unit.Work, kept_rows: QuerySet[models.Reservation], *, cause: str) -> int:
    inherited = kept_rows.filter(inherits__isnull=False).values_list("pk", "inherits")
    begun = stops.kill_begun(
        [*kept_rows.values_list("decision_id", flat=True), *(pk for _, pk in inherited)], now=work.now
    )
    standing = {pk for pk, decision_id in inherited if decision_id in begun}
    count = 0
    for pk in list(kept_rows.order_by("node_id", "pk").values_list("pk", flat=True)):
        kept = models.Reservation.objects.select_related("decision").filter(pk=pk).first()
        if kept is not None and pk not in standing and kept.decision_id not in begun:
            end_reservation(work, kept, cause=cause)
            count += 1
    return count


def withdraw_one(work: unit.Work, victim: models.Victim, *, cause: str) -> None:
    """
    Take one victim back; the decision's room cannot be complete any more, so its reservation ends too.

    Whoever could order the stop all the same goes on with it.
    """
    kept = models.Reservation.objects.filter(decision=victim.decision, is_consumed=False).first()
    if kept is not None:
        end_reservation(work, kept, cause=cause)
    else:
        _take_back(work, _being_stopped(models.Victim.objects.filter(pk=victim.pk)), cause=cause)
