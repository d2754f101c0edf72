"""What became of a session as the victim of a decision: written once, whichever way it went."""

from __future__ import annotations

from typing import Any

from scheduler import models
from scheduler.services import withdrawals
from scheduler.services import work as unit

Fate = models.VictimFate.Fate


def open_decision(session: models.Session) -> models.Decision | None:
    """Return the decision whose victim the session is now."""
    victim = models.Victim.objects.filter(session=session, fate=None).select_related("decision").last()
    return victim.decision if victim else None


def close(
    work: unit.Work, session: models.Session, fate: Fate, evidence: dict[str, Any] | None = None
) -> bool:
    """Write the fate of a session that is a victim now. Returns whether it was one."""
    is_victim = False
    rows = models.Victim.objects.filter(session=session, fate=None)
    rows = rows.select_related("decision__session", "handover__decision__session")
    for victim in rows.order_by("decision_id"):
        models.VictimFate.objects.create(victim=victim, fate=fate, evidence=evidence or {}, at=work.now)
        withdrawals.conclude(work, victim.decision)
        if hasattr(victim, "handover"):
            withdrawals.conclude(work, victim.handover.decision)
        is_victim = True
    return is_victim


def close_withdrawn(work: unit.Work, session: models.Session) -> None:
    """Write that a victim runs on: nothing was taken from it, so no edge stays either."""
    decision = open_decision(session)
    if decision is not None:
        close(work, session, Fate.WITHDRAWN)
        models.PreemptionEdge.objects.filter(decision=decision, loser=session).delete()


def end_reservation(
    work: unit.Work, session: models.Session, decision: models.Decision, *, cause: str
) -> None:
    """End what counts on a victim that cannot be had, its decision's reservation first; a start on it goes on."""
    kept = models.Reservation.objects.filter(decision=decision, is_consumed=False).first()
    if kept is not None:
        withdrawals.end_reservation(work, kept, cause=cause)
    withdrawals.runs_on(work, session, cause=cause)
