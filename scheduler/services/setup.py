"""
Set up an installation: groups, queues, nodes, keys, people, kinds.

Each creation and change is audited with its reason (P05); a queue's change is XCE's ``QUEUE_UPDATE``: effective at the
next round, refused with a clear message when a named queue or plug-in does not exist.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable
from typing import Any

from django.contrib.auth.models import Group as Team
from django.core import exceptions
from django.db import IntegrityError

from scheduler import errors, models
from scheduler.core import entities
from scheduler.core.preemption import shipped
from scheduler.selectors import permissions
from scheduler.services import actors, audit, policies
from scheduler.services import work as unit

_QUEUE_FIELDS = (
    "description",
    "default_priority",
    "max_priority",
    "preemptible",
    "preempt_policy",
    "preemption_mode",
    "state",
    "max_concurrent_sessions",
    "max_slots",
)


def _require_administrator(actor: actors.Actor, what: str) -> None:
    if actor.user is not None:
        permissions.require(permissions.is_administrator(actor.user), what)


def _checked(row: Any, *, exclude: set[str] | None = None) -> Any:
    try:
        row.full_clean(exclude=exclude, validate_unique=True, validate_constraints=True)
    except exceptions.ValidationError as error:
        fields = {name: " ".join(texts) for name, texts in error.message_dict.items()}
        raise errors.Refusal(code="invalid", fields=fields) from None
    return row


def create_group(
    actor: actors.Actor,
    slug: str,
    *,
    description: str = "",
    policy: dict[str, Any] | None = None,
    reason: str = "created",
) -> models.ResourceGroup:
    """Create a resource group with version 1 of its rules; preemption is off unless ``policy`` says otherwise."""
    _require_administrator(actor, "create a resource group")
    with unit.begin(actor) as work:
        group = _checked(models.ResourceGroup(slug=slug, description=description), exclude={"policy"})
        group.save()
        blank = models.PolicyVersion(group=group, version=0)
        row = policies.draft(blank, policy or {})
        row.reason, row.created_at = reason, work.now
        row.created_by, row.created_by_name = actor.user, actor.name
        row.save()
        group.policy = row
        group.save(update_fields=["policy"])
        models.GroupRounds.objects.create(group=group)
        after = {"slug": slug, **(policy or {})}
        audit.record_change(
            work,
            object_type="resource group",
            object_name=slug,
            before={},
            after=after,
            reason=reason,
            group=group,
        )
        work.tell("group.created", group_id=group.pk)
    return group


def create_queue(
    actor: actors.Actor,
    slug: str,
    *,
    groups: Iterable[models.ResourceGroup],
    preemptible_queues: Iterable[str] = (),
    reason: str = "created",
    **columns: Any,
) -> models.Queue:
    """Create a queue that serves ``groups``; ``columns`` are the queue's own fields."""
    _require_administrator(actor, "create a queue")
    with unit.begin(actor) as work:
        queue = models.Queue(slug=slug, changed_at=work.now, changed_by_name=actor.name, **columns)
        _check_queue(queue)
        queue.save()
        queue.groups.set(groups)
        queue.preemptible_queues.set(_queues(queue, preemptible_queues))
        after = {name: getattr(queue, name) for name in _QUEUE_FIELDS}
        after["preemptible_queues"] = sorted(preemptible_queues)
        audit.record_change(
            work, object_type="queue", object_name=slug, before={}, after=after, reason=reason
        )
        _tell_groups(work, queue)
    return queue


def change_queue(
    actor: actors.Actor,
    queue: models.Queue,
    *,
    changes: dict[str, Any],
    reason: str,
    preemptible_queues: Iterable[str] | None = None,
) -> models.Queue:
    """Change a queue's rules (XCE's QUEUE_UPDATE); all of it is refused when one part cannot be."""
    _require_administrator(actor, "change a queue")
    with unit.begin(actor) as work:
        row = models.Queue.objects.select_for_update().get(pk=queue.pk)
        unknown = sorted(set(changes) - set(_QUEUE_FIELDS))
        if unknown:
            raise errors.Refusal(code="invalid", fields=dict.fromkeys(unknown, "there is no such field"))
        before = {name: getattr(row, name) for name in changes}
        after = dict(changes)
        for name, value in changes.items():
            setattr(row, name, value)
        if preemptible_queues is not None:
            before["preemptible_queues"] = sorted(row.preemptible_queues.values_list("slug", flat=True))
            after["preemptible_queues"] = sorted(preemptible_queues)
            row.preemptible_queues.set(_queues(row, preemptible_queues))
        row.version += 1
        row.changed_at, row.changed_by_name = work.now, actor.name
        _check_queue(row)
        row.save()
        audit.record_change(
            work, object_type="queue", object_name=row.slug, before=before, after=after, reason=reason
        )
        _tell_groups(work, row)
    return row


def _check_queue(queue: models.Queue) -> None:
    _checked(queue)
    name = queue.preempt_policy
    if name and name not in shipped.FOR_QUEUES:
        known = ", ".join(sorted(shipped.FOR_QUEUES))
        text = f"there is no policy {name!r} for queues; there are: {known}"
        raise errors.Refusal(code="unknown-policy", fields={"preempt_policy": text})


def _queues(queue: models.Queue, slugs: Iterable[str]) -> list[models.Queue]:
    wanted = set(slugs)
    if queue.slug in wanted:
        text = f"{queue.slug} cannot preempt from itself"
        raise errors.Refusal(code="invalid", fields={"preemptible_queues": text})
    rows = list(models.Queue.objects.filter(slug__in=wanted))
    missing = sorted(wanted - {row.slug for row in rows})
    if missing:
        text = f"there is no queue {', '.join(missing)}"
        raise errors.Refusal(code="unknown-queue", fields={"preemptible_queues": text})
    return rows


def _tell_groups(work: unit.Work, queue: models.Queue) -> None:
    for group_id in queue.groups.values_list("pk", flat=True):
        work.tell("queue.changed", group_id=group_id, queue=queue.slug)
        work.ask_round(group_id)


def create_slot_kind(
    actor: actors.Actor,
    name: str,
    *,
    scale: int = 1,
    is_bytes: bool = False,
    is_indexed: bool = False,
    unit_name: str = "",
) -> models.SlotKind:
    """Declare a kind of slot, or return it when it is declared so already."""
    _require_administrator(actor, "declare a slot kind")
    values = {"scale": scale, "is_bytes": is_bytes, "is_indexed": is_indexed, "unit": unit_name}
    known = models.SlotKind.objects.filter(name=name).first()
    if known is not None:
        return known
    with unit.begin(actor) as work:
        row = _checked(models.SlotKind(name=name, **values))
        row.save()
        audit.record_change(work, object_type="slot kind", object_name=name, before={}, after=values)
    return row


def create_node(
    actor: actors.Actor,
    name: str,
    group: models.ResourceGroup,
    *,
    capacity: dict[str, int],
    labels: dict[str, str] | None = None,
    max_sessions: int | None = None,
) -> models.Node:
    """
    Add a node to a group.

    Args:
        capacity: declared kind -> amount in its smallest unit; an indexed kind gets devices 0 to amount - 1.
    """
    _require_administrator(actor, "add a node")
    kinds = {row.name: row for row in models.SlotKind.objects.all()}
    unknown = sorted(set(capacity) - set(kinds))
    if unknown:
        raise errors.Refusal(code="unknown-kind", fields={"capacity": f"declare first: {', '.join(unknown)}"})
    with unit.begin(actor) as work:
        node = _checked(models.Node(name=name, group=group, labels=labels or {}, max_sessions=max_sessions))
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
        audit.record_change(
            work, object_type="node", object_name=name, before={}, after={"capacity": capacity}
        )
        work.tell("node.added", node=node)
        work.ask_round(group.pk)
    return node


def enroll_node(actor: actors.Actor, node: models.Node) -> tuple[str, str]:
    """
    Give a node a new signing key.

    Returns:
        The key's id and its secret in hex; the secret is shown this once. Older keys stay valid until revoked.
    """
    _require_administrator(actor, "enrol a node")
    secret = os.urandom(32)
    key_id = f"k{secrets.token_hex(8)}"
    with unit.begin(actor) as work:
        models.AgentKey.objects.create(key_id=key_id, node=node, secret=secret)
        audit.record_change(
            work, object_type="node key", object_name=node.name, before={}, after={"key": key_id}
        )
        work.tell("node.enrolled", node=node)
    return key_id, secret.hex()


def set_node_state(actor: actors.Actor, node: models.Node, *, state: str, reason: str) -> None:
    """Drain a node or make it ready again; a drained node starts nothing new, and its sessions go on."""
    if actor.user is not None:
        permissions.require(permissions.can_act_on_nodes(actor.user, node.group), f"change node {node.name}")
    if state not in (entities.NodeState.READY, entities.NodeState.DRAINING):
        raise errors.Refusal(code="invalid", fields={"state": "a person sets ready or draining"})
    if not reason.strip():
        raise errors.Refusal(code="reason-required", fields={"reason": "write why"})
    with unit.begin(actor) as work:
        row = models.Node.objects.select_for_update().get(pk=node.pk)
        before, row.state, row.state_reason = row.state, state, reason.strip()[:500]
        row.save(update_fields=["state", "state_reason"])
        audit.record_change(
            work,
            object_type="node",
            object_name=row.name,
            before={"state": before},
            after={"state": state},
            reason=row.state_reason,
            group=row.group,
        )
        work.tell("node.state_changed", node=row, changed=("state",), state=state, reason=row.state_reason)
        work.ask_round(row.group_id)


def create_resource_policy(actor: actors.Actor, name: str, **columns: Any) -> models.KeypairResourcePolicy:
    """Create a policy of what its people and keypairs may ask for."""
    _require_administrator(actor, "create a resource policy")
    with unit.begin(actor) as work:
        row = _checked(models.KeypairResourcePolicy(name=name, **columns))
        row.save()
        audit.record_change(
            work,
            object_type="keypair resource policy",
            object_name=name,
            before={},
            after={"name": name, **columns},
        )
    return row


def create_user(
    actor: actors.Actor,
    username: str,
    *,
    password: str,
    policy: models.KeypairResourcePolicy | None = None,
    is_administrator: bool = False,
) -> models.User:
    """Create a person who can log in."""
    _require_administrator(actor, "create a person")
    with unit.begin(actor) as work:
        try:
            user = models.User.objects.create_user(
                username,
                password=password,
                policy=policy,
                is_staff=is_administrator,
                is_superuser=is_administrator,
            )
        except IntegrityError:
            text = f"there is a person {username!r} already"
            raise errors.Refusal(code="exists", fields={"username": text}) from None
        after = {"policy": policy.name if policy else None, "is_administrator": is_administrator}
        audit.record_change(work, object_type="person", object_name=username, before={}, after=after)
    return user


def set_role(
    actor: actors.Actor,
    group: models.ResourceGroup,
    role: str,
    *,
    user: models.User | None = None,
    team: Team | None = None,
) -> models.GroupRole:
    """Give a person or a team a role in a group, in place of the one they had there."""
    if actor.user is not None:
        permissions.require(permissions.can_change_policy(actor.user, group), f"give roles in {group.slug}")
    if (user is None) == (team is None) or role not in models.GroupRole.Role.values:
        raise errors.Refusal(code="invalid", fields={"role": "name a person or a team, and a role"})
    who = user.get_username() if user else f"team {team}"
    with unit.begin(actor) as work:
        row = models.GroupRole.objects.filter(group=group, user=user, team=team).first()
        before = {"role": row.role} if row else {}
        row = row or models.GroupRole(group=group, user=user, team=team)
        row.role = role
        row.save()
        audit.record_change(
            work,
            object_type="role",
            object_name=f"{who} in {group.slug}",
            before=before,
            after={"role": role},
            group=group,
        )
    return row
