"""A whole round in memory: 1,000 nodes, 10,000 running, 10,000 pending of 50 shapes, 100 preemptors; and its growth."""

from __future__ import annotations

import collections
import dataclasses
import random

from bench import cluster, figures
from scheduler import garbage
from scheduler.core import decisions, entities, resources, rounds, snapshot, states

NODES = (100, 300, 1000)


def report(*, seeds: int) -> str:
    """Return the table of whole rounds."""
    rows = []
    base: float | None = None
    for nodes in NODES:
        runs = []
        counts: collections.Counter[str] = collections.Counter()
        for seed in range(1, seeds + 1):
            view = a_busy_group(nodes, seed=seed)
            found: list[decisions.Decision] = []
            with garbage.left_alone():  # as the service does
                _, took = figures.timed(lambda view=view, found=found: rounds.run_round(view, found.append))
            runs.append(took)
            counts.update(one.op.name for one in found)
        each = {name: count // seeds for name, count in counts.items()}
        said = f"{each.get('DISPATCH', 0)} / {each.get('PREEMPT', 0)} / {each.get('PEND', 0)}"
        shape = f"{nodes} / {nodes * 10} / {nodes * 10} / {nodes // 10}"
        middle = figures.median(runs)
        base = base or middle / nodes
        growth = f"{middle / nodes / base:.2f}"
        rows.append([shape, said, len(runs), middle, figures.quantile(runs, 0.95), growth])
    head = [
        "nodes / running / pending / preemptors",
        "dispatch / preempt / pend",
        "runs",
        "median ms",
        "p95 ms",
        "per node, of the smallest",
    ]
    return f"### A whole round in memory (seeds 1 to {seeds})\n\n" + figures.table(head, rows)


def a_busy_group(nodes: int, *, seed: int) -> snapshot.Snapshot:
    """
    Return a full group: ten sessions on each node, ten pending ones for each node, a hundredth of which may preempt.

    A fifth of the nodes has room left, so that some pending sessions start; those that may preempt ask for more than
    that, and stop several.
    """
    chance = random.Random(f"round/{nodes}/{seed}")
    view = cluster.crowded(nodes, 10, seed=seed, pending=0)
    room = resources.ResourceVector(dict.fromkeys(cluster.KINDS, 150))
    machines = tuple(
        dataclasses.replace(node, capacity=node.capacity + room) if node.id % 5 == 0 else node
        for node in view.nodes
    )
    shapes = [
        resources.ResourceVector({kind: chance.randint(*sizes) for kind in cluster.KINDS})
        for sizes in [(20, 150)] * 40 + [(160, 250)] * 10
    ]
    waiting = [
        _pending(chance, number, shapes[40:] if number % 100 == 0 else shapes[:40], urgent=number % 100 == 0)
        for number in range(nodes * 10)
    ]
    return dataclasses.replace(view, nodes=machines, sessions=(*view.sessions, *waiting))


def _pending(
    chance: random.Random, number: int, shapes: list[resources.ResourceVector], *, urgent: bool
) -> entities.Session:
    return entities.Session(
        10_000_000 + number,
        owner_id=2,
        queue_id=1 if urgent else 2,
        state=states.SessionState.PENDING,
        request=chance.choice(shapes),
        submitted_at=number,
        priority=90 if urgent else 10,
    )
