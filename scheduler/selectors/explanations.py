"""
What explains one session: the reason of its wait, the decisions that stopped it or made room for it.

Internal to pages and the API: the caller has asked ``permissions`` for the sight of the session; for the
other side of a decision it asks again, session by session, through ``others``.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

from django.db.models import Q

from scheduler import models
from scheduler.core import states
from scheduler.selectors import permissions

_S = states.SessionState
_OWN = ("outcome", "shadow", "given_up")
_DECISION = ("round__policy", "node", "session__queue", "session__owner", "group", *_OWN)


@dataclasses.dataclass(frozen=True, slots=True)
class Other:
    """One session as it appears beside another: with its row, and how much of it the viewer sees."""

    session: models.Session
    sight: permissions.Sight
    is_mine: bool

    @property
    def is_named(self) -> bool:
        """Say whether name, owner and page may be shown."""
        return self.sight >= permissions.Sight.OPERATIONS


def pend_reason(session: models.Session) -> models.PendReason | None:
    """Return the latest reason of a wait, None before the first round. One query."""
    return models.PendReason.objects.filter(session=session).first()


def stops(session: models.Session) -> list[models.Victim]:
    """Return how often and by which decisions a session was stopped, newest first, whole. One query."""
    related = [f"decision__{name}" for name in _DECISION]
    rows = models.Victim.objects.filter(session=session, decision__kind=models.Decision.Kind.PREEMPT)
    return list(rows.select_related(*related, "fate").order_by("-decision_id"))


def room_made(session: models.Session) -> models.Decision | None:
    """Return the last decision that stopped others (or waits) so that this session can start. One query."""
    rows = models.Decision.objects.filter(session=session).exclude(kind=models.Decision.Kind.SHADOW)
    return rows.select_related(*_DECISION).order_by("-id").first()


def reservation(session: models.Session) -> models.Reservation | None:
    """Return the room that is kept for a session now. One query."""
    return models.Reservation.objects.filter(session=session).select_related("node", "decision").first()


def claim(session: models.Session) -> models.Claim | None:
    """Return the nodes that are kept for a session because it has waited too long. Two queries, one without any."""
    return models.Claim.objects.filter(session=session).prefetch_related("nodes").first()


def was_just_stopped(session: models.Session, last: models.Victim | None) -> bool:
    """Say whether the session's present state is the consequence of its last preemption."""
    if last is None:
        return False
    if session.state == _S.TERMINATED:
        return session.result == states.Result.PREEMPTED.value
    if session.state == _S.PENDING:
        return last.attempt == session.attempt - 1
    return (
        session.state in (_S.PREEMPTED, _S.SUSPENDED) and last.epoch == session.epoch and not session.is_held
    )


def others(viewer: models.User, ids: Iterable[int]) -> dict[int, Other]:
    """Return sessions by id with the viewer's sight of each. Two queries."""
    roles = permissions.roles_of(viewer)
    rows = models.Session.objects.filter(pk__in=set(ids)).select_related("queue", "owner", "group")
    return {
        row.pk: Other(row, permissions.sight(viewer, row, roles=roles), row.owner_id == viewer.pk)
        for row in rows.defer("script", "environment", "argv")
    }


def node_names(ids: Iterable[int]) -> dict[int, str]:
    """Return node id -> name. One query."""
    return dict(models.Node.objects.filter(pk__in=set(ids)).values_list("pk", "name"))


def node_ids(*parts: Iterable[Mapping[str, Any]]) -> set[int]:
    """Return the ids of all nodes that stored node and candidate views name."""
    found: set[int] = set()
    for view in (view for views in parts for view in views):
        found.update(view.get("node_ids") or ([view["node_id"]] if "node_id" in view else ()))
    return found


def ahead(
    viewer: models.User, session: models.Session, *, limit: int = 5
) -> tuple[int, list[models.Session]]:
    """
    Return the session's position among those that wait in its group, and the last ones before it, in order.

    Sessions that the viewer may not see are not counted.

    By priority, then time of submission, then id; the owner's own ranking within equal priority is left to
    the round. Three queries.
    """
    waiting = permissions.visible_sessions(viewer).filter(group=session.group_id, state=_S.PENDING.value)
    before = waiting.filter(
        Q(priority__gt=session.priority) | Q(priority=session.priority, submitted_at__lt=session.submitted_at)
    )
    rows = before.select_related("queue", "owner", "group", "pend_reason")
    nearest = list(rows.order_by("priority", "-submitted_at", "-id")[:limit])
    return before.count() + 1, nearest[::-1]


def runs(session: models.Session) -> list[models.Run]:
    """Return the runs of a session, oldest first. One query."""
    return list(models.Run.objects.filter(session=session).order_by("attempt"))


def output(session: models.Session, *, rank: int = 0) -> models.SessionOutput | models.RankOutput | None:
    """Return the last lines of the newest attempt that wrote any on a node. One query. Only for a FULL sight."""
    if rank:
        return models.RankOutput.objects.filter(session=session, rank=rank).order_by("-attempt").first()
    return models.SessionOutput.objects.filter(session=session).order_by("-attempt").first()


def output_nodes(session: models.Session) -> list[str]:
    """Return the nodes of the newest attempt in their order, the first of which speaks for the session. One query."""
    run = models.Run.objects.filter(session=session).order_by("attempt").last()
    return list(run.node_names) if run else []
