"""What draining a node would mean now: counts that are the same for everybody who may drain it."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Mapping

from django.db.models import Count

from scheduler import models
from scheduler.core import entities, states

S = states.SessionState


@dataclasses.dataclass(frozen=True, slots=True)
class Preview:
    """What is on a node, and who could start nowhere else."""

    active: int  #: sessions that run, start or are being stopped there; they go on
    last_end: (
        datetime.datetime | None
    )  #: when the last of them ends by its wall time; None = not all have one
    suspended: int  #: they may resume there all the same
    under_way: int  #: preemptions and waits for room there: taken back where it can be
    stranded: int  #: waiting sessions that no other ready node of the group could ever hold


def preview(node: models.Node) -> Preview:
    """Look at a node and its group. Five queries."""
    held = models.Session.objects.filter(allocations__node=node).order_by("pk").distinct()
    rows = list(held.values_list("state", "started_at", "wall_limit"))
    active = [(started, limit) for state, started, limit in rows if state != S.SUSPENDED]
    ends = [started + datetime.timedelta(seconds=limit) for started, limit in active if started and limit]
    return Preview(
        active=len(active),
        last_end=max(ends) if ends and len(ends) == len(active) else None,
        suspended=len(rows) - len(active),
        under_way=models.Reservation.objects.filter(node=node, is_consumed=False).count(),
        stranded=_stranded(node),
    )


def _stranded(node: models.Node) -> int:
    """Count the waiting sessions that enough ready nodes could hold with this one, and not without it."""
    ready = models.Node.objects.filter(group=node.group_id, state=entities.NodeState.READY.value)
    sizes: dict[int, dict[str, int]] = {}
    for pk, kind, capacity in models.NodeSlot.objects.filter(node__in=ready).values_list(
        "node_id", "kind", "capacity"
    ):
        sizes.setdefault(pk, {})[kind] = capacity
    labels = dict(ready.values_list("pk", "labels"))
    waiting = models.Session.objects.filter(group=node.group_id, state=S.PENDING.value).order_by()
    shapes = waiting.values_list("slots", "required_labels", "node_count").annotate(count=Count("pk"))
    count = 0
    for slots, wanted, needed, sessions in shapes:
        able = {pk for pk in sizes if _could_hold(sizes[pk], labels[pk], slots, wanted)}
        if len(able) >= needed > len(able - {node.pk}):
            count += sessions
    return count


def _could_hold(
    capacity: Mapping[str, int],
    labels: Mapping[str, str],
    slots: Mapping[str, int],
    wanted: Mapping[str, list[str]],
) -> bool:
    is_large = all(capacity.get(kind, 0) >= amount for kind, amount in slots.items())
    return is_large and all(labels.get(name) in values for name, values in wanted.items())
