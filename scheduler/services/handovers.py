"""
Passing a stop that is under way to a next holder, and judging whether a stop still has its ground (DESIGN 5.5).

Who may go on with it is the core's to say. Every function expects the sessions that ``locks.ground_of`` names to be
locked.
"""

from __future__ import annotations

import dataclasses

from scheduler import models
from scheduler.core import decisions, entities
from scheduler.core.preemption import handover
from scheduler.selectors import next_holders
from scheduler.services import work as unit

CAUSE = "handed over"


def pass_on(work: unit.Work, victim: models.Victim, *, but: models.Reservation | None = None) -> bool:
    """
    Let the next holder go on with a stop that its own holder needs no more.

    Args:
        victim: whose session is being stopped.
        but: the reservation that is about to end; its holder is not asked.

    Returns:
        Whether there is one: then the stop stands.
    """
    waiting = models.Reservation.objects.filter(waits_for=victim.session_id, is_consumed=False)
    waiting = waiting.exclude(decision=victim.decision_id).exclude(pk=but.pk if but else None)
    by_holder = {kept.session_id: kept for kept in waiting.select_related("session", "decision")}
    if not by_holder:
        return False
    view = next_holders.around(victim.session, [kept.session for kept in by_holder.values()])
    action = decisions.Action(victim.action)
    found = handover.next_holder(view, victim.session_id, set(by_holder), action)
    if found is None:
        return False
    _write(work, victim, by_holder[found.session_id], found)
    return True


def _write(
    work: unit.Work, victim: models.Victim, kept: models.Reservation, found: handover.NextHolder
) -> None:
    row = getattr(victim, "handover", None) or models.Handover(victim=victim)
    is_new = row.decision_id != kept.decision_id
    row.decision, row.axis, row.at = kept.decision, found.axis.value, work.now
    row.owner_id_then, row.holder_owner_id = victim.session.owner_id, kept.session.owner_id
    row.own_value, row.holder_value = found.own_value, found.value
    row.save()
    models.PreemptionEdge.objects.update_or_create(
        decision=victim.decision, loser_id=victim.session_id, defaults={"winner_id": found.session_id}
    )
    if is_new:
        work.tell("decision.handed_over", session=kept.session, decision=victim.decision, axis=row.axis)


def has_ground(victim: models.Victim) -> bool:
    """Say whether the rules still allow the stop of a victim for whoever goes on with it now."""
    row = getattr(victim, "handover", None)
    holder = row.decision.session if row else victim.decision.session
    axis = entities.Axis(row.axis if row else victim.axis)
    value = row.holder_value if row else victim.preemptor_value
    view = next_holders.around(victim.session, [holder])
    field = "job_priority" if axis is entities.Axis.OWNER else "priority"
    sessions = tuple(
        dataclasses.replace(one, **{field: value}) if one.id == holder.pk else one for one in view.sessions
    )
    return handover.has_ground(
        dataclasses.replace(view, sessions=sessions),
        victim.session_id,
        holder.pk,
        axis=axis,
        action=decisions.Action(victim.action),
    )
