"""
The outbox of commands: written with the decision that needs them, sent after commit, sent again until settled.

One open command per (session, node): a newer one supersedes the older. Whether a command was delivered is never
known from sending; only a report settles it (P02, P03).
"""

from __future__ import annotations

import dataclasses
import datetime
import logging
import uuid

from celery import current_app
from django.conf import settings
from django.db import transaction
from django.db.models import F

from scheduler import clock, ids, models
from scheduler.protocol import codec, errors, fields, messages, signing
from scheduler.services import work as unit

log = logging.getLogger(__name__)

#: The controller's half of the order of commands; the sequence is the outbox row's number.
BOOT = "controller"
FIRST_RETRY_S = 2
LAST_RETRY_S = 30
#: How a command is settled that a newer one replaced: its answer, should it come, is still evidence.
SUPERSEDED = "superseded"
#: What is kept in the facts of an agent: the key that it last signed with, and the version that it speaks.
KEY_FACT, PROTOCOL_FACT = "key", "protocol"


@dataclasses.dataclass(frozen=True)
class Peer:
    """How to speak to the agent of a node: the key that it knows, in the version that both speak."""

    key: signing.NodeKey
    version: int


def order(
    work: unit.Work,
    session: models.Session,
    node_id: int,
    message: messages.Command,
    *,
    decision: models.Decision | None = None,
) -> models.AgentCommand:
    """
    Put a command into the outbox, superseding an open one for the same session and node.

    Its deadline is that of the session's state.
    """
    open_rows = models.AgentCommand.objects.filter(session=session, node_id=node_id, settled_at=None)
    open_rows.update(settled_at=work.now, settled_how=SUPERSEDED)
    row = models.AgentCommand.objects.create(
        command_id=uuid.UUID(message.command_id),
        node_id=node_id,
        session=session,
        epoch=message.epoch,
        kind=message.TYPE,
        body=codec.encode(message),
        decision=decision,
        created_at=work.now,
        deadline=session.state_deadline,
        send_again_at=work.now,
    )
    work.command_ids.append(row.pk)
    return row


def new_command_id() -> str:
    """Return an id for a command that is about to be made."""
    return str(ids.new_id())


def settle(session: models.Session, command_id: str, how: str, *, now: datetime.datetime) -> None:
    """Settle the command that a report answers; a command that is settled already stays as it is."""
    if command_id:
        rows = models.AgentCommand.objects.filter(session=session, command_id=command_id, settled_at=None)
        rows.update(settled_at=now, settled_how=how)


def settle_all(session: models.Session, how: str, *, now: datetime.datetime) -> None:
    """Settle whatever is open for a session whose processes are proven gone."""
    models.AgentCommand.objects.filter(session=session, settled_at=None).update(
        settled_at=now, settled_how=how
    )


def send(command_ids: list[int]) -> None:
    """Send open commands to their nodes. Raises what the broker's client raises; the reconciler tries again."""
    rows = models.AgentCommand.objects.filter(pk__in=command_ids, settled_at=None).select_related("node")
    for row in rows.order_by("pk"):
        peer = find_peer(row.node_id)
        if peer is not None:
            _send_one(row, peer)
        _mark_sent(row)


def _send_one(row: models.AgentCommand, peer: Peer) -> None:
    try:
        _publish(codec.decode(row.body), peer, seq=row.pk)
    except errors.ProtocolError as error:
        if error.code != "needs-version":
            raise
        log.warning("command %s waits for a newer agent on node %s: %s", row.pk, row.node.name, error)


def _mark_sent(row: models.AgentCommand) -> None:
    wait_s = min(FIRST_RETRY_S * 2 ** min(row.times_sent, 8), LAST_RETRY_S) * settings.TIME_SCALE
    moment = clock.now()
    models.AgentCommand.objects.filter(pk=row.pk).update(
        sent_at=moment,
        send_again_at=moment + datetime.timedelta(seconds=wait_s),
        times_sent=F("times_sent") + 1,
    )


def find_peer(node_id: int) -> Peer | None:
    """
    Return how to speak to a node's agent; None when the node has no key that is not revoked.

    The key is the one that the agent last spoke with, so that a new key may be made before the agent has it; without
    such, the newest.
    """
    rows = models.AgentKey.objects.filter(node_id=node_id, revoked_at=None).select_related("node")
    keys = {row.key_id: row for row in rows.order_by("pk")}
    if not keys:
        return None
    facts = models.AgentStatus.objects.filter(node_id=node_id).values_list("facts", flat=True).first() or {}
    row = keys.get(facts.get(KEY_FACT, "")) or list(keys.values())[-1]
    key = signing.NodeKey(row.key_id, row.node.name, bytes(row.secret))
    return Peer(key, min(messages.VERSION, facts.get(PROTOCOL_FACT, messages.FIRST)))


def _publish(message: messages.Message, peer: Peer, *, seq: int) -> None:
    if clock.is_virtual():
        return  # agents of a simulation read the outbox
    text = signing.seal(message, key=peer.key, boot=BOOT, seq=seq, version=peer.version)
    queue = f"node.{peer.key.node}"
    current_app.send_task("xce.command", args=[text], queue=queue, expires=messages.PASSING_S)


def acknowledge(node: models.Node, *, boot: str, seq: int) -> None:
    """Tell an agent that one report is applied, or refused for good. Sent directly: a lost one is asked for again."""
    peer = find_peer(node.pk)
    if peer is not None:
        _publish(messages.AckCommand(reports=((boot, seq),)), peer, seq=0)


def send_due(now: datetime.datetime, *, limit: int = 500) -> int:
    """Send again what is open and due. Returns how many were tried."""
    with transaction.atomic():
        due = models.AgentCommand.objects.filter(settled_at=None, send_again_at__lte=now)
        row_ids = list(
            due.select_for_update(skip_locked=True)
            .order_by("send_again_at")
            .values_list("pk", flat=True)[:limit]
        )
    send(row_ids)
    return len(row_ids)


def send_directly(node: models.Node, message: messages.Command) -> None:
    """Send a command that is not kept and never sent again by itself. Raises what the broker's client raises."""
    peer = find_peer(node.pk)
    if peer is not None:
        _publish(message, peer, seq=0)


def send_stale_kill(node: models.Node, *, session: str, epoch: int) -> None:
    """Order the end of a run that the controller no longer holds there. Not kept: it is seen again."""
    message = messages.KillCommand(
        command_id=new_command_id(), session=session, epoch=epoch, cause=fields.KillCause.STALE, grace_ms=0
    )
    send_directly(node, message)
