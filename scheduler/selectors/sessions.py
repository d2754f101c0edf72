"""
Sessions as one viewer may see them: lists with filters and counts, each row with its sight.

A row holds nothing that its sight forbids: with a summary there is state, size, queue and times, no more.
"""

from __future__ import annotations

import dataclasses
import datetime
import uuid
from collections.abc import Iterable, Mapping

from django.db.models import Count, Q, QuerySet

from scheduler import clock, models
from scheduler.core import states
from scheduler.selectors import permissions, session_query, verdicts

PAGE = 50
_STATES = [state.value for state in states.SessionState]
_RESULTS = [result.value for result in states.Result]
ALIVE = "alive"


@dataclasses.dataclass(frozen=True, slots=True)
class Filters:
    """What a list is narrowed to; empty texts narrow nothing. ``state`` is a state, ``alive`` or ``ended:<result>``."""

    q: str = ""  #: in the language of ``session_query``
    state: str = ""
    owner: str = ""
    group: str = ""
    queue: str = ""
    reason: str = ""  #: headline of a wait; of sessions whose reason the viewer may read

    @property
    def is_filtered(self) -> bool:
        """Say whether anything is narrowed."""
        return any((self.q, self.state, self.owner, self.group, self.queue, self.reason))

    def query(self) -> str:
        """Return all of it in the query language, so that it can be kept and asked for elsewhere."""
        words = {"group": self.group, "queue": self.queue, "reason": self.reason}
        if self.owner == "me":
            words["user"] = "me"
        state, _, result = self.state.partition(":")
        words |= {"state": "over" if state == "ended" else state, "result": result}
        found = [f"{key}:{value}" for key, value in sorted(words.items()) if value]
        return " ".join([*found, *([self.q] if self.q else [])])


@dataclasses.dataclass(frozen=True, slots=True)
class Row:
    """One session in a list; what may not be seen is empty, ``priority`` None."""

    id: uuid.UUID
    sight: permissions.Sight
    name: str
    owner: str
    is_mine: bool
    queue: str
    group: str
    state: str
    result: str
    verdict: str
    priority: int | None
    slots: Mapping[str, int]
    submitted_at: datetime.datetime
    since_s: int
    preempted_count: int
    nodes: list[str]


@dataclasses.dataclass(frozen=True, slots=True)
class Page:
    """One page of a list: its rows, the number of the first (from 1), the total, counts by state for the facets."""

    rows: list[Row]
    first: int
    total: int
    by_state: Mapping[str, int]


def page(viewer: models.User, filters: Filters, *, number: int = 1) -> Page:
    """
    Return one page of the sessions that the viewer may see, newest first. At most eight queries.

    Raises:
        Refusal: ``q`` cannot be read; its field ``q`` says what would be right.
    """
    narrowed = _narrow(permissions.visible_sessions(viewer), viewer, filters)
    by_state = dict(narrowed.order_by().values_list("state").annotate(count=Count("pk")))
    found = _of_state(narrowed, filters.state)
    total = found.count()
    start = (max(1, number) - 1) * PAGE
    return Page(rows(viewer, found.order_by("-id")[start : start + PAGE]), start + 1, total, by_state)


def mine(viewer: models.User, *, limit: int = 8) -> list[Row]:
    """Return the viewer's own sessions, the living ones first, then those that ended last. Four queries."""
    own = models.Session.objects.filter(owner=viewer)
    over = Q(state=states.SessionState.TERMINATED.value)
    living = list(own.exclude(over).order_by("-id").values_list("pk", flat=True)[:limit])
    ended = own.filter(over).order_by("-ended_at").values_list("pk", flat=True)[: limit - len(living)]
    ids = [*living, *ended]
    found = {row.pk: row for row in _with_parts(models.Session.objects.filter(pk__in=ids))}
    return _as_rows(viewer, [found[pk] for pk in ids if pk in found])


def rows(viewer: models.User, found: QuerySet[models.Session]) -> list[Row]:
    """Return sessions as rows; those that the viewer may not see at all are left out. Four queries."""
    return _as_rows(viewer, list(_with_parts(found)))


def _with_parts(found: QuerySet[models.Session]) -> QuerySet[models.Session]:
    parts = found.select_related("owner", "queue", "group", "pend_reason")
    return parts.prefetch_related("allocations__node").defer("script", "environment", "argv")


def _as_rows(viewer: models.User, found: Iterable[models.Session]) -> list[Row]:
    roles, now = permissions.roles_of(viewer), clock.now()
    judged = [(session, permissions.sight(viewer, session, roles=roles)) for session in found]
    return [_row(session, (viewer, sight, now)) for session, sight in judged if sight]


def _row(session: models.Session, seen: tuple[models.User, permissions.Sight, datetime.datetime]) -> Row:
    viewer, sight, now = seen
    sees_all = sight >= permissions.Sight.OPERATIONS
    return Row(
        id=session.public_id,
        sight=sight,
        name=session.name if sees_all else "",
        owner=session.owner.username if sees_all else "",
        is_mine=session.owner_id == viewer.pk,
        queue=session.queue.slug,
        group=session.group.slug,
        state=session.state,
        result=session.result,
        verdict=verdicts.line(session) if sees_all else "",
        priority=session.priority if sees_all else None,
        slots=session.slots,
        submitted_at=session.submitted_at,
        since_s=max(0, int((now - session.state_since).total_seconds())),
        preempted_count=session.times_preempted if sees_all else 0,
        nodes=sorted(held.node.name for held in session.allocations.all()) if sees_all else [],
    )


def _narrow(
    found: QuerySet[models.Session], viewer: models.User, filters: Filters
) -> QuerySet[models.Session]:
    if filters.owner == "me":
        found = found.filter(owner=viewer)
    if filters.group:
        found = found.filter(group__slug=filters.group)
    if filters.queue:
        found = found.filter(queue__slug=filters.queue)
    if filters.reason:  # a match would tell the reason
        found = found.filter(verdicts.waits_for(filters.reason), permissions.readable_sessions(viewer))
    return session_query.narrow(found, viewer, filters.q)


def _of_state(found: QuerySet[models.Session], state: str) -> QuerySet[models.Session]:
    over = Q(state=states.SessionState.TERMINATED.value)
    if state == ALIVE:
        return found.exclude(over)
    if state.startswith("ended:") and state.removeprefix("ended:") in _RESULTS:
        return found.filter(over, result=state.removeprefix("ended:"))
    return found.filter(state=state) if state in _STATES else found
