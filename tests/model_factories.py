"""
Django rows with sensible defaults, written straight to the tables: people to sessions and events.

What is made is consistent: a session that holds slots has its allocation, devices and ledgers counted, so
that the invariants hold from the first row on. Everything has a default; say only what the test is about.
Amounts are in the smallest unit (milli-cores, bytes, devices); times are aware.
``decision_factories`` makes decisions and reasons.
"""

from __future__ import annotations

import datetime
import itertools
from collections.abc import Iterable, Mapping
from typing import Any

from django.contrib.auth import hashers
from django.db.models import F
from django.utils import timezone

from scheduler import models
from scheduler.core import states

GIB = 1 << 30
PASSWORD = "correct horse battery"
SMALL = {"cpu": 1_000, "mem": GIB}
ONE_GPU = {"cpu": 2_000, "mem": 4 * GIB, "cuda.device": 1}

_numbers = itertools.count(1)
_S = states.SessionState


def ago(seconds: float) -> datetime.datetime:
    """Return the time so many seconds before now."""
    return timezone.now() - datetime.timedelta(seconds=seconds)


# People


def a_resource_policy(name: str = "", **fields: Any) -> models.KeypairResourcePolicy:
    """Make a keypair resource policy; without a name, one of its own."""
    return models.KeypairResourcePolicy.objects.create(name=name or f"policy-{next(_numbers)}", **fields)


def a_user(
    username: str = "",
    *,
    role: str = "",
    group: models.ResourceGroup | None = None,
    is_administrator: bool = False,
    policy: models.KeypairResourcePolicy | None = None,
) -> models.User:
    """Make a person with the password ``PASSWORD`` and, when ``role`` is given, that role in ``group``."""
    user = models.User.objects.create(
        username=username or f"user-{next(_numbers)}",
        password=hashers.make_password(PASSWORD),
        is_superuser=is_administrator,
        is_staff=is_administrator,
        policy=policy or models.KeypairResourcePolicy.objects.get(name="default"),
    )
    if role:
        a_role(user, group, role)
    return user


def an_administrator(username: str = "") -> models.User:
    """Make an administrator."""
    return a_user(username, is_administrator=True)


def a_role(user: models.User, group: models.ResourceGroup | None, role: str) -> models.GroupRole:
    """Give a person a role in a group."""
    return models.GroupRole.objects.create(user=user, group=group, role=role)


# Groups, queues, nodes


def a_group(slug: str = "", *, reason: str = "created", **rules: Any) -> models.ResourceGroup:
    """Make a resource group with version 1 of its policy; ``rules`` are fields of ``PolicyVersion``."""
    group = models.ResourceGroup.objects.create(slug=slug or f"group-{next(_numbers)}")
    models.GroupRounds.objects.create(group=group)
    a_policy_version(group, reason=reason, **rules)
    return group


def a_policy_version(
    group: models.ResourceGroup, *, by: models.User | None = None, reason: str = "as asked", **rules: Any
) -> models.PolicyVersion:
    """Make the next version of a group's rules and put it in force; what is not given stays as it was."""
    before = group.policy
    kept = {name: getattr(before, name) for name in models.PolicyVersion.RULES} if before else {}
    group.policy = models.PolicyVersion.objects.create(
        group=group,
        version=before.version + 1 if before else 1,
        reason=reason,
        created_by=by,
        created_by_name=by.username if by else "system",
        created_at=timezone.now(),
        **{**kept, **rules},
    )
    group.save(update_fields=["policy"])
    return group.policy


def a_queue(
    slug: str = "",
    *,
    groups: Iterable[models.ResourceGroup] = (),
    preempts: Iterable[models.Queue] = (),
    **fields: Any,
) -> models.Queue:
    """Make a queue that serves ``groups`` and may preempt from ``preempts``."""
    queue = models.Queue.objects.create(slug=slug or f"queue-{next(_numbers)}", **fields)
    queue.groups.set(groups)
    queue.preemptible_queues.set(preempts)
    return queue


def a_node(
    name: str = "",
    *,
    group: models.ResourceGroup,
    capacity: Mapping[str, int] | None = None,
    **fields: Any,
) -> models.Node:
    """Make a node (default 8 cores, 32 GiB, 4 GPUs) with its slots and, for ``cuda.device``, its devices."""
    node = models.Node.objects.create(name=name or f"node-{next(_numbers)}", group=group, **fields)
    amounts = capacity if capacity is not None else {"cpu": 8_000, "mem": 32 * GIB, "cuda.device": 4}
    models.NodeSlot.objects.bulk_create(
        models.NodeSlot(node=node, kind=kind, capacity=amount) for kind, amount in amounts.items()
    )
    models.NodeDevice.objects.bulk_create(
        models.NodeDevice(node=node, kind="cuda.device", index=index)
        for index in range(amounts.get("cuda.device", 0))
    )
    return node


# Sessions


def a_session(
    *,
    owner: models.User,
    queue: models.Queue,
    group: models.ResourceGroup | None = None,
    state: str = "pending",
    node: models.Node | None = None,
    **fields: Any,
) -> models.Session:
    """
    Make a session in any state.

    Args:
        owner, queue: whose it is and where it was submitted.
        group: default the queue's first group.
        state: a ``SessionState`` value; one that holds a node takes slots, devices and ledgers on ``node``
            (default the group's first). A suspended one has released all and remembers what a resume needs.
        fields: further fields of ``Session``; ``slots`` defaults to one core and one GiB.
    """
    group = group or queue.groups.first()
    session = models.Session.objects.create(
        owner=owner, queue=queue, group=group, state=state, **{**_defaults(state), **fields}
    )
    if state in states.HOLDING:
        _hold(session, node or group.nodes.first())
    return session


def _defaults(state: str) -> dict[str, Any]:
    number = next(_numbers)
    is_over, has_started = state == _S.TERMINATED, state not in (_S.PENDING, _S.SCHEDULED)
    return {
        "name": f"session-{number}",
        "argv": ["/bin/true"],
        "slots": dict(SMALL),
        "submitted_at": ago(120),
        "state_since": ago(60),
        "started_at": ago(60) if has_started else None,
        "ended_at": ago(5) if is_over else None,
        "result": states.Result.SUCCESS.value if is_over else "",
        "epoch": 0 if state == _S.PENDING else 1,
    }


def _hold(session: models.Session, node: models.Node) -> None:
    is_resting = session.state == _S.SUSPENDED
    full_indices = _first_indices(session, node)
    slots = {} if is_resting else dict(session.slots)
    indices = {} if is_resting else full_indices
    models.Allocation.objects.create(
        session=session,
        node=node,
        slots=slots,
        indices=indices,
        full_slots=dict(session.slots),
        full_indices=full_indices,
        since=session.started_at or ago(60),
    )
    _take(session, node, (slots, indices))
    if not is_resting:
        models.Session.objects.filter(id=session.id).update(is_counted=True)
        session.is_counted = True
    _count(session, {**slots, "sessions": 0 if is_resting else 1})
    a_run(session, node)


def _take(
    session: models.Session, node: models.Node, what: tuple[dict[str, int], dict[str, list[int]]]
) -> None:
    slots, indices = what
    for kind, amount in slots.items():
        node.slots.filter(kind=kind).update(allocated=F("allocated") + amount)
    for kind, numbers in indices.items():
        node.devices.filter(kind=kind, index__in=numbers).update(session=session)


def _first_indices(session: models.Session, node: models.Node) -> dict[str, list[int]]:
    wanted = session.slots.get("cuda.device", 0)
    free = node.devices.filter(kind="cuda.device", session=None, reservation=None)
    numbers = list(free.values_list("index", flat=True)[:wanted])
    return {"cuda.device": numbers} if numbers else {}


def _count(session: models.Session, amounts: Mapping[str, int]) -> None:
    for kind, amount in amounts.items():
        owner, _ = models.OwnerUsage.objects.get_or_create(owner=session.owner, kind=kind)
        queue, _ = models.QueueUsage.objects.get_or_create(queue=session.queue, kind=kind)
        for row in (owner, queue):
            row.used += amount
            row.save(update_fields=["used"])


def a_run(session: models.Session, node: models.Node, **fields: Any) -> models.Run:
    """Make the run of the session's present attempt on a node."""
    values = {
        "attempt": session.attempt,
        "epoch": session.epoch,
        "node_names": [node.name],
        "dispatched_at": session.submitted_at,
        "started_at": session.started_at,
    }
    return models.Run.objects.create(session=session, **{**values, **fields})


# Events


def an_event(type_: str, **fields: Any) -> models.Event:
    """Append one event with the next number of the counter; group and node default to the session's."""
    models.EventCounter.objects.filter(id=1).update(last=F("last") + 1)
    number = models.EventCounter.objects.get(id=1).last
    session = fields.get("session")
    fields.setdefault("group", session.group if session else None)
    return models.Event.objects.create(number=number, type=type_, **{"at": timezone.now(), **fields})


def first_rows() -> None:
    """Put back what every installation has from its migrations, after a test that emptied the tables."""
    if models.EventCounter.objects.exists():
        return
    models.EventCounter.objects.create(id=1)
    models.KeypairResourcePolicy.objects.create(name="default")
    models.SlotKind.objects.bulk_create(
        [
            models.SlotKind(name="cpu", scale=1000, unit="cores"),
            models.SlotKind(name="mem", scale=1, is_bytes=True, unit="bytes"),
            models.SlotKind(name="cuda.device", scale=1, is_indexed=True, unit="GPUs"),
        ]
    )


def an_output(session: models.Session, tail: str, **fields: Any) -> models.SessionOutput:
    """Make the last lines of the session's present attempt."""
    values = {"attempt": session.attempt, "tail": tail, "size": len(tail), "updated_at": timezone.now()}
    return models.SessionOutput.objects.create(session=session, **{**values, **fields})
