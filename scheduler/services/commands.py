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
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from celery import current_app
from django.conf import settings
from django.db import transaction

from scheduler import clock, ids, logs, models, points
from scheduler.core import entities
from scheduler.protocol import codec, errors, fields, messages, signing
from scheduler.services import bulk, sayable
from scheduler.services import work as unit

log = logging.getLogger(__name__)

#: The controller's half of the order of commands; the sequence is the outbox row's number.
BOOT = "controller"
FIRST_RETRY_S = 2
LAST_RETRY_S = 30
#: Where nobody listens the broker would only fill: an agent that comes back greets, and is sent all that is open.
SILENT_RETRY_S = 600
_HEARD = (entities.NodeState.READY, entities.NodeState.DRAINING)
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

    Raises:
        ProtocolError: it cannot be said.
    """
    open_rows = models.AgentCommand.objects.filter(session=session, node_id=node_id, settled_at=None)
    open_rows.update(settled_at=work.now, settled_how=SUPERSEDED)
    row = models.AgentCommand.objects.create(
        command_id=uuid.UUID(message.command_id),
        node_id=node_id,
        session=session,
        epoch=message.epoch,
        kind=message.TYPE,
        body=sayable.encode(message),
        decision=decision,
        created_at=work.now,
        deadline=session.state_deadline,
        send_again_at=work.now,
    )
    work.command_ids.append(row.pk)
    points.reach("order.written")
    return row


def order_all(work: unit.Work, given: Sequence[tuple[models.Session, int, messages.Command]]) -> None:
    """Put many commands, each for a session and the id of a node, into the outbox at once; see ``order``."""
    pairs = [(session.pk, node_id) for session, node_id, _ in given]
    bulk.run(_SUPERSEDE, work.now, SUPERSEDED, *bulk.columns_of(pairs, 2))
    bulk.insert(
        models.AgentCommand,
        _COLUMNS,
        (
            (
                message.command_id,
                node_id,
                session.pk,
                message.epoch,
                message.TYPE,
                sayable.encode(message),
                work.now,
                session.state_deadline,
                work.now,
                0,
                "",
            )
            for session, node_id, message in given
        ),
    )
    ids = [uuid.UUID(message.command_id) for _, _, message in given]
    rows = models.AgentCommand.objects.filter(session__among=[pk for pk, _ in pairs], settled_at=None)
    numbers = dict(rows.values_list("command_id", "pk"))
    work.command_ids += [numbers[one] for one in ids]
    points.reach("order.written")


_COLUMNS = (
    "command_id",
    "node_id",
    "session_id",
    "epoch",
    "kind",
    "body",
    "created_at",
    "deadline",
    "send_again_at",
    "times_sent",
    "settled_how",
)
_SUPERSEDE = """
UPDATE scheduler_agentcommand AS row SET settled_at = %s, settled_how = %s
FROM unnest(%s::bigint[], %s::bigint[]) AS newer (session_id, node_id)
WHERE row.session_id = newer.session_id AND row.node_id = newer.node_id AND row.settled_at IS NULL
"""


def new_command_id() -> str:
    """Return an id for a command that is about to be made."""
    return str(ids.new_id())


def send_soon(node: models.Node, *, now: datetime.datetime) -> list[int]:
    """Let all that is open for a node be due now, since its agent has spoken; returns the outbox rows."""
    open_rows = models.AgentCommand.objects.filter(node=node, settled_at=None)
    open_rows.update(send_again_at=now)
    return list(open_rows.order_by("pk").values_list("pk", flat=True))


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
    rows = models.AgentCommand.objects.filter(pk__among=command_ids, settled_at=None).order_by("pk")
    waiting = list(rows.values_list("pk", "node_id", "body", "times_sent", "node__state"))
    peers = find_peers({node_id for _, node_id, *_ in waiting})
    tried: list[tuple[int, int, str]] = []
    try:
        for pk, node_id, body, times_sent, state in waiting:
            if node_id in peers:
                _send_one(pk, body, peers[node_id])
                _tell(body, peers[node_id])
                points.reach("order.sent")
            tried.append((pk, times_sent, state))
    finally:
        _mark_sent(tried)
    points.reach("order.marked")


def _send_one(pk: int, body: dict[str, Any], peer: Peer) -> None:
    """Send one command; one that cannot be said to this agent keeps no other back."""
    try:
        _publish(codec.decode(body), peer, seq=pk)
    except errors.ProtocolError as error:
        log.warning("command %s cannot be said to the agent of node %s: %s", pk, peer.key.node, error)


def _tell(body: dict[str, Any], peer: Peer) -> None:
    ids = logs.about(session=body.get("session"), command=body.get("command_id"))
    log.info("sends %s to %s", body.get("type"), peer.key.node, extra=ids)


def _mark_sent(tried: Iterable[tuple[int, int, str]]) -> None:
    """Write when each command was sent, and after a pause that grows with the times, when it is sent again."""
    moment = clock.now()
    again = [
        (pk, moment + datetime.timedelta(seconds=_pause_s(times, state) * settings.TIME_SCALE))
        for pk, times, state in tried
    ]
    if again:
        bulk.run(_SENT, moment, *bulk.columns_of(again, 2))


def _pause_s(times_sent: int, node_state: str) -> int:
    longest_s = LAST_RETRY_S if node_state in _HEARD else SILENT_RETRY_S
    return min(FIRST_RETRY_S * 2 ** min(times_sent, 16), longest_s)


_SENT = """
UPDATE scheduler_agentcommand AS row
SET sent_at = %s, send_again_at = sent.again, times_sent = row.times_sent + 1
FROM unnest(%s::bigint[], %s::timestamptz[]) AS sent (id, again) WHERE row.id = sent.id
"""


def find_peer(node_id: int) -> Peer | None:
    """Return how to speak to a node's agent; None when the node has no key that is not revoked."""
    return find_peers([node_id]).get(node_id)


def find_peers(node_ids: Collection[int]) -> dict[int, Peer]:
    """
    Return node id -> how to speak to its agent, for those nodes that have a key that is not revoked. Two queries.

    The key is the one that the agent last spoke with, so that a new key may be made before the agent has it; without
    such, the newest.
    """
    rows = models.AgentKey.objects.filter(node__among=node_ids, revoked_at=None).order_by("pk")
    keys: dict[int, dict[str, signing.NodeKey]] = {}
    for node_id, key_id, name, secret in rows.values_list("node_id", "key_id", "node__name", "secret"):
        keys.setdefault(node_id, {})[key_id] = signing.NodeKey(key_id, name, bytes(secret))
    heard = models.AgentStatus.objects.filter(node__among=node_ids).values_list("node_id", "facts")
    facts = {node_id: said or {} for node_id, said in heard}
    return {node_id: _peer(known, facts.get(node_id, {})) for node_id, known in keys.items()}


def _peer(keys: dict[str, signing.NodeKey], facts: dict[str, Any]) -> Peer:
    key = keys.get(facts.get(KEY_FACT, "")) or list(keys.values())[-1]
    return Peer(key, min(messages.VERSION, facts.get(PROTOCOL_FACT, messages.FIRST)))


def _publish(message: messages.Message, peer: Peer, *, seq: int) -> None:
    if clock.is_virtual():
        return  # agents of a simulation read the outbox
    text = signing.seal(message, key=peer.key, boot=BOOT, seq=seq, version=peer.version)
    queue = f"node.{peer.key.node}"
    current_app.send_task("xce.command", args=[text], queue=queue, expires=messages.PASSING_S)


def acknowledge(node: models.Node, heard: Sequence[tuple[str, int]]) -> None:
    """
    Tell an agent that reports are applied, or refused for good. Sent directly: a lost one is asked for again.

    Args:
        heard: boot id and sequence of each.
    """
    peer = find_peer(node.pk)
    if peer is not None:
        _publish(messages.AckCommand(reports=tuple(heard)), peer, seq=0)


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
