"""
The ledgers: slots and devices of nodes, usage of owners and queues, and what each session holds.

Every function expects the rows of ``locks.rows`` to be locked. Amounts change by database arithmetic, and the CHECK
constraints refuse what must not be (P01). Suspended sessions hold what their stop did not release, and count towards
no session count (DESIGN 5.7).
"""

from __future__ import annotations

import collections
from collections.abc import Iterable, Mapping, Sequence

from django.db.models import F

from scheduler import errors, models
from scheduler.core import decisions
from scheduler.models import ledgers
from scheduler.services import bulk

Amounts = Mapping[str, int]
Indices = Mapping[str, list[int]]


def charge(session: models.Session, grants: tuple[decisions.NodeGrant, ...], *, now: object) -> None:
    """Give a pending session its slots and devices on each node of its grants."""
    for grant in grants:
        slots = grant.slots.as_dict()
        indices = {kind: list(numbers) for kind, numbers in grant.indices.items() if numbers}
        _take_slots(grant.node_id, slots)
        _take_devices(session, grant.node_id, indices)
        models.Allocation.objects.create(
            session=session,
            node_id=grant.node_id,
            slots=slots,
            indices=indices,
            full_slots=slots,
            full_indices=indices,
            since=now,
        )
        _use(session, slots)
    _count(session, True)


def charge_all(
    starts: Sequence[tuple[models.Session, tuple[decisions.NodeGrant, ...]]], *, now: object
) -> None:
    """
    Give many pending sessions their slots and devices in a fixed number of statements.

    The caller marks the sessions as counted. The result is that of ``charge`` for each.
    """
    slots: collections.Counter[tuple[int, str]] = collections.Counter()
    owners: collections.Counter[tuple[int, str]] = collections.Counter()
    queues: collections.Counter[tuple[int, str]] = collections.Counter()
    devices: list[tuple[int, str, int, int]] = []
    held = []
    for session, grants in starts:
        used = collections.Counter({ledgers.SESSIONS: 1})
        for grant in grants:
            amounts = grant.slots.as_dict()
            indices = {kind: list(numbers) for kind, numbers in grant.indices.items() if numbers}
            slots.update({(grant.node_id, kind): amount for kind, amount in amounts.items()})
            used.update(amounts)
            devices += [(grant.node_id, kind, i, session.pk) for kind, some in indices.items() for i in some]
            held.append((session.pk, grant.node_id, amounts, indices, amounts, indices, now))
        owners.update({(session.owner_id, kind): amount for kind, amount in used.items()})
        queues.update({(session.queue_id, kind): amount for kind, amount in used.items()})
    if bulk.run(_TAKE_SLOTS, *bulk.columns_of(_flat(slots), 3)) != len(slots):
        raise errors.Violation("a node has no slots of a kind that was granted")
    if devices and bulk.run(_TAKE_DEVICES, *bulk.columns_of(devices, 4)) != len(devices):
        raise errors.StaleState("a device that was promised is taken")
    bulk.insert(models.Allocation, _ALLOCATION, held)
    bulk.run(_USE.format(whose="owner"), *bulk.columns_of(_flat(owners), 3))
    bulk.run(_USE.format(whose="queue"), *bulk.columns_of(_flat(queues), 3))


def _flat(amounts: Mapping[tuple[int, str], int]) -> Iterable[tuple[int, str, int]]:
    return [(key, kind, amount) for (key, kind), amount in sorted(amounts.items())]


_ALLOCATION = ("session_id", "node_id", "slots", "indices", "full_slots", "full_indices", "since")
_TAKE_SLOTS = """
UPDATE scheduler_nodeslot AS row SET allocated = row.allocated + more.amount
FROM unnest(%s::bigint[], %s::text[], %s::bigint[]) AS more (node_id, kind, amount)
WHERE row.node_id = more.node_id AND row.kind = more.kind
"""
_TAKE_DEVICES = """
UPDATE scheduler_nodedevice AS row SET session_id = taken.session_id
FROM unnest(%s::bigint[], %s::text[], %s::integer[], %s::bigint[]) AS taken (node_id, kind, index, session_id)
WHERE row.node_id = taken.node_id AND row.kind = taken.kind AND row.index = taken.index
AND row.session_id IS NULL AND row.reservation_id IS NULL
"""
_USE = """
INSERT INTO scheduler_{whose}usage AS row ({whose}_id, kind, used)
SELECT * FROM unnest(%s::bigint[], %s::text[], %s::bigint[]) AS more (id, kind, amount)
ON CONFLICT ({whose}_id, kind) DO UPDATE SET used = row.used + EXCLUDED.used
"""


def charge_resume(session: models.Session) -> None:
    """Give a suspended session back what its stop had released: the same node, the same devices."""
    for held in session.allocations.order_by("node_id"):
        slots = _difference(held.full_slots, held.slots)
        indices = {
            k: [i for i in v if i not in held.indices.get(k, [])] for k, v in held.full_indices.items()
        }
        _take_slots(held.node_id, slots)
        _take_devices(session, held.node_id, indices)
        _use(session, slots)
        held.slots, held.indices = held.full_slots, held.full_indices
        held.save(update_fields=["slots", "indices"])
    _count(session, True)


def release_kinds(session: models.Session, kinds: list[str] | None) -> list[int]:
    """
    Free the given kinds of a session whose stop is proven; it keeps the rest.

    Args:
        kinds: kinds to free; None = every kind.

    Returns:
        Ids of the nodes on which slots became free.
    """
    allocations = list(session.allocations.order_by("node_id"))
    freed = [{k: a for k, a in held.slots.items() if kinds is None or k in kinds} for held in allocations]
    _give(session, allocations, freed)
    for held, amounts in zip(allocations, freed, strict=True):
        held.slots = _difference(held.slots, amounts)
        held.indices = {k: v for k, v in held.indices.items() if k not in amounts}
        held.save(update_fields=["slots", "indices"])
    return [held.node_id for held in allocations]


def release_all(session: models.Session) -> list[int]:
    """Free all that a session holds. Returns the ids of its nodes."""
    allocations = list(session.allocations.order_by("node_id"))
    _give(session, allocations, [held.slots for held in allocations])
    session.allocations.all().delete()
    return [held.node_id for held in allocations]


def _give(
    session: models.Session, allocations: Sequence[models.Allocation], freed: Sequence[Amounts]
) -> None:
    """Give back what is freed of each allocation, with its devices and its part of all usage, and count no more."""
    slots = [
        (held.node_id, kind, -amount)
        for held, some in zip(allocations, freed, strict=True)
        for kind, amount in some.items()
    ]
    if slots and bulk.run(_TAKE_SLOTS, *bulk.columns_of(sorted(slots), 3)) != len(slots):
        raise errors.Violation("a node has no slots of a kind that was held there")
    for held, some in zip(allocations, freed, strict=True):
        _give_devices(session, held.node_id, set(some))
    used: collections.Counter[str] = collections.Counter()
    for some in freed:
        used.update(some)
    if session.is_counted:
        used[ledgers.SESSIONS] += 1
        session.is_counted = False
        session.save(update_fields=["is_counted"])
    if not used:
        return
    for whose, pk in (("owner", session.owner_id), ("queue", session.queue_id)):
        rows = [(pk, kind, -amount) for kind, amount in sorted(used.items())]
        if bulk.run(_UNUSE.format(whose=whose), *bulk.columns_of(rows, 3)) != len(rows):
            raise errors.Violation(f"usage of a kind was never counted for the {whose}")


_UNUSE = """
UPDATE scheduler_{whose}usage AS row SET used = row.used + more.amount
FROM unnest(%s::bigint[], %s::text[], %s::bigint[]) AS more (id, kind, amount)
WHERE row.{whose}_id = more.id AND row.kind = more.kind
"""


def _difference(whole: Amounts, part: Amounts) -> dict[str, int]:
    rest = {kind: amount - part.get(kind, 0) for kind, amount in whole.items()}
    return {kind: amount for kind, amount in rest.items() if amount}


def _take_slots(node_id: int, slots: Amounts) -> None:
    for kind, amount in sorted(slots.items()):
        _change_slot(node_id, kind, allocated=F("allocated") + amount)


def _change_slot(node_id: int, kind: str, **changes: object) -> None:
    if models.NodeSlot.objects.filter(node_id=node_id, kind=kind).update(**changes) != 1:
        raise errors.Violation(f"node {node_id} has no slots of kind {kind}")


def draw_slots(node_id: int, slots: Amounts) -> None:
    """Take free slots of a node for a reservation."""
    for kind, amount in sorted(slots.items()):
        _change_slot(node_id, kind, reserved=F("reserved") + amount)


def return_slots(node_id: int, slots: Amounts) -> None:
    """Give slots of a reservation back to the node."""
    for kind, amount in sorted(slots.items()):
        _change_slot(node_id, kind, reserved=F("reserved") - amount)


def _take_devices(session: models.Session, node_id: int, indices: Indices) -> None:
    for kind, numbers in sorted(indices.items()):
        free = models.NodeDevice.objects.filter(
            node_id=node_id, kind=kind, index__in=numbers, session=None, reservation=None
        )
        if free.update(session=session) != len(numbers):
            raise errors.StaleState(f"a {kind} promised on node {node_id} is taken")


def _give_devices(session: models.Session, node_id: int, kinds: set[str]) -> None:
    models.NodeDevice.objects.filter(node_id=node_id, session=session, kind__in=kinds).update(session=None)


def _use(session: models.Session, amounts: Amounts) -> None:
    for kind, amount in sorted(amounts.items()):
        _add_usage(session, kind, amount)


def _count(session: models.Session, is_counted: bool) -> None:
    if session.is_counted != is_counted:
        session.is_counted = is_counted
        session.save(update_fields=["is_counted"])
        _add_usage(session, ledgers.SESSIONS, 1 if is_counted else -1)


def _add_usage(session: models.Session, kind: str, amount: int) -> None:
    owner = {"owner_id": session.owner_id, "kind": kind}
    queue = {"queue_id": session.queue_id, "kind": kind}
    if not models.OwnerUsage.objects.filter(**owner).update(used=F("used") + amount):
        models.OwnerUsage.objects.create(**owner, used=amount)
    if not models.QueueUsage.objects.filter(**queue).update(used=F("used") + amount):
        models.QueueUsage.objects.create(**queue, used=amount)
