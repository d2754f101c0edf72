"""Counts of one resource group. Internal to its pages: the caller has asked whether the viewer may see the group."""

from __future__ import annotations

import collections
import dataclasses
import datetime

from django.db.models import Count

from scheduler import clock, models
from scheduler.core import decisions, states
from scheduler.selectors import permissions, verdicts

_PENDING = states.SessionState.PENDING.value
_TIERS = {reason.value: place for place, reason in enumerate(decisions.PendReason)}
_ALIVE = [state.value for state in states.SessionState if state != states.SessionState.TERMINATED]


@dataclasses.dataclass(frozen=True, slots=True)
class Waiting:
    """
    The sessions that wait for one reason: how many, for how much together, the oldest for how long (seconds).

    ``readable`` of them are those whose reason the viewer may read in a list.
    """

    reason: str
    count: int
    readable: int
    slots: dict[str, int]
    oldest_wait_s: int


def by_state(viewer: models.User, group: models.ResourceGroup) -> dict[str, int]:
    """Return state -> number of sessions that the viewer may see, every living state. Two queries."""
    rows = permissions.visible_sessions(viewer).filter(group=group, state__in=_ALIVE).order_by()
    counted = dict(rows.values_list("state").annotate(count=Count("pk")))
    return {state: counted.get(state, 0) for state in _ALIVE}


def waiting_by_reason(viewer: models.User, group: models.ResourceGroup) -> list[Waiting]:
    """
    Return the waiting sessions that the viewer may see by headline, tier after tier. Four queries.

    Source: ECOSYSTEM D.2, D.4.
    """
    rows = permissions.visible_sessions(viewer).filter(group=group, state=_PENDING)
    readable = set(rows.filter(permissions.readable_sessions(viewer)).values_list("pk", flat=True))
    found: dict[str, list[_Asked]] = collections.defaultdict(list)
    columns = ("pend_reason__reason", "is_held", "pk", "slots", "node_count", "submitted_at")
    for recorded, is_held, pk, *rest in rows.values_list(*columns):
        headline = verdicts.headline(recorded, is_held=is_held)
        found[headline].append(_Asked(*rest, is_readable=pk in readable))
    now = clock.now()
    waiting = [_waiting(reason, asked, now) for reason, asked in found.items()]
    return sorted(waiting, key=lambda row: (_TIERS.get(row.reason, len(_TIERS)), row.reason))


@dataclasses.dataclass(frozen=True, slots=True)
class _Asked:
    slots: dict[str, int]
    node_count: int
    submitted_at: datetime.datetime
    is_readable: bool


def _waiting(reason: str, asked: list[_Asked], now: datetime.datetime) -> Waiting:
    total: collections.Counter[str] = collections.Counter()
    for one in asked:
        total.update({kind: amount * one.node_count for kind, amount in one.slots.items()})
    oldest = min(one.submitted_at for one in asked)
    return Waiting(
        reason,
        len(asked),
        sum(one.is_readable for one in asked),
        dict(total),
        max(0, int((now - oldest).total_seconds())),
    )
