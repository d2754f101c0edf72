"""Add nodes, give them keys, drain them. Each change is audited (P05)."""

from __future__ import annotations

import os
import secrets
from typing import Any

from scheduler import errors, models
from scheduler.core import entities
from scheduler.selectors import permissions
from scheduler.services import actors, audit, checks
from scheduler.services import work as unit


def create_node(
    actor: actors.Actor,
    name: str,
    group: models.ResourceGroup,
    *,
    capacity: dict[str, int],
    **columns: Any,
) -> models.Node:
    """
    Add a node to a group.

    Args:
        capacity: declared kind -> amount in its smallest unit; an indexed kind gets devices 0 to amount - 1.
        columns: further fields of the node: ``labels``, ``max_sessions``.
    """
    checks.require_administrator(actor, "add a node")
    kinds = {row.name: row for row in models.SlotKind.objects.all()}
    unknown = sorted(set(capacity) - set(kinds))
    if unknown:
        raise errors.Refusal(code="unknown-kind", fields={"capacity": f"declare first: {', '.join(unknown)}"})
    with unit.begin(actor) as work:
        node = checks.checked(models.Node(name=name, group=group, **columns))
        node.save()
        models.NodeSlot.objects.bulk_create(
            [
                models.NodeSlot(node=node, kind=kind, capacity=amount)
                for kind, amount in sorted(capacity.items())
            ]
        )
        models.NodeDevice.objects.bulk_create(
            [
                models.NodeDevice(node=node, kind=kind, index=index)
                for kind, amount in sorted(capacity.items())
                if kinds[kind].is_indexed
                for index in range(amount)
            ]
        )
        audit.record_change(work, audit.Subject("node", name), before={}, after={"capacity": capacity})
        work.tell("node.added", node=node)
        work.ask_round(group.pk)
    return node


def enroll_node(actor: actors.Actor, node: models.Node) -> tuple[str, str]:
    """
    Give a node a new signing key.

    Returns:
        The key's id and its secret in hex; the secret is shown this once. Older keys stay valid until revoked.
    """
    checks.require_administrator(actor, "enrol a node")
    secret = os.urandom(32)
    key_id = f"k{secrets.token_hex(8)}"
    with unit.begin(actor) as work:
        models.AgentKey.objects.create(key_id=key_id, node=node, secret=secret)
        audit.record_change(work, audit.Subject("node key", node.name), before={}, after={"key": key_id})
        work.tell("node.enrolled", node=node)
    return key_id, secret.hex()


def revoke_key(actor: actors.Actor, node: models.Node, key_id: str, *, reason: str = "") -> None:
    """
    Let a key of a node open nothing any more, from the next report and the next command on.

    Raises:
        Refusal: ``unknown-key``: the node has no such key, or it is revoked already.
    """
    checks.require_administrator(actor, "revoke a key")
    with unit.begin(actor) as work:
        rows = models.AgentKey.objects.filter(node=node, key_id=key_id, revoked_at=None)
        if not rows.update(revoked_at=work.now):
            raise errors.Refusal(code="unknown-key", fields={"key": f"{node.name} has no valid key {key_id}"})
        subject = audit.Subject("node key", node.name)
        audit.record_change(work, subject, before={"key": key_id}, after={}, reason=reason)
        work.tell("node.key_revoked", node=node)


def set_node_state(actor: actors.Actor, node: models.Node, *, state: str, reason: str) -> None:
    """Drain a node or make it ready again; a drained node starts nothing new, and its sessions go on."""
    if actor.user is not None:
        permissions.require(permissions.can_act_on_nodes(actor.user, node.group), f"change node {node.name}")
    if state not in (entities.NodeState.READY, entities.NodeState.DRAINING):
        raise errors.Refusal(code="invalid", fields={"state": "a person sets ready or draining"})
    if not reason.strip():
        raise errors.Refusal(code="reason-required", fields={"reason": "write why"})
    with unit.begin(actor) as work:
        row = models.Node.objects.select_for_update(no_key=True).get(pk=node.pk)
        before, row.state, row.state_reason = row.state, state, reason.strip()[:500]
        row.save(update_fields=["state", "state_reason"])
        audit.record_change(
            work,
            audit.Subject("node", row.name, row.group),
            before={"state": before},
            after={"state": state},
            reason=row.state_reason,
        )
        work.tell("node.state_changed", node=row, changed=("state",), state=state, reason=row.state_reason)
        work.ask_round(row.group_id)
