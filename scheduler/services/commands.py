"""
The outbox of commands: written with the decision that needs them, sent after commit, sent again until settled.

One open command per (session, node): a newer one supersedes the older. Whether a command was delivered is never
known from sending; only a report settles it (P02, P03).
"""

from __future__ import annotations

import datetime
import uuid

from celery import current_app
from django.conf import settings
from django.db import transaction
from django.db.models import F

from scheduler import clock, ids, models
from scheduler.protocol import codec, fields, messages, signing
from scheduler.services import work as unit

#: The controller's half of the order of commands; the sequence is the outbox row's number.
BOOT = "controller"
FIRST_RETRY_S = 2
LAST_RETRY_S = 30
#: How a command is settled that a newer one replaced: its answer, should it come, is still evidence.
SUPERSEDED = "superseded"


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
        key = current_key(row.node_id)
        if key is not None:
            _publish(row.node.name, codec.decode(row.body), key=key, seq=row.pk)
        _mark_sent(row)


def _mark_sent(row: models.AgentCommand) -> None:
    wait_s = min(FIRST_RETRY_S * 2 ** min(row.times_sent, 8), LAST_RETRY_S) * settings.TIME_SCALE
    moment = clock.now()
    models.AgentCommand.objects.filter(pk=row.pk).update(
        sent_at=moment,
        send_again_at=moment + datetime.timedelta(seconds=wait_s),
        times_sent=F("times_sent") + 1,
    )


def current_key(node_id: int) -> signing.NodeKey | None:
    """Return the node's newest key that is not revoked, None when it has none."""
    row = models.AgentKey.objects.filter(node_id=node_id, revoked_at=None).select_related("node").last()
    return signing.NodeKey(row.key_id, row.node.name, bytes(row.secret)) if row else None


def _publish(node_name: str, message: messages.Message, *, key: signing.NodeKey, seq: int) -> None:
    if clock.is_virtual():
        return  # agents of a simulation read the outbox
    text = signing.seal(message, key=key, direction="down", boot=BOOT, seq=seq)
    current_app.send_task("xce.command", args=[text], queue=f"node.{node_name}", expires=300)


def acknowledge(node: models.Node, *, boot: str, seq: int) -> None:
    """Tell an agent that one report is applied, or refused for good. Sent directly: a lost one is asked for again."""
    key = current_key(node.pk)
    if key is not None:
        _publish(node.name, messages.AckCommand(reports=((boot, seq),)), key=key, seq=0)


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


def send_stale_kill(node: models.Node, *, session: str, epoch: int) -> None:
    """Order the end of a run that the controller no longer holds there. Sent directly, not kept: it is seen again."""
    key = current_key(node.pk)
    if key is None:
        return
    message = messages.KillCommand(
        command_id=new_command_id(), session=session, epoch=epoch, cause=fields.KillCause.STALE, grace_ms=0
    )
    _publish(node.name, message, key=key, seq=0)
