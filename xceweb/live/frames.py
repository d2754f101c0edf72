"""
Events as clients get them: worded, linked, at the sight of one viewer; for feed, JSON, socket and event stream.

A frame is a batch of events with its bounds: with all up to ``prev`` a client now holds all that it may see up to
``last``. Frames of the live connections are text of at most ``MOST_BYTES``; what is longer goes in parts, each with
bounds of its own that join on to those of the part before.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from django import urls

from scheduler import models
from scheduler.selectors import event_log, event_texts, permissions

#: Numbers that one answer over HTTP reaches at most.
MOST = 500
#: Of one frame of a live connection.
MOST_BYTES = 8 * 1024
#: Of the form of an event. Fields may be added under the same one.
VERSION = 1
Seen = tuple[event_log.Entry, permissions.Sight]


def rows(seen: Iterable[Seen]) -> list[dict[str, Any]]:
    """Return one plain dict an event; ``at`` is aware, ids are text."""
    return [row(entry, sight) for entry, sight in seen]


def row(entry: event_log.Entry, sight: permissions.Sight) -> dict[str, Any]:
    """Return one event as one viewer may see it."""
    sees_node = entry.session_id is None or sight >= permissions.Sight.OPERATIONS
    return {
        "version": VERSION,
        "number": entry.number,
        "type": entry.type,
        "at": entry.at,
        "session": entry.session,
        "group": entry.group,
        "node": entry.node if sees_node else None,
        "decision": entry.decision,
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


@dataclasses.dataclass(frozen=True, slots=True)
class Frame:
    """One message of a live connection, as text; ``last`` where it moves what the client holds."""

    type: str
    text: str
    last: int | None = None


def frame(type_: str, *, last: int | None = None, **fields: Any) -> Frame:
    """Return a frame without events."""
    numbers = {} if last is None else {"last": last}
    return Frame(type_, _dumped({"type": type_, **fields, **numbers}), last)


def written(entry: event_log.Entry, sight: permissions.Sight) -> str:
    """Return one event as JSON."""
    shown = row(entry, sight)
    return _dumped({**shown, "at": shown["at"].isoformat()})


def batches(topic: str, bounds: tuple[int, int], events: Sequence[tuple[int, str]]) -> list[Frame]:
    """
    Return the frames of one batch, one as a rule.

    Args:
        bounds: ``prev``, what the client held before, and ``last``, what it holds then.
        events: number and JSON of each, in their order.
    """
    prev, last = bounds
    found: list[Frame] = []
    part: list[str] = []
    room = MOST_BYTES - _HEAD_BYTES - len(topic)
    for place, (_, text) in enumerate(events):
        if part and room < len(text) + 1:
            reached = events[place - 1][0]
            found.append(_batch(topic, (prev, reached), part))
            prev, part, room = reached, [], MOST_BYTES - _HEAD_BYTES - len(topic)
        part.append(text)
        room -= len(text) + 1
    return [*found, _batch(topic, (prev, last), part)]


def _batch(topic: str, bounds: tuple[int, int], events: Sequence[str]) -> Frame:
    head = _dumped({"type": "events", "topic": topic, "prev": bounds[0], "last": bounds[1]})
    return Frame("events", f'{head[:-1]},"events":[{",".join(events)}]}}', bounds[1])


#: More than the longest head and foot of a batch, without its topic.
_HEAD_BYTES = 128


def since(
    viewer: models.User,
    number: int,
    *,
    topic: str = "cluster",
    wants: Callable[[event_log.Entry], bool] = lambda entry: True,
) -> dict[str, Any]:
    """Return all of a topic that the viewer may see of the next ``MOST`` numbers after one, in the form of a frame."""
    entries = event_log.after(number, limit=MOST)
    last = entries[-1].number if entries else number
    seen = event_log.seen(event_log.rights_of(viewer), entries, wanted=wants)
    events = [{**event, "at": event["at"].isoformat()} for event in rows(seen)]
    return {"type": "events", "topic": topic, "prev": number, "last": last, "events": events}


def _dumped(value: dict[str, Any]) -> str:
    return json.dumps(value, separators=(",", ":"))
