"""Rounds of the service on PostgreSQL: many sessions placed at once, a hundred, one, none, and preemptors."""

from __future__ import annotations

import collections

from bench import figures, servers

#: Waits: no node has so much free.
BIG = {"cpu": 30_000, "mem": 1 << 30}
#: Of a preemptor: more than a node has free, so that several stop.
URGENT = {"cpu": 22_000, "mem": 1 << 30}
PREEMPTORS = 20
#: row -> (what it says, goal of the median in ms for 1,000 nodes)
ROWS = {
    "many": ("{many:,} placed, all of them new", 1500),
    "hundred": ("100 placed, all else as before", 200),
    "one": ("1 placed, all else as before", 50),
    "none": ("nothing changed", None),
    "preempt": ("{preemptors} preemptors", 1000),
}


def report(*, seeds: int, nodes: int = 1000, finished: int = 100_000, throwaway: bool = False) -> str:
    """Return the table; each seed is a world of its own, in one database."""
    took: dict[str, list[float]] = collections.defaultdict(list)
    with servers.database(throwaway=throwaway):
        for seed in range(1, seeds + 1):
            _measure(took, nodes=nodes, seed=seed, finished=finished)
    words = {"many": 9 * nodes, "preemptors": PREEMPTORS}
    rows = [
        [text.format(**words), len(took[name]), figures.median(took[name]), max(took[name]), goal or "-"]
        for name, (text, goal) in ROWS.items()
    ]
    shape = f"{nodes:,} nodes, {10 * nodes:,} running, {10 * nodes:,} pending, {finished:,} over"
    head = ["round", "runs", "median ms", "worst ms", "goal ms"]
    title = f"### A round on PostgreSQL ({shape}; seeds 1 to {seeds})"
    return f"{title}\n\n{figures.table(head, rows)}"


def _measure(took: dict[str, list[float]], *, nodes: int, seed: int, finished: int) -> None:
    from bench import world_db

    world = world_db.make(nodes, seed=seed, room=10, finished=finished)
    shapes = [world_db.SMALL] * (9 * nodes) + [BIG] * nodes
    world.chance.shuffle(shapes)
    world_db.submit(world, shapes)
    world_db.analyze()
    _round(world.group.pk, took["many"], dispatched=9 * nodes)
    world_db.submit(world, [BIG] * (9 * nodes))
    for _ in range(3):  # reasons are written, and read once
        _round(world.group.pk, [])
    few = min(100, nodes // 10)
    for _ in range(3):
        world_db.submit(world, [world_db.SMALL] * few)
        _round(world.group.pk, took["hundred"], dispatched=few)
    for _ in range(5):
        world_db.submit(world, [world_db.SMALL])
        _round(world.group.pk, took["one"], dispatched=1)
        _round(world.group.pk, took["none"])
    world_db.submit(world, [URGENT] * PREEMPTORS, queue="high", priority=90)
    _round(world.group.pk, took["preempt"], preempts=True)


def _round(group_id: int, took: list[float], *, dispatched: int = 0, preempts: bool = False) -> None:
    """Run and measure one round; some preemptors may wait for what others stop already."""
    from scheduler.services import rounds

    summary, spent = figures.timed(lambda: rounds.run_group_round(group_id))
    assert summary is not None
    assert (summary.dispatched, summary.preempted > 0) == (dispatched, preempts), summary
    took.append(spent)
