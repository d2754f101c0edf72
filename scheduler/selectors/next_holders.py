"""As much of a group as tells the core who may go on with the stop of a victim (DESIGN 5.5). Internal: no viewer."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable

from scheduler import clock, models
from scheduler.core import entities, snapshot, states
from scheduler.selectors import session_rows
from scheduler.selectors import snapshot as snapshots


def around(victim: models.Session, holders: Iterable[models.Session]) -> snapshot.Snapshot:
    """Return the rules in force, one victim with those that may go on with its stop, and the group's edges."""
    now = clock.now()
    group = models.ResourceGroup.objects.select_related("policy").get(pk=victim.group_id)
    sessions = session_rows.values([victim, *holders], now=now)
    queue_ids = {one.queue_id for one in sessions}
    return snapshot.Snapshot(
        group=group.slug,
        now=clock.micros(now),
        policy=snapshots.policy_value(group.policy),
        is_starting=group.policy.starting,
        nodes=(),
        queues=_queues(queue_ids),
        owners=tuple(entities.Owner(owner_id) for owner_id in sorted({one.owner_id for one in sessions})),
        sessions=tuple(dataclasses.replace(one, allocations=(), resume_slots=()) for one in sessions),
        edges=_edges(group),
    )


def _queues(queue_ids: Collection[int]) -> tuple[entities.Queue, ...]:
    rows = models.Queue.objects.filter(pk__in=queue_ids).prefetch_related("preemptible_queues").order_by("pk")
    return tuple(
        entities.Queue(
            id=row.pk,
            name=row.slug,
            preemptible=row.preemptible,
            preemptible_queues=frozenset(queue.pk for queue in row.preemptible_queues.all()),
            preemption_mode=entities.PreemptionMode(row.preemption_mode) if row.preemption_mode else None,
        )
        for row in rows
    )


def _edges(group: models.ResourceGroup) -> tuple[entities.Edge, ...]:
    over = states.SessionState.TERMINATED.value
    rows = models.PreemptionEdge.objects.filter(winner__group=group, loser__group=group)
    rows = rows.exclude(winner__state=over).exclude(loser__state=over)
    return tuple(entities.Edge(*pair) for pair in sorted(set(rows.values_list("winner_id", "loser_id"))))
