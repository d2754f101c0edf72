"""
Load one group's snapshot in a fixed number of queries.

Internal: no viewer, because only the core sees the result. Versions of the rows come along for the compare-and-set of
the commit (DESIGN section 4).
"""

from __future__ import annotations

import collections
import dataclasses
import datetime
from collections.abc import Collection, Mapping

from django.db.models import Prefetch, Q

from scheduler import clock, models
from scheduler.core import entities, ordering, resources, snapshot
from scheduler.models import ledgers
from scheduler.selectors import promises, remembered, session_rows, stops

Vector = resources.ResourceVector


@dataclasses.dataclass(frozen=True)
class Loaded:
    """A snapshot, and what the commit must find unchanged."""

    snapshot: snapshot.Snapshot
    policy_id: int
    versions: dict[int, int]  #: session id -> state_version
    names: dict[int, str]  #: node id -> name
    promised_to_owners: Mapping[int, promises.Amounts]  #: owner id -> reserved for it in other groups
    reasons: Mapping[
        int, remembered.Reason
    ]  #: session id -> what is written of its wait; empty if not asked for
    memory: remembered.Memory


def load_snapshot(
    group: models.ResourceGroup, *, round_number: int = 0, memory: remembered.Memory | None = None
) -> Loaded:
    """
    Return the group as it is now. At most 20 queries, whatever the size.

    Args:
        group: its policy version is read anew.
        memory: what this process remembers of the group: the result is the same, with less to read.
    """
    policy = models.PolicyVersion.objects.get(
        pk=models.ResourceGroup.objects.values_list("policy_id", flat=True).get(pk=group.pk)
    )
    now = clock.now()
    reservations = _reservations(group, now=now)
    memory = memory or remembered.Memory()
    sessions = remembered.read(group, memory)
    extras = session_rows.Extras.read(Q(session__in=session_rows.live(group)), now=now)
    nodes = _nodes(group)
    promised = promises.elsewhere(group.pk)
    value = snapshot.Snapshot(
        group=group.slug,
        now=clock.micros(now),
        policy=policy_value(policy),
        is_starting=policy.starting,
        nodes=nodes,
        queues=_queues(group, {one.queue_id for one in sessions.values.values()}, promised.queues),
        owners=owners({one.owner_id for one in sessions.values.values()}, promised.owners),
        sessions=_with_extras(sessions.values, extras),
        reservations=reservations,
        edges=_edges(group, sessions.values.keys()),
        claims=_claims(group),
        round_number=round_number,
    )
    names = {node.id: node.name for node in nodes}
    return Loaded(value, policy.pk, sessions.versions, names, promised.owners, {}, memory)


def policy_value(row: models.PolicyVersion) -> entities.Policy:
    """Return the core's value of one policy version, saved or not."""
    releases = row.suspend_releases
    return entities.Policy(
        version=row.version,
        state=entities.PreemptionState(row.preemption_state),
        mode=entities.PreemptionMode(row.preemption_mode),
        order=entities.PreemptionOrder(row.preemption_order),
        scope=entities.PreemptionScope(row.preemption_scope),
        min_runtime_s=row.preemption_min_runtime,
        grace_s=row.grace_period,
        suspend_grace_s=row.suspend_grace,
        in_flight_timeout_s=row.in_flight_timeout,
        max_preemptions_per_session=row.max_preemptions_per_session,
        cancel_unconfirmed_dispatch=row.cancel_unconfirmed_dispatch,
        suspend_releases=None if releases is None else frozenset(releases),
        requeue_suspended=row.requeue_suspended,
        max_suspend_time_s=row.max_suspend_time,
        max_suspended_per_node=row.max_suspended_per_node,
        starvation_after_s=row.starvation_after,
        placement=entities.Placement(row.placement),
    )


def _nodes(group: models.ResourceGroup) -> tuple[entities.Node, ...]:
    rows = list(models.Node.objects.filter(group=group).order_by("pk"))
    capacity: dict[int, dict[str, int]] = collections.defaultdict(dict)
    slots = models.NodeSlot.objects.filter(node__group=group)
    for node_id, kind, amount in slots.values_list("node_id", "kind", "capacity"):
        capacity[node_id][kind] = amount
    devices: dict[int, dict[str, list[int]]] = collections.defaultdict(lambda: collections.defaultdict(list))
    indexed = models.NodeDevice.objects.filter(node__group=group).order_by("index")
    for node_id, kind, index in indexed.values_list("node_id", "kind", "index"):
        devices[node_id][kind].append(index)
    return tuple(
        entities.Node(
            id=row.pk,
            name=row.name,
            capacity=Vector(capacity[row.pk]),
            devices={kind: tuple(indices) for kind, indices in devices[row.pk].items()},
            max_sessions=row.max_sessions,
            labels=row.labels,
            state=entities.NodeState(row.state),
        )
        for row in rows
    )


def _queues(
    group: models.ResourceGroup, used_by: set[int], promised: Mapping[int, promises.Amounts]
) -> tuple[entities.Queue, ...]:
    serving = set(group.queues.values_list("pk", flat=True))
    rows = list(models.Queue.objects.filter(pk__among=serving | used_by).order_by("pk"))
    through = models.Queue.preemptible_queues.through.objects.filter(
        from_queue_id__in=[row.pk for row in rows]
    )
    targets: dict[int, set[int]] = collections.defaultdict(set)
    for source, target in through.values_list("from_queue_id", "to_queue_id"):
        targets[source].add(target)
    used = _usage(
        models.QueueUsage.objects.filter(queue__in=[row.pk for row in rows]).values_list(
            "queue_id", "kind", "used"
        ),
        promised,
    )
    return tuple(
        entities.Queue(
            id=row.pk,
            name=row.slug,
            state=entities.QueueState(row.state),
            serves_group=row.pk in serving,
            preemptible=row.preemptible,
            preemptible_queues=frozenset(targets[row.pk] - {row.pk}),
            preempt_policy=row.preempt_policy or None,
            preemption_mode=entities.PreemptionMode(row.preemption_mode) if row.preemption_mode else None,
            usage=_usage_value(used[row.pk], row.max_slots, row.max_concurrent_sessions),
        )
        for row in rows
    )


def owners(owner_ids: set[int], promised: Mapping[int, promises.Amounts]) -> tuple[entities.Owner, ...]:
    """
    Return the core's values of some owners with their limits and use. Two queries.

    Args:
        promised: owner id -> what reservations of other groups count towards the limits.
    """
    rows = models.User.objects.filter(pk__in=owner_ids).select_related("policy").order_by("pk")
    used = _usage(
        models.OwnerUsage.objects.filter(owner__in=owner_ids).values_list("owner_id", "kind", "used"),
        promised,
    )
    return tuple(
        entities.Owner(
            id=row.pk,
            usage=_usage_value(
                used[row.pk],
                row.policy.max_slots if row.policy else {},
                row.policy.max_concurrent_sessions if row.policy else None,
            ),
        )
        for row in rows
    )


def _usage(rows, promised: Mapping[int, promises.Amounts]) -> dict[int, dict[str, int]]:  # type: ignore[no-untyped-def]
    """Return what is used and what is promised elsewhere, by id and kind."""
    used: dict[int, dict[str, int]] = collections.defaultdict(lambda: collections.defaultdict(int))
    for key, amounts in promised.items():
        used[key].update(amounts)
    for key, kind, amount in rows:
        used[key][kind] += amount
    return used


def _usage_value(used: dict[str, int], max_slots: dict[str, int], max_sessions: int | None) -> entities.Usage:
    sessions = used.get(ledgers.SESSIONS, 0)
    slots = {kind: amount for kind, amount in used.items() if kind != ledgers.SESSIONS}
    return entities.Usage(Vector(slots), sessions, max_slots, max_sessions)


def _reservations(group: models.ResourceGroup, *, now: datetime.datetime) -> tuple[entities.Reservation, ...]:
    rows = models.Reservation.objects.filter(node__group=group, is_consumed=False)
    rows = rows.select_related("decision").defer("decision__record").order_by("pk")
    ids_alone = [
        Prefetch(name, model.objects.only("pk").order_by())
        for name, model in (("waits_for", models.Session), ("inherits", models.Decision))
    ]
    rows = rows.prefetch_related("devices", *ids_alone)
    counted = {row.pk: {row.decision_id, *(one.pk for one in row.inherits.all())} for row in rows}
    begun = stops.kill_begun({pk for ids in counted.values() for pk in ids}, now=now)
    return tuple(_reservation(row, is_binding=bool(counted[row.pk] & begun)) for row in rows)


def _reservation(row: models.Reservation, *, is_binding: bool) -> entities.Reservation:
    indices: dict[str, list[int]] = collections.defaultdict(list)
    for device in row.devices.all():
        indices[device.kind].append(device.index)
    return entities.Reservation(
        id=row.pk,
        session_id=row.session_id,
        node_id=row.node_id,
        slots=Vector(row.slots),
        drawn=Vector(row.drawn),
        victim_ids=tuple(sorted(session.pk for session in row.waits_for.all())),
        deadline=clock.micros(row.deadline),
        indices={kind: tuple(sorted(numbers)) for kind, numbers in indices.items()},
        is_wait=row.decision.kind == models.Decision.Kind.WAIT,
        is_binding=is_binding,
    )


def _with_extras(
    values: Mapping[int, entities.Session], extras: session_rows.Extras
) -> tuple[entities.Session, ...]:
    changed = {pk: extras.added(values[pk]) for pk in extras.ids() if pk in values}
    return tuple({**values, **changed}.values()) if changed else tuple(values.values())


def _edges(group: models.ResourceGroup, ids: Collection[int]) -> tuple[entities.Edge, ...]:
    rows = models.PreemptionEdge.objects.filter(winner__in=session_rows.live(group)).values_list(
        "winner_id", "loser_id"
    )
    found = {(winner, loser) for winner, loser in rows if winner in ids and loser in ids}
    return tuple(entities.Edge(winner, loser) for winner, loser in sorted(found))


def _claims(group: models.ResourceGroup) -> tuple[entities.Claim, ...]:
    """Return the claims of waiting sessions; one of a session that is just starting rests."""
    rows = models.Claim.nodes.through.objects.filter(
        claim__session__group=group, claim__session__state__in=ordering.WAITING
    )
    found: dict[int, list[int]] = collections.defaultdict(list)
    for session_id, node_id in rows.values_list("claim__session_id", "node_id").order_by("node_id"):
        found[session_id].append(node_id)
    return tuple(entities.Claim(session_id, tuple(ids)) for session_id, ids in sorted(found.items()))
