"""A busy group in PostgreSQL: nodes full of running sessions, waiting ones of 50 shapes, and many that are over."""

from __future__ import annotations

import dataclasses
import datetime
import json
import random
from collections.abc import Sequence
from typing import Any

from django.db import connection
from django.utils import timezone

from scheduler import ids, models
from scheduler.services import bulk

GIB = 1 << 30
OWNERS = 50
#: Sessions that run on each node from the beginning, and the slots of each.
RUNNING, SMALL = 10, {"cpu": 2_000, "mem": 4 * GIB}


@dataclasses.dataclass(frozen=True)
class World:
    """One group and what is in it."""

    group: models.ResourceGroup
    queues: dict[str, models.Queue]
    owners: list[models.User]
    nodes: list[models.Node]
    chance: random.Random


def make(nodes: int, *, seed: int, room: int, finished: int) -> World:
    """
    Make a group whose nodes run ten sessions each, and sessions that are over.

    Args:
        room: further sessions of the size `SMALL` that each node has room for.
        finished: sessions that are over.
    """
    world = _ground(nodes, seed=seed, room=room)
    run(world, world.nodes)
    over = {"state": "terminated", "result": "success", "ended_at": timezone.now(), "epoch": 1}
    submit(world, [SMALL] * finished, **over)
    return world


def _ground(nodes: int, *, seed: int, room: int) -> World:
    slug = f"bench-{ids.new_id().hex[-12:]}"
    group = models.ResourceGroup.objects.create(slug=slug)
    models.GroupRounds.objects.create(group=group)
    group.policy = models.PolicyVersion.objects.create(
        group=group,
        version=1,
        reason="measured",
        created_at=timezone.now(),
        preemption_state="on",
        preemption_mode="suspend",
    )
    group.save(update_fields=["policy"])
    low, high = (models.Queue.objects.create(slug=f"{slug}-{name}") for name in ("low", "high"))
    models.Queue.objects.filter(pk=low.pk).update(preemptible=True)
    high.preemptible_queues.add(low)
    for queue in (low, high):
        queue.groups.add(group)
    policy = models.KeypairResourcePolicy.objects.get(name="default")
    owners = models.User.objects.bulk_create(
        models.User(username=f"{slug}-{number}", policy=policy) for number in range(OWNERS)
    )
    rows = models.Node.objects.bulk_create(
        models.Node(name=f"{slug}-n{number:05d}", group=group) for number in range(nodes)
    )
    capacity = {kind: amount * (RUNNING + room) for kind, amount in SMALL.items()}
    used = {kind: amount * RUNNING for kind, amount in SMALL.items()}
    models.NodeSlot.objects.bulk_create(
        models.NodeSlot(node=row, kind=kind, capacity=capacity[kind], allocated=used[kind])
        for row in rows
        for kind in SMALL
    )
    return World(group, {"low": low, "high": high}, owners, rows, random.Random(f"db/{nodes}/{seed}"))


def run(world: World, nodes: Sequence[models.Node]) -> None:
    """Let ten sessions of the size `SMALL` run on each node, of one owner each; the nodes' slots count them already."""
    since = timezone.now() - datetime.timedelta(hours=1)
    wanted = [SMALL] * (len(nodes) * RUNNING)
    ids = submit(
        world, wanted, state="running", started_at=since, epoch=1, is_counted=True, waiting_since=None
    )
    places = [node for node in nodes for _ in range(RUNNING)]
    bulk.insert(
        models.Allocation,
        ("session_id", "node_id", "slots", "indices", "full_slots", "full_indices", "since"),
        ((pk, node.pk, SMALL, {}, SMALL, {}, since) for pk, node in zip(ids, places, strict=True)),
    )
    bulk.insert(
        models.Run,
        (
            "session_id",
            "attempt",
            "epoch",
            "node_names",
            "dispatched_at",
            "started_at",
            "how_ended",
            "was_checkpointed",
        ),
        ((pk, 1, 1, [node.name], since, since, "", False) for pk, node in zip(ids, places, strict=True)),
    )
    _count(world)


def submit(
    world: World, shapes: Sequence[dict[str, int]], *, queue: str = "low", **columns: Any
) -> list[int]:
    """Write one session for each shape straight to the table, of all owners in turn; returns their ids."""
    now = timezone.now()
    given = {"state": "pending", "state_since": now, "group": world.group, "queue": world.queues[queue]}
    first = models.Session.objects.create(
        name="bench",
        owner=world.owners[0],
        argv=["/bin/true"],
        slots=SMALL,
        submitted_at=now,
        **(given | columns),
    )
    own = {"id", "public_id", "slots", "owner_id", "submitted_at"}
    names = [field.column for field in models.Session._meta.concrete_fields if field.column not in own]
    owners = [world.owners[place % len(world.owners)].pk for place in range(len(shapes))]
    with connection.cursor() as cursor:
        same, first_ones = (", ".join(f'{prefix}"{name}"' for name in names) for prefix in ("", "first."))
        cursor.execute(
            _COPIES.format(same=same, first=first_ones),
            [[json.dumps(shape) for shape in shapes], owners, first.pk],
        )
        ids = sorted(row[0] for row in cursor.fetchall())
    first.delete()
    return ids


_COPIES = """
INSERT INTO scheduler_session (public_id, slots, owner_id, submitted_at, {same})
SELECT gen_random_uuid(), one.slots, one.owner, first.submitted_at + one.place * interval '1 microsecond', {first}
FROM scheduler_session first,
    unnest(%s::jsonb[], %s::bigint[]) WITH ORDINALITY AS one (slots, owner, place)
WHERE first.id = %s ORDER BY one.place RETURNING id
"""


def analyze() -> None:
    """Let the planner know of the rows, as its own worker would in a minute."""
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")


def _count(world: World) -> None:
    """Count what owners and queues use, as the ledgers do."""
    for table, key in (("scheduler_ownerusage", "owner_id"), ("scheduler_queueusage", "queue_id")):
        with connection.cursor() as cursor:
            cursor.execute(_COUNT.format(table=table, key=key), [world.group.pk] * 2)


_COUNT = """
INSERT INTO {table} ({key}, kind, used)
SELECT s.{key}, one.kind, sum(one.amount) FROM scheduler_session s
JOIN scheduler_allocation a ON a.session_id = s.id
CROSS JOIN LATERAL (SELECT key AS kind, value::bigint AS amount FROM jsonb_each_text(a.slots)) one
WHERE s.group_id = %s GROUP BY 1, 2
UNION ALL
SELECT s.{key}, 'sessions', count(*) FROM scheduler_session s WHERE s.group_id = %s AND s.is_counted GROUP BY 1
ON CONFLICT ({key}, kind) DO UPDATE SET used = EXCLUDED.used
"""
