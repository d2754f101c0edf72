"""
What the reservations of other groups count towards the limits of owners and queues, which reach over all groups.

Internal: for the snapshot and for the check of the commit, which must count alike. A reservation counts net of what
the sessions that it waits for still hold, as in the core, so that one room is never counted twice (DESIGN 5.6).
"""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Mapping

from scheduler import models
from scheduler.core import entities, limits, resources

Amounts = Mapping[str, int]


@dataclasses.dataclass(frozen=True)
class Promises:
    """Amounts by owner id and by queue id; kind (or ``sessions``) -> amount."""

    owners: Mapping[int, Amounts]
    queues: Mapping[int, Amounts]


def elsewhere(group_id: int) -> Promises:
    """Return what stands reserved outside a group and is not started on yet. At most 3 queries."""
    owners: dict[int, dict[str, int]] = collections.defaultdict(lambda: collections.defaultdict(int))
    queues: dict[int, dict[str, int]] = collections.defaultdict(lambda: collections.defaultdict(int))
    rows = models.Reservation.objects.filter(is_consumed=False).exclude(session__group=group_id)
    for row in rows.select_related("session").prefetch_related("waits_for__allocations"):
        holder, awaited = row.session, list(row.waits_for.all())
        _add(owners[holder.owner_id], row, [one for one in awaited if one.owner_id == holder.owner_id])
        _add(queues[holder.queue_id], row, [one for one in awaited if one.queue_id == holder.queue_id])
    return Promises(owners, queues)


def _add(total: dict[str, int], row: models.Reservation, awaited: list[models.Session]) -> None:
    frees = [_freed(session) for session in awaited]
    places = sum(session.is_counted for session in awaited)
    rest, sessions = limits.counted(resources.ResourceVector(row.slots), frees, sessions=places)
    for kind, amount in limits.wanted(rest, sessions=sessions).items():
        total[kind] += amount


def _freed(session: models.Session) -> resources.ResourceVector:
    """Return what the stop of a session will free."""
    is_suspend = session.stop_goal == entities.PreemptionMode.SUSPEND.value
    kinds = session.stop_releases if is_suspend else None
    total: dict[str, int] = collections.defaultdict(int)
    for held in session.allocations.all():
        for kind, amount in held.slots.items():
            total[kind] += amount if kinds is None or kind in kinds else 0
    return resources.ResourceVector(total)
