"""What follows when it changes who may preempt whom: stops under way that are allowed no longer are taken back."""

from __future__ import annotations

from collections.abc import Collection

from django.db.models import Q, QuerySet

from scheduler import models
from scheduler.core import entities, states
from scheduler.services import handovers, locks, withdrawals
from scheduler.services import work as unit

#: The fields of a queue that say who may preempt whom.
FIELDS = frozenset({"preemptible", "preemptible_queues"})


def reconsider(work: unit.Work, queues: Collection[models.Queue]) -> None:
    """
    Take back the stops that the new rules would not allow, and let the rules meet without the past's edges.

    All queues that changed at once: the locks of sessions are taken in one order (``scheduler.services.locks``).
    """
    models.PreemptionEdge.objects.filter(Q(winner__queue__in=queues) | Q(loser__queue__in=queues)).delete()
    on_axis = Q(axis=entities.Axis.QUEUE.value) | Q(handover__axis=entities.Axis.QUEUE.value)
    theirs = Q(decision__session__queue__in=queues) | Q(handover__decision__session__queue__in=queues)
    concerned = models.Victim.objects.filter(on_axis, Q(session__queue__in=queues) | theirs, fate=None)
    concerned = concerned.select_related("session", "decision__session", "handover__decision__session")
    taken = _taken_over(queues)
    locks.together(
        {*concerned.values_list("session_id", flat=True), *taken.values_list("session_id", flat=True)}
    )
    for victim in concerned.order_by("pk"):
        if victim.session.state == states.SessionState.PREEMPTED and not handovers.has_ground(victim):
            withdrawals.withdraw_one(work, victim, cause="queue rule changed")
    for pk in list(taken.order_by("pk").values_list("pk", flat=True).distinct()):
        kept = models.Reservation.objects.filter(pk=pk).select_related("decision").first()
        if kept is not None and any(
            not _may_preempt(kept.session, one.session) for one in kept.inherits.all()
        ):
            withdrawals.end_reservation(work, kept, cause="queue rule changed")


def _taken_over(queues: Collection[models.Queue]) -> QuerySet[models.Reservation]:
    """Return the reservations that were taken over on the axis of queues, from or by a session of one of these."""
    rows = models.Reservation.objects.filter(is_consumed=False, decision__axis=entities.Axis.QUEUE.value)
    return rows.filter(
        Q(session__queue__in=queues, inherits__isnull=False) | Q(inherits__session__queue__in=queues)
    )


def _may_preempt(taker: models.Session, holder: models.Session) -> bool:
    return holder.queue.preemptible and taker.queue.preemptible_queues.filter(pk=holder.queue_id).exists()
