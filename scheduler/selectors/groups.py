"""Counts of one resource group. Internal to its pages: the caller has asked whether the viewer may see the group."""

from __future__ import annotations

import collections
import dataclasses
import datetime

from django.db.models import Count

from scheduler import clock, models
from scheduler.core import states
from scheduler.selectors import permissions

_PENDING = states.SessionState.PENDING.value
_ALIVE = [state.value for state in states.SessionState if state != states.SessionState.TERMINATED]


@dataclasses.dataclass(frozen=True, slots=True)
class Waiting:
    """The sessions that wait for one reason: how many, for how much together, the oldest for how long (seconds)."""

    reason: str
    count: int
    slots: dict[str, int]
    oldest_wait_s: int


def by_state(viewer: models.User, group: models.ResourceGroup) -> dict[str, int]:
    """Return state -> number of sessions that the viewer may see, every living state. Two queries."""
    rows = permissions.visible_sessions(viewer).filter(group=group, state__in=_ALIVE).order_by()
    counted = dict(rows.values_list("state").annotate(count=Count("pk")))
    return {state: counted.get(state, 0) for state in _ALIVE}


def waiting_by_reason(viewer: models.User, group: models.ResourceGroup) -> list[Waiting]:
    """Return the waiting sessions that the viewer may see by reason, most frequent first. Two queries."""
    rows = permissions.visible_sessions(viewer).filter(group=group, state=_PENDING)
    found: dict[str, list[tuple[dict[str, int], int, datetime.datetime]]] = collections.defaultdict(list)
    for reason, *rest in rows.values_list("pend_reason__reason", "slots", "node_count", "submitted_at"):
        found[reason or "not-evaluated"].append(tuple(rest))
    now = clock.now()
    waiting = [_waiting(reason, asked, now) for reason, asked in found.items()]
    return sorted(waiting, key=lambda row: (-row.count, row.reason))


def _waiting(
    reason: str, asked: list[tuple[dict[str, int], int, datetime.datetime]], now: datetime.datetime
) -> Waiting:
    total: collections.Counter[str] = collections.Counter()
    for slots, nodes, _ in asked:
        total.update({kind: amount * nodes for kind, amount in slots.items()})
    oldest = min(at for _, _, at in asked)
    return Waiting(reason, len(asked), dict(total), max(0, int((now - oldest).total_seconds())))
