"""Whether a person's sessions may be stopped where that changed a short while ago, or is planned to."""

from __future__ import annotations

import dataclasses
import datetime

from django.db.models import Count, OuterRef, Q, Subquery

from scheduler import clock, models
from scheduler.core import states
from scheduler.selectors import permissions

#: So long a change is news.
FRESH = datetime.timedelta(days=1)
_S = states.SessionState
_ALIVE = [state.value for state in _S if state is not _S.TERMINATED]


@dataclasses.dataclass(frozen=True, slots=True)
class News:
    """One group whose switch was turned, or will be, with the person's sessions there."""

    group: str
    state: str  #: off, shadow or on: what it is now, or will be
    before: str  #: what it was, or is until then
    at: datetime.datetime
    is_planned: bool
    by: str
    reason: str
    mode: str  #: what happens to a victim
    running: int  #: the person's running sessions there that have not opted out
    waiting: int


def for_owner(user: models.User) -> list[News]:
    """Return what the person should know of the groups where they have live sessions, newest first. Four queries."""
    mine = Count("sessions", filter=Q(sessions__owner=user, sessions__state__in=_ALIVE))
    running = Q(sessions__owner=user, sessions__state=_S.RUNNING.value, sessions__is_preemptible=True)
    waiting = Q(sessions__owner=user, sessions__state=_S.PENDING.value)
    groups = permissions.visible_groups(user).select_related("policy").annotate(alive=mine)
    groups = groups.filter(alive__gt=0).annotate(
        running=Count("sessions", filter=running), waiting=Count("sessions", filter=waiting)
    )
    found = {group.pk: group for group in groups}
    news = [*_turned(found), *_planned(found)]
    return sorted(news, key=lambda one: one.at, reverse=True)


def _turned(groups: dict[int, models.ResourceGroup]) -> list[News]:
    """Return the groups whose switch was turned within a day, by the version that turned it last."""
    since = clock.now() - FRESH
    fresh = models.PolicyVersion.objects.filter(group__in=list(groups), created_at__gte=since)
    turned = [row for row in fresh.order_by("group", "-version").annotate(before=_before()) if _is_turn(row)]
    last = {row.group_id: row for row in reversed(turned)}
    return [_news(groups[pk], row, row.before) for pk, row in last.items()]  # type: ignore[attr-defined]


def _before() -> Subquery:
    """Return the state of the version before."""
    rows = models.PolicyVersion.objects.filter(group=OuterRef("group"), version=OuterRef("version") - 1)
    return Subquery(rows.values("preemption_state")[:1])


def _is_turn(row: models.PolicyVersion) -> bool:
    before = row.before  # type: ignore[attr-defined]
    return before is not None and before != row.preemption_state


def _news(group: models.ResourceGroup, row: models.PolicyVersion, before: str) -> News:
    return News(
        group.slug,
        row.preemption_state,
        before,
        row.created_at,
        False,
        row.created_by_name,
        row.reason,
        row.preemption_mode,
        group.running,  # type: ignore[attr-defined]
        group.waiting,  # type: ignore[attr-defined]
    )


def _planned(groups: dict[int, models.ResourceGroup]) -> list[News]:
    plans = models.PlannedChange.objects.filter(group__in=list(groups), ended_at=None)
    return [_plan(groups[plan.group_id], plan) for plan in plans if "preemption_state" in plan.changes]


def _plan(group: models.ResourceGroup, plan: models.PlannedChange) -> News:
    policy = group.policy
    assert policy is not None
    return News(
        group.slug,
        plan.changes["preemption_state"],
        policy.preemption_state,
        plan.at,
        True,
        plan.created_by_name,
        plan.reason,
        plan.changes.get("preemption_mode", policy.preemption_mode),
        group.running,  # type: ignore[attr-defined]
        group.waiting,  # type: ignore[attr-defined]
    )
