"""Runs across sessions: who ran where, and how it ended, of all sessions that a viewer reads in full."""

from __future__ import annotations

import dataclasses
import uuid

from django.db.models import Q, QuerySet

from scheduler import models
from scheduler.core import states
from scheduler.selectors import permissions

#: What a run is doing: dispatched and not confirmed, running or suspended, or over.
STATES = {
    "starting": Q(started_at=None, ended_at=None),
    "under-way": Q(started_at__isnull=False, ended_at=None),
    "over": Q(ended_at__isnull=False),
}


#: How a run may have ended.
ENDS = (*(result.value for result in states.Result), "requeued")


@dataclasses.dataclass(frozen=True, slots=True)
class Filters:
    """What a list is narrowed to; empty values narrow nothing."""

    session: uuid.UUID | None = None
    group: str = ""
    node: str = ""
    state: str = ""  #: one of ``STATES``
    ends: tuple[str, ...] = ()  #: how it ended, any of these of ``ENDS``


def narrowed(viewer: models.User, filters: Filters) -> QuerySet[models.Run]:
    """
    Return the runs of the sessions whose names the viewer may read (DESIGN 9), with what a list shows of each session.

    A session of which only a summary may be seen shows no run: neither in the rows nor in their number.
    """
    readable = permissions.visible_sessions(viewer).filter(permissions.readable_sessions(viewer))
    if filters.session is not None:
        readable = readable.filter(public_id=filters.session)
    if filters.group:
        readable = readable.filter(group__slug=filters.group)
    rows = models.Run.objects.filter(session__in=readable.order_by()).select_related(
        "session__group", "session__queue"
    )
    if filters.node:
        rows = rows.filter(node_names__contains=[filters.node])
    if filters.state:
        rows = rows.filter(STATES[filters.state])
    return rows.filter(how_ended__in=filters.ends) if filters.ends else rows
