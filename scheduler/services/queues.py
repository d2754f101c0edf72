"""
Create and change queues: XCE's ``QUEUE_UPDATE``.

A change is effective at the next round, and is refused whole, with a clear message, when a named queue or plug-in does
not exist. Each is audited with its reason (P05).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.db.models import F, Q

from scheduler import errors, models
from scheduler.core import entities
from scheduler.plugins import catalog
from scheduler.services import actors, audit, checks, locks, withdrawals
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
    with unit.begin(actor) as work:
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
        _tell_groups(work, row)
    return row


def _reconsider(work: unit.Work, queue: models.Queue) -> None:
    """Take back the stops that the new rules would not allow, and let the rules meet without the past's edges."""
    models.PreemptionEdge.objects.filter(Q(winner__queue=queue) | Q(loser__queue=queue)).delete()
    victims = models.Victim.objects.filter(fate=None, axis=entities.Axis.QUEUE.value)
    concerned = victims.filter(Q(session__queue=queue) | Q(decision__session__queue=queue))
    locks.together(concerned.values_list("session_id", flat=True))
    allowed = Q(session__queue__preemptible=True) & Q(
        decision__session__queue__preemptible_queues=F("session__queue")
    )
    still = set(concerned.filter(allowed).values_list("pk", flat=True))
    for victim in concerned.exclude(pk__in=still).select_related("decision").order_by("pk"):
        withdrawals.withdraw_one(work, victim, cause="queue rule changed")


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
