"""
The answer of the fewest victims: a hunt over all nodes, at its budget the simple rules, and what was proved.

Source: DESIGN 5.3, 7.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from scheduler.core import entities, proofs
from scheduler.core.preemption import greedy, hunts, minimal_set, policy, preparing, tables

Array = tables.Array


def select(table: tables.Table, problem: policy.Problem, weight: Array, line: Array) -> policy.Answer | None:
    """
    Return the fewest victims, then the least weight, then the best start times, then the node first in line.

    At the budget the best of what was found and of the simple rules' answers is returned, unproved.

    Args:
        table: the problem's targets.
        problem: its order and its steps.
        weight: of each candidate of the table.
        line: for each node what equal nodes are compared by, less = better; no two alike.
    """
    sign = -1 if problem.order is entities.PreemptionOrder.NEWEST else 1
    terms = preparing.Terms(weight, sign * table.columns.start, line)
    hunt = hunts.Hunt(table, terms, minimal_set.Budget(problem.steps))
    is_best = True
    try:
        hunt.run()
    except minimal_set.BudgetSpent:
        is_best = False
        _try_simple_rules(hunt)
    return None if hunt.best is None else _answer(hunt, hunt.best, is_best)


def _answer(hunt: hunts.Hunt, best: hunts.Best, is_best: bool) -> policy.Answer:
    own = hunt.table.columns
    ids = sorted(zip(own.value[best.rows].tolist(), own.ids[best.rows].tolist(), strict=True))
    node_id = int(hunt.table.heads.ids[best.place])
    proof = _proof(hunt, len(ids), is_best)
    return policy.Answer(node_id, tuple(i for _, i in ids), is_best, hunt.budget.used, proof)


def _try_simple_rules(hunt: hunts.Hunt) -> None:
    """Take the best of the simple rules' answers where it is better than what was found."""
    best = None if hunt.best is None else _key(hunt, hunt.best)
    for place in np.flatnonzero(hunt.low <= hunt.table.mosts).tolist():
        if best is not None and hunt.low[place] > best[0]:
            continue
        for found in _by_rules(hunt, place):
            key = _key(hunt, found)
            if best is None or key < best:
                hunt.best, best = found, key


def _by_rules(hunt: hunts.Hunt, place: int) -> Iterator[hunts.Best]:
    target = hunt.table[place]
    first = int(hunt.table.first[place])
    rows = {session_id: first + i for i, session_id in enumerate(hunt.table.ids_at(place))}
    for rule in greedy.RULES:
        victims = rule(target)
        if victims is not None and len(victims) <= int(hunt.table.mosts[place]):
            yield hunt.set_of(place, np.array(sorted(rows[victim.session_id] for victim in victims)))


def _key(hunt: hunts.Hunt, best: hunts.Best) -> tuple[int, int, list[int], int]:
    return len(best.rows), best.weight, hunt.starts_of(best), int(hunt.terms.line[best.place])


def _proof(hunt: hunts.Hunt, count: int, is_best: bool) -> proofs.Proof:
    """Return what is proved when the answer has ``count`` victims."""
    low = hunt.low.tolist()
    kind = proofs.Bound.SINGLE if hunt.single.min() == min(low) else proofs.Bound.TOGETHER
    by_bound, by_search = proofs.ruled_out(zip(hunt.table.sizes.tolist(), low, strict=True), hunt.fewest)
    beyond = sum(bound > count for bound in low)
    return proofs.Proof(hunt.fewest, is_best, min(low), kind, len(low), beyond, by_bound, by_search)
