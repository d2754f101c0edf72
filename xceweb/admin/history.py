"""What the record says of one row: the audit's changes with before and after, and its events."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from django import http
from django.db.models import Q
from django.template import loader

from scheduler import models

if TYPE_CHECKING:
    from xceweb.admin.listing import Listing

#: A row -> type and name of each thing that the audit calls it by.
Subjects = Callable[[Any], list[tuple[str, str]]]
#: The newest are shown, and the lists lead on to all.
MOST = 100


@dataclasses.dataclass(frozen=True)
class Difference:
    """One field of one change; None = it was not there."""

    name: str
    before: str | None
    after: str | None


@dataclasses.dataclass(frozen=True)
class Change:
    """One row of the audit with its differences, by field."""

    row: models.ConfigChange
    differences: tuple[Difference, ...]


def context(row: Any, listing: Listing) -> dict[str, Any]:
    """Return what the page of a row's history shows. At most two queries."""
    return {
        "changes": changes_of(listing.subjects(row)) if listing.subjects else [],
        "events": events_of(listing.events, row) if listing.events else [],
        "is_audited": listing.subjects is not None,
        "has_events": bool(listing.events),
        "most": MOST,
    }


def render(request: http.HttpRequest, context: dict[str, Any]) -> str:
    """Return the page."""
    return loader.render_to_string("admin/object_history.html", context, request)


def changes_of(subjects: list[tuple[str, str]]) -> list[Change]:
    """Return the newest changes of a thing that goes by these names. One query."""
    wanted = Q(pk__in=[])
    for kind, name in subjects:
        wanted |= Q(object_type=kind, object_name=name)
    rows = models.ConfigChange.objects.filter(wanted).order_by("-id")[:MOST]
    return [Change(row, differences(row.before, row.after)) for row in rows]


def events_of(column: str, row: Any) -> list[models.Event]:
    """Return the newest events of a row. One query."""
    return list(models.Event.objects.filter(**{column: row}).order_by("-number")[:MOST])


def differences(before: dict[str, Any], after: dict[str, Any]) -> tuple[Difference, ...]:
    """Return what differs, by name; a field that stands on one side alone came or went."""
    names = sorted({*before, *after})
    found = [Difference(name, _told(before, name), _told(after, name)) for name in names]
    return tuple(each for each in found if each.before != each.after)


def _told(values: dict[str, Any], name: str) -> str | None:
    if name not in values:
        return None
    value = values[name]
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
