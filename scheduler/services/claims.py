"""
Claims: the nodes that a round keeps for a session that has waited too long (DESIGN 4).

A claim draws nothing: it counts in rounds alone. It is made and moved by a round's decision and lasts until its session
starts, ends, is held or edited, or until the group keeps no claims any more. Every function expects the session to be
locked.
"""

from __future__ import annotations

from scheduler import models
from scheduler.core import entities
from scheduler.services import work as unit


def write(work: unit.Work, session: models.Session, claim: entities.Claim) -> None:
    """Make the claim of a session, or move it to other nodes."""
    row, is_new = models.Claim.objects.get_or_create(session=session, defaults={"since": work.now})
    row.nodes.set(claim.node_ids)
    names = list(
        models.Node.objects.filter(pk__in=claim.node_ids).order_by("name").values_list("name", flat=True)
    )
    work.tell("session.claims", session=session, nodes=names, moved=not is_new)


def end(work: unit.Work, session: models.Session, *, cause: str) -> None:
    """End the claim of a session that was held or edited, if it has one."""
    if forget(session):
        work.tell("session.claim_ended", session=session, cause=cause)


def forget(session: models.Session) -> bool:
    """Delete the claim of a session that starts or ends, which tells enough. Returns whether there was one."""
    return models.Claim.objects.filter(session=session).delete()[0] > 0


def end_all(work: unit.Work, group: models.ResourceGroup) -> None:
    """End every claim of a group that keeps none any more."""
    rows = models.Claim.objects.filter(session__group=group).select_related("session").order_by("session_id")
    for row in rows:
        end(work, row.session, cause="the group keeps no room for those who wait long")
