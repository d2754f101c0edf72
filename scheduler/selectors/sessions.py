"""
Sessions as one viewer may see them: lists with filters and counts, each row with its sight.

A row holds nothing that its sight forbids: with a summary there is state, size, queue and times, no more.
"""

from __future__ import annotations

import dataclasses
import datetime
import shlex
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import Max, OuterRef, Q, QuerySet

from scheduler import clock, models
from scheduler.core import states
from scheduler.selectors import permissions, session_facets, session_query, verdicts

PAGE = 50
#: Rows that are read at once where all are wanted.
BATCH = 500
_STATES = [state.value for state in states.SessionState]
_RESULTS = [result.value for result in states.Result]
ALIVE, ENDED = session_facets.ALIVE, session_facets.ENDED
_KNOWN_STATES = {*_STATES, ALIVE, *(f"{ENDED}{result}" for result in _RESULTS)}


@dataclasses.dataclass(frozen=True, slots=True)
class Filters:
    """What a list is narrowed to; empty texts narrow nothing. ``state`` is a state, ``alive`` or ``ended:<result>``."""

    q: str = ""  #: in the language of ``session_query``
    state: str = ""
    owner: str = ""  #: a user name, of sessions that the viewer reads in full, or ``me``
    group: str = ""
    queue: str = ""
    reason: str = ""  #: headline of a wait; of sessions whose reason the viewer may read

    @property
    def is_filtered(self) -> bool:
        """Say whether anything is narrowed."""
        return any((self.q, self.state, self.owner, self.group, self.queue, self.reason))

    def query(self) -> str:
        """Return all of it in the query language, so that it can be kept and asked for elsewhere."""
        words = {"group": self.group, "queue": self.queue, "reason": self.reason, "user": self.owner}
        state, _, result = self.state.partition(":")
        words |= {"state": "over" if state == "ended" else state, "result": result}
        found = [shlex.quote(f"{key}:{value}") for key, value in sorted(words.items()) if value]
        return " ".join([*found, *([self.q] if self.q else [])])


@dataclasses.dataclass(frozen=True, slots=True)
class Row:
    """One session in a list; what may not be seen is empty, a priority None."""

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
    job_priority: int | None
    type: str
    slots: Mapping[str, int]
    node_count: int
    submitted_at: datetime.datetime
    started_at: datetime.datetime | None
    ended_at: datetime.datetime | None
    since_s: int
    preempted_count: int
    nodes: list[str]


@dataclasses.dataclass(frozen=True, slots=True)
class Again:
    """Rows that were shown before, as they are now, in their order; which still pass; how many newer ones do."""

    rows: list[Row]
    passing: set[uuid.UUID]
    newer: int


@dataclasses.dataclass(frozen=True, slots=True)
class Page:
    """One page of a list: its rows, the number of the first (from 1), and what the facets count."""

    rows: list[Row]
    first: int
    counts: session_facets.Counts

    @property
    def total(self) -> int:
        """How many sessions pass the filters."""
        return self.counts.total


def page(viewer: models.User, filters: Filters, *, number: int = 1) -> Page:
    """
    Return one page of the sessions that the viewer may see, newest first. At most four queries.

    Raises:
        Refusal: ``q`` cannot be read; its field ``q`` says what would be right.
    """
    asked = session_query.narrow(permissions.visible_sessions(viewer), viewer, filters.q)
    chosen = dataclasses.replace(filters, state=filters.state if filters.state in _KNOWN_STATES else "")
    counts = session_facets.count(asked, viewer, dataclasses.asdict(chosen))
    start = (max(1, number) - 1) * PAGE
    found = _narrow(asked, viewer, filters).order_by("-id")[start : start + PAGE]
    return Page(rows(viewer, found), start + 1, counts)


def again(viewer: models.User, filters: Filters, ids: Sequence[uuid.UUID]) -> Again:
    """
    Look again at the rows of a page, so that they keep their places whatever happened. Five queries.

    Raises:
        Refusal: as ``page``.
    """
    visible = permissions.visible_sessions(viewer)
    passing = _narrow(session_query.narrow(visible, viewer, filters.q), viewer, filters).order_by()
    shown = {row.id: row for row in rows(viewer, visible.filter(public_id__in=ids))}
    newest = visible.filter(public_id__in=ids).aggregate(newest=Max("pk"))["newest"] or 0
    return Again(
        [shown[one] for one in ids if one in shown],
        set(passing.filter(public_id__in=ids).values_list("public_id", flat=True)),
        passing.filter(pk__gt=newest).count(),
    )


def every(viewer: models.User, filters: Filters) -> Iterator[list[Row]]:
    """
    Return all rows of a list in batches, newest first: what is submitted meanwhile is left out.

    Raises:
        Refusal: at once, as ``page``.
    """
    asked = session_query.narrow(permissions.visible_sessions(viewer), viewer, filters.q)
    return _batches(viewer, _narrow(asked, viewer, filters).order_by("-id"))


def _batches(viewer: models.User, found: QuerySet[models.Session]) -> Iterator[list[Row]]:
    batch = list(_with_parts(found)[:BATCH])
    while batch:
        yield _as_rows(viewer, batch)
        batch = list(_with_parts(found.filter(pk__lt=batch[-1].pk))[:BATCH])


def mine(viewer: models.User, *, limit: int = 8) -> list[Row]:
    """Return the viewer's own sessions, the living ones first, then those that ended last. Four queries at most."""
    own = models.Session.objects.filter(owner=viewer)
    over = Q(state=states.SessionState.TERMINATED.value)
    living = list(own.exclude(over).order_by("-id").values_list("pk", flat=True)[:limit])
    ended = own.filter(over).order_by("-ended_at").values_list("pk", flat=True)[: limit - len(living)]
    ids = [*living, *ended]
    found = {row.pk: row for row in _with_parts(models.Session.objects.filter(pk__in=ids))}
    return _as_rows(viewer, [found[pk] for pk in ids if pk in found])


def rows(viewer: models.User, found: QuerySet[models.Session]) -> list[Row]:
    """Return sessions as rows; those that the viewer may not see at all are left out. One query, and the clock's."""
    return _as_rows(viewer, list(_with_parts(found)))


def _with_parts(found: QuerySet[models.Session]) -> QuerySet[models.Session]:
    parts = found.select_related("owner", "queue", "group", "pend_reason")
    held = models.Allocation.objects.filter(session=OuterRef("pk")).order_by("node__name")
    nodes = ArraySubquery(held.values("node__name"))
    return parts.annotate(node_names=nodes).defer("script", "environment", "argv")


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
        job_priority=session.job_priority if sees_all else None,
        type=session.type if sees_all else "",
        slots=session.slots,
        node_count=session.node_count,
        submitted_at=session.submitted_at,
        started_at=session.started_at,
        ended_at=session.ended_at,
        since_s=max(0, int((now - session.state_since).total_seconds())),
        preempted_count=session.times_preempted if sees_all else 0,
        nodes=list(getattr(session, "node_names", ())) if sees_all else [],
    )


def _narrow(
    found: QuerySet[models.Session], viewer: models.User, filters: Filters
) -> QuerySet[models.Session]:
    if filters.owner:
        found = found.filter(_owned(viewer, filters.owner))
    if filters.group:
        found = found.filter(group__slug=filters.group)
    if filters.queue:
        found = found.filter(queue__slug=filters.queue)
    if filters.reason:  # a match would tell the reason
        found = found.filter(verdicts.waits_for(filters.reason), permissions.readable_sessions(viewer))
    return _of_state(found, filters.state)


def _owned(viewer: models.User, owner: str) -> Q:
    if owner == session_facets.ME:
        return Q(owner=viewer)
    return Q(owner__username=owner) & permissions.readable_sessions(viewer)  # a match would tell the owner


def _of_state(found: QuerySet[models.Session], state: str) -> QuerySet[models.Session]:
    over = Q(state=states.SessionState.TERMINATED.value)
    if state not in _KNOWN_STATES:
        return found
    if state == ALIVE:
        return found.exclude(over)
    if state.startswith(ENDED):
        return found.filter(over, result=state.removeprefix(ENDED))
    return found.filter(state=state)
