"""
Whether the demo's stream of sessions is on: the last entry that the audit log has about it.

An entry says who turned it on or off, when and why, and the newest one decides; an installation without one
has no stream. The environment variable XCE_DEMO_STREAM=0 takes the beat's entry away and wins over this.
"""

from __future__ import annotations

from scheduler import models
from scheduler.services import actors, audit
from scheduler.services import work as unit

_TYPE, _NAME = "demo", "stream"


def is_on() -> bool:
    """Say whether the stream may submit. One indexed query."""
    last = _entries().first()
    return last is not None and last.after == {"on": True}


def was_ever_set() -> bool:
    """Say whether somebody, or the first start, has decided already."""
    return _entries().exists()


def turn(actor: actors.Actor, *, on: bool, reason: str) -> None:
    """Turn the stream on or off; sessions that run go on."""
    with unit.begin(actor) as work:
        audit.record_change(
            work,
            audit.Subject(_TYPE, _NAME),
            before={"on": is_on()},
            after={"on": on},
            reason=reason,
        )


def _entries():  # type: ignore[no-untyped-def]
    return models.ConfigChange.objects.filter(object_type=_TYPE, object_name=_NAME).order_by("-id")
