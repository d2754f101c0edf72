"""The cluster at a glance, as far as one viewer may see it: groups, counts, the last rounds, what blocks."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Sequence

from django.db.models import Count, Min, Q, QuerySet

from scheduler import clock, models
from scheduler.core import states
from scheduler.selectors import capacity, permissions

_S = states.SessionState
PENDING, RUNNING, SUSPENDED = _S.PENDING.value, _S.RUNNING.value, _S.SUSPENDED.value
TERMINATED = _S.TERMINATED.value
_ALIVE = [state.value for state in states.SessionState if state != states.SessionState.TERMINATED]
_DAY = datetime.timedelta(days=1)
_ROUNDS = 24


@dataclasses.dataclass(frozen=True, slots=True)
class GroupGlance:
    """One group: its switch and since when, its nodes' use, how many that the viewer may see run and wait."""

    group: models.ResourceGroup
    state: str
    state_since: datetime.datetime | None
    uses: list[capacity.NodeUse]
    running: int
    waiting: int
    oldest_wait_s: int | None


@dataclasses.dataclass(frozen=True, slots=True)
class Counts:
    """Sessions by state, and by result for those that ended in the last 24 hours."""

    alive: dict[str, int]
    ended: dict[str, int]


@dataclasses.dataclass(frozen=True, slots=True)
class RoundGlance:
    """The last round that ran, and how long the last ones took (microseconds, oldest first, two or more)."""

    number: int
    took_us: int
    at: datetime.datetime
    durations_us: list[int]


@dataclasses.dataclass(frozen=True, slots=True)
class Blockage:
    """How many sessions wait, the most frequent reason, and the group where it is most frequent."""

    waiting: int
    reason: str
    count: int
    group: str


@dataclasses.dataclass(frozen=True, slots=True)
class FreeSlots:
    """What is free in one group of the kind that is scarce there, in the kind's smallest unit."""

    group: str
    kind: str
    free: int
    total: int


@dataclasses.dataclass(frozen=True, slots=True)
class Rest:
    """What goes on while nothing waits: sessions that run, on how many nodes, that are suspended; what is free."""

    running: int
    nodes: int
    suspended: int
    free: tuple[FreeSlots, ...]


def groups(viewer: models.User, *, only: Sequence[int] = ()) -> list[GroupGlance]:
    """Return the viewer's groups by name; ``only`` narrows to ids. Nine queries for any number of groups."""
    rows = permissions.visible_groups(viewer).select_related("policy")
    found = list(rows.filter(pk__in=only) if only else rows)
    nodes = models.Node.objects.filter(group__in=found)
    uses = capacity.of_nodes(nodes, viewer=viewer)
    since = _switched_at(found)
    counts = _counts_by_group(viewer, found)
    now = clock.now()
    return [_glance(group, uses, (since, counts, now)) for group in found]


def _glance(
    group: models.ResourceGroup,
    uses: list[capacity.NodeUse],
    known: tuple[dict[int, datetime.datetime], dict[int, dict[str, object]], datetime.datetime],
) -> GroupGlance:
    since, counts, now = known
    row = counts.get(group.pk, {})
    oldest = row.get("oldest")
    return GroupGlance(
        group=group,
        state=group.policy.preemption_state if group.policy else "off",
        state_since=since.get(group.pk),
        uses=[use for use in uses if use.node.group_id == group.pk],
        running=int(row.get("running", 0)),
        waiting=int(row.get("waiting", 0)),
        oldest_wait_s=max(0, int((now - oldest).total_seconds())) if oldest else None,
    )


def _switched_at(found: list[models.ResourceGroup]) -> dict[int, datetime.datetime]:
    """Return group id -> when the switch took the position in which it is now."""
    rows = models.PolicyVersion.objects.filter(group__in=found).order_by("group_id", "version")
    since: dict[int, datetime.datetime] = {}
    last: dict[int, str] = {}
    for group_id, state, at in rows.values_list("group_id", "preemption_state", "created_at"):
        if last.get(group_id) != state:
            last[group_id], since[group_id] = state, at
    return since


def _counts_by_group(viewer: models.User, found: list[models.ResourceGroup]) -> dict[int, dict[str, object]]:
    rows = permissions.visible_sessions(viewer).filter(group__in=found).exclude(state=TERMINATED).order_by()
    counted = rows.values("group_id").annotate(
        running=Count("pk", filter=~Q(state__in=(PENDING, SUSPENDED))),
        waiting=Count("pk", filter=Q(state=PENDING)),
        oldest=Min("submitted_at", filter=Q(state=PENDING)),
    )
    return {row["group_id"]: row for row in counted}


def counts(viewer: models.User) -> Counts:
    """Return how many of the sessions that the viewer may see are in each state. Four queries at most."""
    visible = permissions.visible_sessions(viewer).order_by()
    alive = _tally(visible.exclude(state=TERMINATED), "state")
    ended = _tally(visible.filter(state=TERMINATED, ended_at__gte=clock.now() - _DAY), "result")
    return Counts(
        {state: alive.get(state, 0) for state in _ALIVE},
        {result.value: ended[result.value] for result in states.Result if result.value in ended},
    )


def _tally(rows: QuerySet[models.Session], field: str) -> dict[str, int]:
    return dict(rows.values_list(field).annotate(count=Count("pk")))


def last_round(viewer: models.User) -> RoundGlance | None:
    """Return the last round of the viewer's groups, None before the first. Three queries."""
    visible = permissions.visible_groups(viewer)
    rows = models.GroupRounds.objects.filter(group__in=visible, last_at__isnull=False).order_by("-last_at")
    row = rows.first()
    if row is None:
        return None
    recent = models.Round.objects.filter(group_id=row.group_id).order_by("-id")[: _ROUNDS - 1]
    took = [milliseconds * 1_000 for milliseconds in recent.values_list("duration_ms", flat=True)][::-1]
    durations = [*took, row.last_ms * 1_000]
    return RoundGlance(
        row.last_number, row.last_ms * 1_000, row.last_at, durations * (2 // len(durations) or 1)
    )


def wasted_last_day(viewer: models.User) -> int:
    """Return how many preemptions of the last 24 hours made room that nobody used. Two queries."""
    rows = models.Outcome.objects.filter(kind=models.Outcome.Kind.WASTED, at__gte=clock.now() - _DAY)
    return rows.filter(
        decision__group__in=permissions.visible_groups(viewer), decision__kind=models.Decision.Kind.PREEMPT
    ).count()


def blockage(viewer: models.User) -> Blockage | None:
    """Return what most waiting sessions wait for, None when nothing waits. Two queries."""
    waiting = permissions.visible_sessions(viewer).filter(state=PENDING).order_by()
    rows = list(waiting.values_list("pend_reason__reason", "group__slug").annotate(count=Count("pk")))
    if not rows:
        return None
    reason, group, count = max(rows, key=lambda row: (row[0] is not None, row[2]))
    return Blockage(sum(row[2] for row in rows), reason or "not-evaluated", count, group)


def rest(viewer: models.User) -> Rest:
    """Return what a cluster in which nothing waits does. Nine queries for any number of groups."""
    alive = _tally(permissions.visible_sessions(viewer).order_by().exclude(state=TERMINATED), "state")
    running = permissions.visible_sessions(viewer).filter(state=RUNNING)
    held_on = models.Allocation.objects.filter(session__in=running).aggregate(n=Count("node", distinct=True))
    uses = capacity.of_nodes(permissions.visible_nodes(viewer), viewer=viewer)
    slugs = sorted({use.node.group.slug for use in uses})
    free = [_free(slug, [use for use in uses if use.node.group.slug == slug]) for slug in slugs]
    return Rest(alive.get(RUNNING, 0), held_on["n"], alive.get(SUSPENDED, 0), tuple(filter(None, free)))


def _free(slug: str, uses: list[capacity.NodeUse]) -> FreeSlots | None:
    """Return the free devices of a group, its free cores where it has none."""
    totals = {row.name: row.total for row in capacity.by_kind(uses) if row.total.capacity}
    kind = next((name for name in ("cuda.device", "cpu") if name in totals), "")
    return FreeSlots(slug, kind, totals[kind].free, totals[kind].capacity) if kind else None


def unwell_nodes(viewer: models.User) -> list[models.Node]:
    """Return the visible nodes that are down or suspect, by name. Two queries."""
    rows = permissions.visible_nodes(viewer).filter(state__in=("down", "suspect"))
    return list(rows.select_related("group").order_by("name"))


def stopped_groups(viewer: models.User) -> list[models.ResourceGroup]:
    """Return the visible groups in which nothing starts, by name. Two queries."""
    return list(permissions.visible_groups(viewer).filter(policy__starting=False).select_related("policy"))


def is_empty() -> bool:
    """Say whether the installation has no node or no queue yet. Two queries. Internal."""
    return not (models.Node.objects.exists() and models.Queue.objects.exists())
