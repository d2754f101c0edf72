"""
Nodes that are lost, and only then their sessions: declared so by an administrator, or silent longer than a fence.

Silence proves nothing. A person who declares a node lost knows more; a session that its node ends by itself is over
after `LOST_AFTER_S` (RELIABILITY 4.7). Every requeue raises the epoch, so that what a
node says of an old run when it comes back is refused, and the run is killed there.
"""

from __future__ import annotations

import datetime
import logging

from celery import current_app
from django.conf import settings
from django.db import transaction

from scheduler import clock, errors, models
from scheduler.core import entities, states
from scheduler.selectors import nodes
from scheduler.services import actors, audit, checks, endings, listening, locks, orders
from scheduler.services import work as unit

log = logging.getLogger(__name__)
#: Seconds of silence after which sessions that their node ends by itself are counted lost: later than
#: `orders.FENCE_AFTER_S` by more than the longest grace of a fence and any drift.
LOST_AFTER_S = 600
#: Fact about an agent: since when its silence may be counted; a broker that was away starts the count anew.
COUNTED_FACT = "silence_counted_from"


def declare_lost(actor: actors.Actor, node: models.Node, *, reason: str) -> None:
    """
    Declare a silent node lost: its sessions end or wait anew, its slots are free, and it is down until made ready.

    Raises:
        Refusal: no reason, or the node's agent speaks.
        NotAllowed: the actor is no administrator.
    """
    checks.require_administrator(actor, f"declare node {node.name} lost")
    if not reason.strip():
        raise errors.Refusal(code="reason-required", fields={"reason": "write why"})
    if not nodes.is_silent(_fresh(node), seconds=nodes.SUSPECT_AFTER_S):
        text = f"its agent has reported within {nodes.SUSPECT_AFTER_S} s: drain it, or stop its agent first"
        raise errors.Refusal(code="invalid", fields={"state": text})
    _put_down(actor, node, reason.strip())
    lose_sessions_of_nodes_that_are_down()


def _put_down(actor: actors.Actor, node: models.Node, reason: str) -> None:
    with unit.begin(actor) as work:
        row = models.Node.objects.select_for_update(no_key=True).get(pk=node.pk)
        before, row.state = row.state, entities.NodeState.DOWN.value
        row.state_reason = f"declared lost: {reason}"[:500]
        row.save(update_fields=["state", "state_reason"])
        audit.record_change(
            work,
            audit.Subject("node", row.name, row.group),
            before={"state": before},
            after={"state": row.state, "lost": True},
            reason=reason[:500],
        )
        work.tell(
            "node.state_changed", node=row, changed=("state",), state=row.state, reason=row.state_reason
        )
        work.ask_round(row.group_id)


def _fresh(node: models.Node) -> models.Node:
    return models.Node.objects.select_related("agent").get(pk=node.pk)


def lose_sessions_of_nodes_that_are_down() -> None:
    """Count every session lost that a node which was declared lost still holds."""
    held = models.Allocation.objects.filter(node__state=entities.NodeState.DOWN.value)
    for session_id, node_id in list(held.order_by("session_id").values_list("session_id", "node_id")):
        _lose(session_id, node_id, reason="its node was declared lost")


def lose_fenced_sessions() -> None:
    """Count those sessions of a silent node lost that it ends by itself: their start ordered a fence."""
    suspects = models.Node.objects.filter(state=entities.NodeState.SUSPECT.value)
    for node in suspects.select_related("agent").order_by("pk"):
        fenced = _fenced_sessions(node) if nodes.is_silent(node, seconds=orders.FENCE_AFTER_S) else []
        if fenced and _has_counted_long_enough(node):
            for session_id in fenced:
                _lose(session_id, node.pk, reason="its node was silent and ended it")


def _fenced_sessions(node: models.Node) -> list[int]:
    """Return the ids of the sessions there whose last start told the node to end them when it is not heard."""
    starts = models.AgentCommand.objects.filter(
        node=node, kind=models.AgentCommand.Kind.START, session__allocations__node=node
    )
    latest = dict(starts.order_by("pk").values_list("session_id", "body"))
    return sorted(session_id for session_id, body in latest.items() if body.get("fence_ms", 0))


def _has_counted_long_enough(node: models.Node) -> bool:
    """Say whether the silence has lasted; while the broker is away nobody could be heard, and the count starts anew."""
    now = clock.now()
    with transaction.atomic():
        status = models.AgentStatus.objects.select_for_update(no_key=True).get(node=node)
        if not _broker_answers():
            status.facts = {**status.facts, COUNTED_FACT: now.isoformat()}
            status.save(update_fields=["facts"])
            return False
    assert status.last_report_at is not None
    told = status.facts.get(COUNTED_FACT)
    since = (
        max(status.last_report_at, datetime.datetime.fromisoformat(told)) if told else status.last_report_at
    )
    since = listening.since(since)
    return now - since >= datetime.timedelta(seconds=LOST_AFTER_S * settings.TIME_SCALE)


def _broker_answers() -> bool:
    try:
        with current_app.connection_for_write() as connection:
            connection.ensure_connection(max_retries=0, timeout=2)
    except Exception as error:  # noqa: BLE001 - whatever a broker client raises: it does not answer
        log.warning("the broker does not answer, the silence of nodes is not counted: %s", error)
        return False
    return True


def _lose(session_id: int, node_id: int, *, reason: str) -> None:
    with unit.begin(actors.SYSTEM) as work:
        session = locks.session(session_id)
        allocation = session.allocations.select_related("node").filter(node_id=node_id).first()
        if allocation is not None and session.state in states.LIVE and node_id not in session.ended_nodes:
            endings.lost(work, session, allocation.node, reason=reason)
