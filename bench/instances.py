"""
Covering problems to measure with, from a seed: one node or many, sizes of several families.

A family is how the sizes of a node's sessions are drawn: ``uniform`` (each kind for itself), ``correlated`` (large in
one kind, large in all), ``few`` (six shapes, as of flavours), ``incomparable`` (much of one kind means little of
another, so that hardly any session dominates another) and ``many`` (incomparable, and ten or more victims are needed).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from scheduler.core import entities
from scheduler.core.preemption import planning, policy

Sizes = list[tuple[int, ...]]


def _uniform(chance: random.Random, count: int, kinds: int) -> Sizes:
    return [tuple(chance.randint(1, 100) for _ in range(kinds)) for _ in range(count)]


def _correlated(chance: random.Random, count: int, kinds: int) -> Sizes:
    scales = [chance.randint(1, 80) for _ in range(count)]
    return [tuple(scale + chance.randint(0, 20) for _ in range(kinds)) for scale in scales]


def _few(chance: random.Random, count: int, kinds: int) -> Sizes:
    shapes = _uniform(chance, 6, kinds)
    return [chance.choice(shapes) for _ in range(count)]


def _incomparable(chance: random.Random, count: int, kinds: int) -> Sizes:
    found = []
    for _ in range(count):
        parts = [chance.random() + 0.02 for _ in range(kinds)]
        found.append(tuple(max(1, round(kinds * 50 * part / sum(parts))) for part in parts))
    return found


FAMILIES: dict[str, Callable[[random.Random, int, int], Sizes]] = {
    "uniform": _uniform,
    "correlated": _correlated,
    "few": _few,
    "incomparable": _incomparable,
    "many": _incomparable,
}


def one_node(family: str, count: int, kinds: int, *, seed: int) -> policy.Problem:
    """
    Return a problem of one node.

    Args:
        family: a key of ``FAMILIES``.
        count: candidates on the node.
        kinds: dimensions of the need.
        seed: same arguments, same problem.
    """
    return cluster(family, 1, count, kinds, seed=seed)


def cluster(family: str, nodes: int, count: int, kinds: int, *, seed: int) -> policy.Problem:
    """Return a problem of several nodes with ``count`` candidates each, one request for all of them."""
    chance = random.Random(f"{family}/{nodes}/{count}/{kinds}/{seed}")
    sizes = [FAMILIES[family](chance, count, kinds) for _ in range(nodes)]
    largest = [max(size[kind] for own in sizes for size in own) for kind in range(kinds)]
    times = chance.randint(10, 14) if family == "many" else chance.uniform(1.2, 4.0)
    spread = [
        chance.uniform(0.35, 0.5) if family == "many" else chance.uniform(0.4, 1.0) for _ in range(kinds)
    ]
    request = [max(1, round(times * most * part)) for most, part in zip(largest, spread, strict=True)]
    targets = []
    for number, own in enumerate(sizes, start=1):
        free = [chance.randint(0, max(0, amount // 4)) for amount in request]
        need = [max(1, amount - have) for amount, have in zip(request, free, strict=True)]
        candidates = _candidates(chance, own, need, first_id=number * 10_000)
        targets.append(policy.Target(number, f"n{number:05d}", number, tuple(need), candidates))
    return problem(targets)


def _candidates(
    chance: random.Random, sizes: Sizes, need: Sequence[int], *, first_id: int
) -> tuple[policy.Candidate, ...]:
    return tuple(
        policy.Candidate(
            session_id=first_id + place,
            value=chance.choice((0, 10, 10, 10, 20, 30, 50)),
            gives=tuple(min(have, amount) for have, amount in zip(size, need, strict=True)),
            start=chance.randint(1, 10**9),
            share=0,
            total_share=sum(size),
        )
        for place, size in enumerate(sizes)
    )


def problem(targets: Sequence[policy.Target]) -> policy.Problem:
    """Return the problem of these nodes, with a round's budget of steps."""
    return policy.Problem(entities.PreemptionOrder.OLDEST, tuple(targets), planning.STEPS)


def can_be_solved(one: policy.Problem) -> bool:
    """Say whether all candidates together suffice on some node."""
    return any(
        all(sum(c.gives[k] for c in target.candidates) >= amount for k, amount in enumerate(target.need))
        for target in one.targets
    )
