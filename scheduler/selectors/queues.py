"""Queues with their cross-owner rules and their load, as far as one viewer may see them."""

from __future__ import annotations

import dataclasses
import datetime

from django.db.models import Count, Min, Prefetch, Q

from scheduler import clock, models
from scheduler.core import ordering, states
from scheduler.core.preemption import shipped
from scheduler.plugins import catalog
from scheduler.selectors import permissions, snapshot

_PENDING, _TERMINATED = states.SessionState.PENDING.value, states.SessionState.TERMINATED.value
_SUSPENDED = states.SessionState.SUSPENDED.value


@dataclasses.dataclass(frozen=True, slots=True)
class Row:
    """One queue; ``may_preempt`` and ``groups`` are names, as far as the viewer may know them."""

    name: str
    description: str
    state: str
    is_preemptible: bool
    may_preempt: list[str]
    policy_name: str
    policy_error: str
    default_priority: int | None  #: None = the owner's policy says
    max_priority: int
    groups: list[str]
    running: int
    pending: int
    oldest_wait_s: int | None
    version: int
    preemption_mode: str  #: of its sessions as victims; "" = the group's
    max_sessions: int | None
    max_slots: dict[str, int]
    changed_by: str
    changed_at: datetime.datetime | None


def rows(viewer: models.User, *, group: models.ResourceGroup | None = None) -> list[Row]:
    """
    Return the visible queues by name, their load counted over the viewer's groups (or ``group`` alone).

    Eight queries at most, whatever the number of queues.
    """
    found = permissions.visible_queues(viewer).prefetch_related(
        Prefetch("preemptible_queues", queryset=permissions.visible_queues(viewer)), "groups"
    )
    queues = list(found.filter(groups=group) if group else found)
    seen = {group.pk} if group else set(permissions.visible_groups(viewer).values_list("pk", flat=True))
    load = _load(viewer, queues, seen)
    now = clock.now()
    found = [_row(queue, seen, (load.get(queue.pk, {}), now)) for queue in queues]
    errors = _policy_errors(queues, seen)
    return [dataclasses.replace(row, policy_error=errors.get(row.name, "")) for row in found]


@dataclasses.dataclass(frozen=True, slots=True)
class Submitters:
    """Who alone may submit to a queue; nobody named = every submitter of its groups."""

    users: list[str]
    teams: list[str]


def submitters(viewer: models.User) -> dict[str, Submitters]:
    """Return queue -> who alone may submit to it; only administrators are told, others get {}. Three queries."""
    if not permissions.is_administrator(viewer):
        return {}
    return {
        queue.slug: Submitters(
            sorted(user.username for user in queue.submit_users.all()),
            sorted(team.name for team in queue.submit_teams.all()),
        )
        for queue in models.Queue.objects.prefetch_related("submit_users", "submit_teams")
    }


#: Places of a line that are given out at most.
MOST_IN_LINE = 200


def line(viewer: models.User, queue: models.Queue) -> list[models.Session]:
    """
    Return the first sessions that wait in a queue, as far as the viewer may see them, by group, the next one first.

    In the order of the round, suspended ones included. Three queries, and two for each group of the queue.
    """
    found: list[models.Session] = []
    for group in queue.groups.filter(pk__in=permissions.visible_groups(viewer)).select_related("policy"):
        found += _line_of(viewer, queue, group)
    return found[:MOST_IN_LINE]


def _line_of(viewer: models.User, queue: models.Queue, group: models.ResourceGroup) -> list[models.Session]:
    waiting = models.Session.objects.filter(group=group, state__in=(_PENDING, _SUSPENDED))
    columns = ("owner_id", "priority", "job_priority", "submitted_at", "node_count", "queue_id")
    in_order = sorted(waiting.only(*columns), key=ordering.place_key)
    if group.policy is not None and ordering.owner_axis_in_force(snapshot.policy_value(group.policy)):
        in_order = ordering.by_owner_rank(in_order)
    ids = [row.pk for row in in_order if row.queue_id == queue.pk]
    visible = permissions.visible_sessions(viewer).filter(pk__in=ids)
    seen = set(visible.values_list("pk", flat=True))
    first = [pk for pk in ids if pk in seen][:MOST_IN_LINE]
    rows = models.Session.objects.filter(pk__in=first).select_related(
        "owner", "queue", "group", "pend_reason"
    )
    by_id = {row.pk: row for row in rows.prefetch_related("allocations__node")}
    return [by_id[pk] for pk in first if pk in by_id]


def _load(viewer: models.User, queues: list[models.Queue], groups: set[int]) -> dict[int, dict[str, object]]:
    visible = permissions.visible_sessions(viewer)
    living = visible.filter(queue__in=queues, group__in=groups).exclude(state=_TERMINATED)
    counted = (
        living.order_by()
        .values("queue_id")
        .annotate(
            running=Count("pk", filter=~Q(state__in=(_PENDING, _SUSPENDED))),
            pending=Count("pk", filter=Q(state=_PENDING)),
            oldest=Min("submitted_at", filter=Q(state=_PENDING)),
        )
    )
    return {row["queue_id"]: row for row in counted}


def _row(
    queue: models.Queue,
    seen: set[int],
    known: tuple[dict[str, object], datetime.datetime],
) -> Row:
    load, now = known
    oldest = load.get("oldest")
    return Row(
        name=queue.slug,
        description=queue.description,
        state=queue.state,
        is_preemptible=queue.preemptible,
        may_preempt=sorted(other.slug for other in queue.preemptible_queues.all()),
        policy_name=queue.preempt_policy or shipped.DEFAULT,
        policy_error="",
        default_priority=queue.default_priority,
        max_priority=queue.max_priority,
        groups=sorted(group.slug for group in queue.groups.all() if group.pk in seen),
        running=int(load.get("running", 0)),
        pending=int(load.get("pending", 0)),
        oldest_wait_s=max(0, int((now - oldest).total_seconds())) if oldest else None,
        version=queue.version,
        preemption_mode=queue.preemption_mode,
        max_sessions=queue.max_concurrent_sessions,
        max_slots=queue.max_slots,
        changed_by=queue.changed_by_name,
        changed_at=queue.changed_at,
    )


def _policy_errors(queues: list[models.Queue], groups: set[int]) -> dict[str, str]:
    """Return, by queue, why its policy stops nobody: it cannot be used, or failed for a session that waits now."""
    named = {queue.slug: queue.preempt_policy for queue in queues if queue.preempt_policy}
    found = catalog.faults(set(named.values()))
    told = {
        slug: f"{name} {found[name]}: this queue preempts nobody"
        for slug, name in named.items()
        if name in found
    }
    if set(named) <= set(told):
        return told
    failed = models.PendReason.objects.filter(
        facts__has_key="policy",
        session__queue__in=queues,
        session__group__in=groups,
        session__state=_PENDING,
    )
    rows = failed.order_by("seen_at", "pk").values_list("session__queue__slug", "facts")
    return {slug: facts.get("policy", "") for slug, facts in rows} | told
