"""
Decisions that one viewer may read: their history and one of them whole.

A decision belongs to its group: whoever sees the group sees that it was made, with queues, priorities, sizes
and times. Who the sessions are is asked session by session.
"""

from __future__ import annotations

import dataclasses
import datetime
import uuid

from django.db.models import Count, Q, QuerySet

from scheduler import clock, errors, models
from scheduler.selectors import event_log, permissions

PAGE = 25
OUTCOMES = (*models.Outcome.Kind.values, "open", "shadow")
_WEEK = datetime.timedelta(days=7)
_OWN = ("outcome", "shadow", "given_up")
_RELATED = ("session__queue", "session__group", "group", "node", "round__policy", *_OWN)
_KINDS = (models.Decision.Kind.PREEMPT, models.Decision.Kind.SHADOW)


@dataclasses.dataclass(frozen=True, slots=True)
class Filters:
    """What the history is narrowed to; empty texts narrow nothing."""

    group: str = ""
    outcome: str = ""
    axis: str = ""

    @property
    def is_filtered(self) -> bool:
        """Say whether anything is narrowed."""
        return any((self.group, self.outcome, self.axis))


@dataclasses.dataclass(frozen=True, slots=True)
class Page:
    """One page of the history, newest first; ``first`` counts from 1."""

    rows: list[models.Decision]
    first: int
    total: int


def page(viewer: models.User, filters: Filters, *, number: int = 1) -> Page:
    """Return one page of preemptions, shadow ones included, with victims. Five queries."""
    found = _narrow(visible(viewer), filters)
    start = (max(1, number) - 1) * PAGE
    rows = found.select_related(*_RELATED).prefetch_related("victims__session__queue", "victims__fate")
    return Page(list(rows.order_by("-id")[start : start + PAGE]), start + 1, found.count())


def visible(viewer: models.User) -> QuerySet[models.Decision]:
    """Return the preemptions (shadow ones included) of the groups that the viewer may see."""
    groups = permissions.visible_groups(viewer)
    return models.Decision.objects.filter(group__in=groups, kind__in=_KINDS)


def narrowed(viewer: models.User, filters: Filters) -> QuerySet[models.Decision]:
    """Return the preemptions that a list is narrowed to, with all that a line of it shows."""
    return _narrow(visible(viewer), filters).select_related(*_RELATED)


def victims(viewer: models.User, *, only_own: bool) -> QuerySet[models.Victim]:
    """Return who was stopped in the viewer's groups, and the viewer's own sessions, with both sides."""
    own = Q(session__owner=viewer)
    found = own if only_own else own | Q(decision__group__in=permissions.visible_groups(viewer))
    return models.Victim.objects.filter(found).select_related("decision__group", "decision__session", "fate")


def require(viewer: models.User, public_id: uuid.UUID) -> models.Decision:
    """
    Return one preemption whole.

    Raises:
        NotVisible: there is none, or the viewer does not see its group and is in no way part of it.
    """
    rows = models.Decision.objects.filter(public_id=public_id, kind__in=_KINDS)
    row = rows.select_related(*_RELATED).prefetch_related("victims__session__queue", "victims__fate").first()
    if row is None or not _may_read(viewer, row):
        raise errors.NotVisible("There is no such decision, or you may not see it.")
    return row


def _may_read(viewer: models.User, row: models.Decision) -> bool:
    """Say whether the group is visible, or one of the sessions is the viewer's own (a role may have ended)."""
    if permissions.visible_groups(viewer).filter(pk=row.group_id).exists():
        return True
    owners = {row.session.owner_id, *(victim.session.owner_id for victim in row.victims.all())}
    return viewer.pk in owners


def _narrow(found: QuerySet[models.Decision], filters: Filters) -> QuerySet[models.Decision]:
    if filters.group:
        found = found.filter(group__slug=filters.group)
    if filters.axis in ("owner", "queue"):
        found = found.filter(axis=filters.axis)
    if filters.outcome == "shadow":
        return found.filter(kind=models.Decision.Kind.SHADOW)
    if filters.outcome == "open":
        return found.filter(kind=models.Decision.Kind.PREEMPT, outcome=None)
    return found.filter(outcome__kind=filters.outcome) if filters.outcome in OUTCOMES else found


def outcome_of(row: models.Decision) -> str:
    """Return ``shadow``, ``open``, or how the decision turned out."""
    if row.kind == models.Decision.Kind.SHADOW:
        return "shadow"
    outcome = getattr(row, "outcome", None)
    return outcome.kind if outcome else "open"


def last_week(viewer: models.User) -> tuple[int, int]:
    """Return how many preemptions of the last 7 days are closed, and how many of them were used. Two queries."""
    rows = models.Outcome.objects.filter(decision__in=visible(viewer), at__gte=clock.now() - _WEEK)
    tally = dict(rows.order_by().values_list("kind").annotate(count=Count("pk")))
    used = tally.get(models.Outcome.Kind.USED, 0) + tally.get(models.Outcome.Kind.PARTLY, 0)
    return sum(tally.values()), used


def start_after(row: models.Decision) -> datetime.datetime | None:
    """Return when the session for which room was made started after the decision, None if it did not. One query."""
    started = models.Event.objects.filter(session=row.session_id, type="session.started", at__gte=row.at)
    return started.order_by("number").values_list("at", flat=True).first()


def entries(row: models.Decision) -> list[event_log.Entry]:
    """Return the events that name the decision, oldest first. One query. Internal: the caller judges each."""
    return event_log.of_decision(row)


def latency_us(row: models.Decision) -> int | None:
    """Return microseconds from the decision until its last victim's fate was known, None while one is open."""
    fates = [getattr(victim, "fate", None) for victim in row.victims.all()]
    if not fates or None in fates:
        return None
    return (max(fate.at for fate in fates) - row.at) // datetime.timedelta(microseconds=1)
