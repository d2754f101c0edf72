"""Sessions, their runs and output, and what they hold."""

from __future__ import annotations

from scheduler import models
from scheduler.core import states
from xceweb.admin import columns, filters
from xceweb.admin.listing import Listing

_BY_SESSION = ("session__name", "session__public_id__exact", "session__owner__username")
_RESULTS = tuple(result.value for result in states.Result)
_NAMES = "session names, full ids and owners"

LISTINGS = (
    Listing(
        model=models.Session,
        columns=(
            "name",
            "state",
            "result",
            "owner",
            "queue",
            "group",
            "priority",
            "job_priority",
            "times_preempted",
            "submitted_at",
        ),
        search=("name", "public_id__exact", "owner__username"),
        searched=_NAMES,
        filters=(
            "state",
            filters.words("result", _RESULTS),
            "group",
            "queue",
            "type",
            "is_held",
            "is_stuck",
            "is_private",
        ),
        page=columns.page_of_session,
        events="session",
    ),
    Listing(
        model=models.Run,
        columns=("session", "attempt", "epoch", "node_names", "started_at", "ended_at", "how_ended"),
        search=(*_BY_SESSION, "node_names__icontains", "how_ended"),
        searched=f"{_NAMES}, nodes, and how they ended",
        filters=("session__group", "was_checkpointed"),
        page=columns.page_of_its_session,
    ),
    Listing(
        model=models.PendReason,
        columns=("session", "session__group", "reason", "since", "seen_at", "round_number"),
        search=(*_BY_SESSION, "reason"),
        searched=f"{_NAMES}, and reasons",
        filters=("reason", "session__group", "session__queue"),
        page=columns.page_of_its_session,
    ),
    Listing(
        model=models.Allocation,
        columns=("session", "session__state", "node", "slots", "indices", "since"),
        search=(*_BY_SESSION, "node__name"),
        searched=f"{_NAMES}, and nodes",
        filters=("session__state", "node__group"),
        page=columns.page_of_its_session,
    ),
    Listing(
        model=models.SessionDependency,
        columns=("session", "kind", "other"),
        search=(*_BY_SESSION, "other__name"),
        searched=f"{_NAMES}, and the names of those waited for",
        filters=("kind",),
        page=columns.page_of_its_session,
    ),
    Listing(
        model=models.SessionOutput,
        columns=("session", "attempt", "size", "is_truncated", "updated_at"),
        search=_BY_SESSION,
        searched=_NAMES,
        filters=("is_truncated",),
        page=columns.page_of_its_session,
    ),
    Listing(
        model=models.RankOutput,
        columns=("session", "attempt", "rank", "size", "is_truncated", "updated_at"),
        search=_BY_SESSION,
        searched=_NAMES,
        filters=("is_truncated",),
        page=columns.page_of_its_session,
    ),
    Listing(
        model=models.OutputPage,
        columns=("session", "attempt", "rank", "offset", "asked_at", "came_at", "is_gone"),
        search=_BY_SESSION,
        searched=_NAMES,
        filters=("is_gone",),
        page=columns.page_of_its_session,
    ),
)
