"""
Create and change queues: XCE's ``QUEUE_UPDATE``.

A change is effective at the next round, and is refused whole, with a clear message, when a named queue or plug-in does
not exist. Each is audited with its reason (P05).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.db.models import Q, QuerySet

from scheduler import errors, models
from scheduler.core import entities, states
from scheduler.plugins import catalog
from scheduler.services import actors, audit, caps, checks, handovers, locks, priorities, withdrawals
from scheduler.services import work as unit

_QUEUE_FIELDS = (
    "description",
    "default_priority",
    "max_priority",
    "preemptible",
    "preempt_policy",
    "preemption_mode",
    "state",
    "max_concurrent_sessions",
    "max_slots",
)


_WHO_PREEMPTS_WHOM = {"preemptible", "preemptible_queues"}


def create_queue(
    actor: actors.Actor,
    slug: str,
    *,
    groups: Iterable[models.ResourceGroup],
    preemptible_queues: Iterable[str] = (),
    reason: str = "created",
    **columns: Any,
) -> models.Queue:
    """Create a queue that serves ``groups``; ``columns`` are the queue's own fields."""
    checks.require_administrator(actor, "create a queue")
    priorities.check_limits(columns, optional=("default_priority",))
    with unit.begin(actor) as work:
        queue = models.Queue(slug=slug, changed_at=work.now, changed_by_name=actor.name, **columns)
        _check_queue(queue)
        queue.save()
        queue.groups.set(groups)
        queue.preemptible_queues.set(_queues(queue, preemptible_queues))
        after = {name: getattr(queue, name) for name in _QUEUE_FIELDS}
        after["preemptible_queues"] = sorted(preemptible_queues)
        audit.record_change(work, audit.Subject("queue", slug), before={}, after=after, reason=reason)
        _tell_groups(work, queue)
    return queue


def change_queue(
    actor: actors.Actor,
    queue: models.Queue,
    *,
    changes: dict[str, Any],
    reason: str,
    preemptible_queues: Iterable[str] | None = None,
) -> models.Queue:
    """Change a queue's rules (XCE's QUEUE_UPDATE); all of it is refused when one part cannot be."""
    checks.require_administrator(actor, "change a queue")
    priorities.check_limits(changes, optional=("default_priority",))
    with unit.begin(actor) as work:
        if "max_priority" in changes:
            locks.change_caps()
        row = models.Queue.objects.select_for_update(no_key=True).get(pk=queue.pk)
        unknown = sorted(set(changes) - set(_QUEUE_FIELDS))
        if unknown:
            raise errors.Refusal(code="invalid", fields=dict.fromkeys(unknown, "there is no such field"))
        before = {name: getattr(row, name) for name in changes}
        after = dict(changes)
        for name, value in changes.items():
            setattr(row, name, value)
        if preemptible_queues is not None:
            before["preemptible_queues"] = sorted(row.preemptible_queues.values_list("slug", flat=True))
            after["preemptible_queues"] = sorted(preemptible_queues)
            row.preemptible_queues.set(_queues(row, preemptible_queues))
        row.version += 1
        row.changed_at, row.changed_by_name = work.now, actor.name
        _check_queue(row)
        row.save()
        audit.record_change(work, audit.Subject("queue", row.slug), before=before, after=after, reason=reason)
        if _WHO_PREEMPTS_WHOM & set(after):
            _reconsider(work, row)
        if "max_priority" in changes:
            caps.apply_queue(work, row)
        _tell_groups(work, row)
    return row


def _reconsider(work: unit.Work, queue: models.Queue) -> None:
    """Take back the stops that the new rules would not allow, and let the rules meet without the past's edges."""
    models.PreemptionEdge.objects.filter(Q(winner__queue=queue) | Q(loser__queue=queue)).delete()
    on_axis = Q(axis=entities.Axis.QUEUE.value) | Q(handover__axis=entities.Axis.QUEUE.value)
    theirs = Q(decision__session__queue=queue) | Q(handover__decision__session__queue=queue)
    concerned = models.Victim.objects.filter(on_axis, Q(session__queue=queue) | theirs, fate=None)
    concerned = concerned.select_related("session", "decision__session", "handover__decision__session")
    taken = _taken_over(queue)
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


def _taken_over(queue: models.Queue) -> QuerySet[models.Reservation]:
    """Return the reservations that were taken over on the axis of queues, from or by a session of this one."""
    rows = models.Reservation.objects.filter(is_consumed=False, decision__axis=entities.Axis.QUEUE.value)
    return rows.filter(Q(session__queue=queue, inherits__isnull=False) | Q(inherits__session__queue=queue))


def _may_preempt(taker: models.Session, holder: models.Session) -> bool:
    return holder.queue.preemptible and taker.queue.preemptible_queues.filter(pk=holder.queue_id).exists()


def _check_queue(queue: models.Queue) -> None:
    checks.checked(queue)
    text = catalog.refusal(queue.preempt_policy) if queue.preempt_policy else ""
    if text:
        raise errors.Refusal(code="unknown-policy", fields={"preempt_policy": text})


def _queues(queue: models.Queue, slugs: Iterable[str]) -> list[models.Queue]:
    wanted = set(slugs)
    if queue.slug in wanted:
        text = f"{queue.slug} cannot preempt from itself"
        raise errors.Refusal(code="invalid", fields={"preemptible_queues": text})
    rows = list(models.Queue.objects.filter(slug__in=wanted))
    missing = sorted(wanted - {row.slug for row in rows})
    if missing:
        text = f"there is no queue {', '.join(missing)}"
        raise errors.Refusal(code="unknown-queue", fields={"preemptible_queues": text})
    return rows


def _tell_groups(work: unit.Work, queue: models.Queue) -> None:
    for group_id in queue.groups.values_list("pk", flat=True):
        work.tell("queue.changed", group_id=group_id, queue=queue.slug)
        work.ask_round(group_id)
