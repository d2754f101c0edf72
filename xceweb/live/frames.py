"""Events as browsers get them: worded, linked, at the sight of one viewer; for feed, JSON and socket."""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from typing import Any

from django import urls

from scheduler import models
from scheduler.selectors import event_log, event_texts, permissions

#: Numbers that one answer over HTTP reaches at most.
MOST = 500
Seen = tuple[event_log.Entry, permissions.Sight]


def rows(seen: Iterable[Seen]) -> list[dict[str, Any]]:
    """Return one plain dict an event: number, type, at (aware), session, group, text, changed, link."""
    return [row(entry, sight) for entry, sight in seen]


def row(entry: event_log.Entry, sight: permissions.Sight) -> dict[str, Any]:
    """Return one event as one viewer may see it."""
    return {
        "number": entry.number,
        "type": entry.type,
        "at": entry.at,
        "session": entry.session,
        "group": entry.group,
        "text": event_texts.text(entry, sight),
        "changed": _changed(entry, sight),
        "link": link(entry),
    }


def _changed(entry: event_log.Entry, sight: permissions.Sight) -> list[str]:
    """Return the names of changed columns; of a session seen as a summary its state alone."""
    if entry.session_id is None or sight >= permissions.Sight.OPERATIONS:
        return entry.changed
    return [name for name in entry.changed if name == "state"]


def link(entry: event_log.Entry) -> str:
    """Return the address of what the event is about, empty when it has no page."""
    if entry.session:
        return urls.reverse("dashboard:session-detail", args=[entry.session])
    if entry.node:
        return urls.reverse("dashboard:node-detail", args=[entry.node])
    if entry.type.startswith("queue."):
        return urls.reverse("dashboard:queue-list")
    return urls.reverse("dashboard:group-detail", args=[entry.group]) if entry.group else ""


def batch(topic: str, bounds: tuple[int, int], seen: Iterable[Seen]) -> dict[str, Any]:
    """
    Return the frame of one batch.

    Args:
        bounds: ``prev`` and ``last``: with what the client held before (numbers up to ``prev``) it now knows
        all that
            it may see up to ``last``.
    """
    events = [{**event, "at": _text(event["at"])} for event in rows(seen)]
    return {"type": "events", "topic": topic, "prev": bounds[0], "last": bounds[1], "events": events}


def since(viewer: models.User, number: int) -> dict[str, Any]:
    """Return the frame of all that the viewer may see of the next ``MOST`` numbers after one."""
    entries = event_log.after(number, limit=MOST)
    last = entries[-1].number if entries else number
    return batch("cluster", (number, last), event_log.seen(event_log.rights_of(viewer), entries))


def _text(moment: datetime.datetime) -> str:
    return moment.isoformat()
