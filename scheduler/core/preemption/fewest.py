"""
The answer of the fewest victims: a hunt over all nodes, at its budget the simple rules, and what was proved.

Source: DESIGN 5.3, 7.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from scheduler.core import entities, proofs
from scheduler.core.preemption import greedy, hunts, minimal_set, policy, preparing, tables

Array = tables.Array


@dataclasses.dataclass(frozen=True, slots=True)
class Known:
    """What is known of every node when an answer is given."""

    sizes: Array  #: (nodes,) candidates
    low: Array  #: (nodes,) lower bound of the number of victims
    single: Array  #: (nodes,) the same by single amounts alone


def select(
    table: tables.Table,
    problem: policy.Problem,
    weight: Array,
    line: Array,
    *,
    known: Sequence[hunts.Best] = (),
) -> policy.Answer | None:
    """
    Return the fewest victims, then the least weight, then the best start times, then the node first in line.

    At the budget the best of what was found and of the simple rules' answers is returned, unproved.

    Args:
        table: the problem's targets.
        problem: its order and its steps.
        weight: of each candidate of the table.
        line: for each node what equal nodes are compared by, less = better; no two alike.
        known: sets of the table that were found before.
    """
    hunt = a_hunt(table, problem, (weight, line), minimal_set.Budget(problem.steps, problem.meter))
    is_best = True
    try:
        hunt.run()
    except minimal_set.BudgetSpent:
        is_best = False
        _try(hunt, known)
        _try_simple_rules(hunt)
    return answer(hunt, Known(table.sizes, hunt.low, hunt.single), is_best=is_best)


def a_hunt(
    table: tables.Table, problem: policy.Problem, terms: tuple[Array, Array], budget: minimal_set.Budget
) -> hunts.Hunt:
    """Return a hunt for the fewest; ``terms`` are weight and line as ``select`` has them."""
    sign = -1 if problem.order is entities.PreemptionOrder.NEWEST else 1
    weight, line = terms
    return hunts.Hunt(table, preparing.Terms(weight, sign * table.columns.start, line), budget)


def answer(hunt: hunts.Hunt, known: Known, *, is_best: bool) -> policy.Answer | None:
    """Return what a hunt has found, with what is proved of it over all nodes known; None when it found nothing."""
    best, own = hunt.best, hunt.table.columns
    if best is None:
        return None
    ids = sorted(zip(own.value[best.rows].tolist(), own.ids[best.rows].tolist(), strict=True))
    node_id = int(hunt.table.heads.ids[best.place])
    proof = _proof(known, hunt.fewest, len(ids), is_best=is_best)
    return policy.Answer(node_id, tuple(i for _, i in ids), is_best, hunt.budget.used, proof)


def _try(hunt: hunts.Hunt, sets: Iterable[hunts.Best]) -> None:
    """Take the best of some sets where it is better than what was found."""
    for found in sets:
        if hunt.best is None or hunt.key_of(found) < hunt.key_of(hunt.best):
            hunt.best = found


def _try_simple_rules(hunt: hunts.Hunt) -> None:
    """Take the best of the simple rules' answers where it is better than what was found."""
    for place in np.flatnonzero(hunt.low <= hunt.table.mosts).tolist():
        if hunt.best is None or hunt.low[place] <= len(hunt.best.rows):
            _try(hunt, _by_rules(hunt, place))


def _by_rules(hunt: hunts.Hunt, place: int) -> Iterator[hunts.Best]:
    target = hunt.table[place]
    first = int(hunt.table.first[place])
    rows = {session_id: first + i for i, session_id in enumerate(hunt.table.ids_at(place))}
    for rule in greedy.RULES:
        victims = rule(target)
        if victims is not None and len(victims) <= int(hunt.table.mosts[place]):
            yield hunt.set_of(place, np.array(sorted(rows[victim.session_id] for victim in victims)))


def _proof(known: Known, fewest: int, count: int, *, is_best: bool) -> proofs.Proof:
    """Return what is proved when the answer has ``count`` victims."""
    least, low = int(known.low.min()), np.minimum(known.low, fewest)
    kinds, times = np.unique(known.sizes * (fewest + 1) + low, return_counts=True)
    nodes = zip(
        (kinds // (fewest + 1)).tolist(), (kinds % (fewest + 1)).tolist(), times.tolist(), strict=True
    )
    kind = proofs.Bound.SINGLE if int(known.single.min()) == least else proofs.Bound.TOGETHER
    by_bound, by_search = proofs.ruled_out(nodes, fewest)
    beyond = int((known.low > count).sum())
    return proofs.Proof(fewest, is_best, least, kind, len(known.low), beyond, by_bound, by_search)
