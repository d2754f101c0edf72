"""
Reads of the event log: rows as flat values, with all that decides who may see each.

One query for any number of events. Who may see an entry is asked of ``permissions`` alone; nothing here
depends on a viewer except the two functions that name one.
"""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import F, OuterRef, Q, QuerySet

from scheduler import models
from scheduler.selectors import permissions

#: Of a session seen as a summary one is told its states and the decisions of its group; nothing else of it.
FOR_SUMMARY = frozenset(
    {
        "session.submitted",
        "session.scheduled",
        "session.resume_scheduled",
        "session.started",
        "session.dispatch_undone",
        "session.resume_undone",
        "session.cancel_asked",
        "session.preempted",
        "session.requeued",
        "session.suspended",
        "session.withdrawn",
        "session.stop_asked",
        "session.stop_failed",
        "session.ended",
        "decision.preempt",
        "decision.shadow",
        "decision.wait",
        "decision.handed_over",
        "decision.outcome",
    }
)
_COLUMNS = {
    "number": F("number"),
    "type": F("type"),
    "at": F("at"),
    "group_id": F("group_id"),
    "group": F("group__slug"),
    "session_id": F("session_id"),
    "session": F("session__public_id"),
    "session_name": F("session__name"),
    "owner_id": F("session__owner_id"),
    "owner": F("session__owner__username"),
    "queue": F("session__queue__slug"),
    "is_private": F("session__is_private"),
    "slots": F("session__slots"),
    "node": F("node__name"),
    "decision": F("decision__public_id"),
    "victim_ids": ArraySubquery(
        models.Victim.objects.filter(decision=OuterRef("decision")).order_by("position").values("session_id")
    ),
    "actor_id": F("actor_id"),
    "actor_name": F("actor_name"),
    "changed": F("changed"),
    "data": F("data"),
}


@dataclasses.dataclass(frozen=True, slots=True)
class Entry:
    """One event with what is needed to judge and to word it; ids as text where they go outside."""

    number: int
    type: str
    at: datetime.datetime
    group_id: int | None
    group: str | None
    session_id: int | None
    session: str | None
    session_name: str | None
    owner_id: int | None
    owner: str | None
    queue: str | None
    is_private: bool | None
    slots: Mapping[str, int] | None
    node: str | None
    decision: str | None
    victim_ids: list[int]  #: sessions that the decision stops: its outcome is their business, too
    actor_id: int | None
    actor_name: str
    changed: list[str]
    data: Mapping[str, Any]


@dataclasses.dataclass(frozen=True, slots=True)
class Rights:
    """What one person may see, read once and then asked without the database."""

    user: models.User
    roles: Mapping[int, permissions.Role]

    def sight(self, entry: Entry) -> permissions.Sight:
        """Say how much of an entry's session (or of the group, where it has none) this person sees."""
        if entry.session_id is not None:
            return permissions.sight(self.user, entry, roles=dict(self.roles))
        if permissions.is_administrator(self.user):
            return permissions.Sight.FULL
        if entry.group_id is None:
            return permissions.Sight.NONE
        return permissions.Sight.OPERATIONS if entry.group_id in self.roles else permissions.Sight.NONE


def rights_of(user: models.User) -> Rights:
    """Return what a person may see now. One query."""
    return Rights(user, permissions.roles_of(user))


def last_number() -> int:
    """Return the number of the newest event, 0 before the first. Internal."""
    return models.EventCounter.objects.values_list("last", flat=True).get(id=1)


def after(number: int, *, limit: int) -> list[Entry]:
    """Return at most ``limit`` entries with higher numbers, oldest first, for everybody. Internal."""
    return _entries(models.Event.objects.filter(number__gt=number).order_by("number")[:limit])


def newest_visible(viewer: models.User, *, limit: int = 50) -> list[tuple[Entry, permissions.Sight]]:
    """Return the newest entries that a viewer may see, newest first, with the sight of each. Two queries."""
    rights = rights_of(viewer)
    rows = models.Event.objects.filter(_visible(rights)).order_by("-number")[:limit]
    return seen(rights, _entries(rows))


def of_session(session: models.Session, *, limit: int = 200) -> list[Entry]:
    """Return the newest entries of one session, oldest first. Internal: the caller has checked the sight."""
    rows = models.Event.objects.filter(session=session).order_by("-number")[:limit]
    return _entries(rows)[::-1]


def of_decision(decision: models.Decision, *, limit: int = 200) -> list[Entry]:
    """Return the entries that name a decision, oldest first. Internal: the caller judges each."""
    return _entries(models.Event.objects.filter(decision=decision).order_by("number")[:limit])


def of_node(node: models.Node, *, limit: int = 30) -> list[Entry]:
    """Return the newest entries about a node itself, oldest first. Internal: the caller has checked its group."""
    rows = models.Event.objects.filter(node=node, session=None).order_by("-number")[:limit]
    return _entries(rows)[::-1]


def seen(
    rights: Rights, entries: Iterable[Entry], *, wanted: Callable[[Entry], bool] = lambda entry: True
) -> list[tuple[Entry, permissions.Sight]]:
    """Return the wanted entries that the person may see, each with its sight."""
    judged = ((entry, rights.sight(entry)) for entry in entries if wanted(entry))
    return [(entry, sight) for entry, sight in judged if sight >= least_sight(entry)]


def least_sight(entry: Entry) -> permissions.Sight:
    """Return what one must see of an entry's session to be told of it: with a summary its states and decisions."""
    is_inner = entry.session_id is not None and entry.type not in FOR_SUMMARY
    return permissions.Sight.OPERATIONS if is_inner else permissions.Sight.SUMMARY


def _visible(rights: Rights) -> Q:
    """Narrow the rows in the database; ``Rights.sight`` has the last word on each."""
    if permissions.is_administrator(rights.user):
        return Q()
    return Q(session__owner=rights.user) | Q(group_id__in=list(rights.roles)) & ~_hidden(rights)


def _hidden(rights: Rights) -> Q:
    managed = [group_id for group_id, role in rights.roles.items() if role == permissions.Role.MANAGER]
    operated = [group_id for group_id, role in rights.roles.items() if role == permissions.Role.OPERATOR]
    inner = Q(session__isnull=False) & ~Q(type__in=FOR_SUMMARY) & ~Q(group_id__in=[*managed, *operated])
    return Q(session__is_private=True) & ~Q(group_id__in=managed) | inner


def _entries(rows: QuerySet[models.Event]) -> list[Entry]:
    return [Entry(**_as_text(row)) for row in rows.values(**_renamed())]


def _renamed() -> dict[str, F]:
    return {f"x_{name}": column for name, column in _COLUMNS.items()}


def _as_text(row: dict[str, Any]) -> dict[str, Any]:
    values = {name.removeprefix("x_"): value for name, value in row.items()}
    for name in ("session", "decision"):
        values[name] = str(values[name]) if values[name] else None
    return values
