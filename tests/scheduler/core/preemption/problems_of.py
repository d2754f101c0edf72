"""Small covering problems for the policies' tests."""

from __future__ import annotations

import dataclasses
import random

from scheduler.core import entities
from scheduler.core.preemption import policy

OLDEST = entities.PreemptionOrder.OLDEST


def a_candidate(session_id: int, gives, *, value: int = 1, start: int = 0, share: int = 0, total: int = 0):
    """Return a candidate; ``gives`` one amount or several."""
    amounts = gives if isinstance(gives, tuple) else (gives,)
    return policy.Candidate(session_id, value, amounts, start, share, total)


def a_target(need, candidates, *, node_id: int = 1, rank: int = 0, most: int | None = None) -> policy.Target:
    """Return a node ``n<id>``."""
    amounts = need if isinstance(need, tuple) else (need,)
    return policy.Target(node_id, f"n{node_id}", rank, amounts, tuple(candidates), most)


def a_problem(*targets: policy.Target, order=OLDEST, steps: int = 100_000) -> policy.Problem:
    """Return a problem over these nodes."""
    scale = 1 + sum(candidate.share for target in targets for candidate in target.candidates)
    return policy.Problem(order, targets, steps, scale)


def at_random(seed: int, *, size: int = 8, kinds: int = 2, nodes: int = 2, most: int = 6) -> policy.Problem:
    """Return a random problem with many ties."""
    chance = random.Random(seed)
    targets = []
    for node_id in range(1, nodes + 1):
        need = tuple(chance.randint(1, 3 * most) for _ in range(kinds))
        candidates = [
            a_candidate(
                10 * node_id + place,
                tuple(min(n, chance.randint(0, most)) for n in need),
                value=chance.randint(-1, 3),
                start=chance.randint(0, 4),
                share=chance.choice((0, 0, 1, 2)),
                total=chance.randint(1, 5),
            )
            for place in range(size)
        ]
        targets.append(a_target(need, candidates, node_id=node_id, rank=nodes - node_id))
    return a_problem(*targets, order=chance.choice(tuple(entities.PreemptionOrder)))


def times(target: policy.Target, scale: int) -> policy.Target:
    """Return the node with every amount so many times as large."""
    candidates = tuple(
        dataclasses.replace(one, gives=tuple(amount * scale for amount in one.gives))
        for one in target.candidates
    )
    return dataclasses.replace(
        target, need=tuple(amount * scale for amount in target.need), candidates=candidates
    )


def renamed(target: policy.Target, node_id: int) -> policy.Target:
    """Return the node under another id and name."""
    return dataclasses.replace(target, node_id=node_id, name=f"n{node_id:05d}")
