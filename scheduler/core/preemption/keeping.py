"""
The fewest victims for one more preemptor of a kind that has asked before.

A node that has not changed since has the same sets, so what bounded them then still does: by number, weight, start
times and the node's place, in the order in which sets are compared. Looked at again are the nodes that changed and,
of the others, those with the best bounds; then those whose bound comes before the best set found, if there are any.
Source: DESIGN 5.3; PERFORMANCE 8 (a full round).
"""

from __future__ import annotations

import dataclasses
import heapq
from collections.abc import Iterable, Sequence

import numpy as np

from scheduler.core.preemption import fewest, hunts, minimal_set, policy, tables

Array = tables.Array
#: Unchanged nodes that are looked at first, the best bounds first.
_FIRST = 16
#: What is known of the sets of one node: none of them compares less.
Bound = tuple[object, ...]


class Kept:
    """
    What is known of each node of a group for preemptors of one kind, the nodes by name.

    Args:
        nodes: how many nodes the group has.
        held: how many rows the roster has.
    """

    def __init__(self, nodes: int, held: int) -> None:
        self._versions: Array = np.full(nodes, -1, dtype=np.int64)
        self.is_helpful: Array = np.zeros(held, dtype=bool)  #: rows of the roster
        self.sizes: Array = np.zeros(nodes, dtype=np.int64)  #: how many are helpful
        self.is_known: Array = np.zeros(nodes, dtype=bool)  #: ``bound`` holds
        self.bound: list[Bound] = [()] * nodes
        self.low: Array = np.zeros(nodes, dtype=np.int64)
        self.single: Array = np.zeros(nodes, dtype=np.int64)

    def follow(self, versions: Array) -> Array:
        """Say which nodes changed since the last time, and forget what was known of them: (nodes,)."""
        changed: Array = np.asarray(self._versions != versions)
        self._versions = versions
        self.is_known &= ~changed
        return changed

    def learn(self, hunt: hunts.Hunt) -> None:
        """Remember what a hunt that came to its end has found of its nodes."""
        places = hunt.terms.line
        self.low[places], self.single[places] = hunt.low, hunt.single
        bounds = hunt.node_bounds()
        for place, low, bound in zip(places.tolist(), hunt.low.tolist(), bounds, strict=True):
            self.bound[place] = bound or (low,)
        self.is_known[places] = True


def select(source: tables.Source, kept: Kept, problem: policy.Problem) -> policy.Answer | None:
    """
    Return the fewest victims over all nodes, as ``fewest.select`` does; asks of few nodes where most are known.

    Args:
        source: the problem's targets, whose weight is their value alone.
        kept: what earlier decisions have found out of them.
        problem: its order and its steps.
    """
    budget = minimal_set.Budget(problem.steps)
    nodes = np.flatnonzero(source.sizes)
    asked = nodes[~kept.is_known[nodes]]
    others = nodes[kept.is_known[nodes]].tolist()
    joined = heapq.nsmallest(_FIRST, others, key=kept.bound.__getitem__)
    hunt = _a_hunt(source, problem, budget, [*asked.tolist(), *joined])
    tried = [hunt]
    try:
        hunt.run()
        before = _before(hunt, kept, set(others).difference(joined))
        if before:
            hunt = _a_hunt(source, problem, budget, [*asked.tolist(), *joined, *before])
            tried.append(hunt)
            hunt.run()
    except minimal_set.BudgetSpent:
        return _among_all(source, problem, tried)
    kept.learn(hunt)
    known = fewest.Known(source.sizes[nodes], kept.low[nodes], kept.single[nodes])
    return fewest.answer(hunt, known, is_best=True)


def _a_hunt(
    source: tables.Source, problem: policy.Problem, budget: minimal_set.Budget, places: list[int]
) -> hunts.Hunt:
    table = source.part(np.array(places, dtype=np.int64))
    return fewest.a_hunt(table, problem, (table.columns.value, table.heads.line), budget)


def _before(hunt: hunts.Hunt, kept: Kept, places: Iterable[int]) -> list[int]:
    """Return the nodes that may have a better set than was found."""
    if hunt.best is None:
        return list(places)
    key: Bound = hunt.key_of(hunt.best)
    return [place for place in places if kept.bound[place] < key]


def _among_all(
    source: tables.Source, problem: policy.Problem, tried: Sequence[hunts.Hunt]
) -> policy.Answer | None:
    """Return the best of what was found and of what the steps that are left find on all nodes."""
    table, used = source.whole(), tried[-1].budget.used
    rest = dataclasses.replace(problem, steps=problem.steps - used)
    known = [_within(table, hunt, hunt.best) for hunt in tried if hunt.best is not None]
    found = fewest.select(table, rest, table.columns.value, table.heads.line, known=known)
    return None if found is None else dataclasses.replace(found, steps=found.steps + used)


def _within(table: tables.Table, hunt: hunts.Hunt, best: hunts.Best) -> hunts.Best:
    """Return a set that was found among some of the nodes as one of all."""
    place = int(np.searchsorted(table.heads.line, hunt.terms.line[best.place]))
    moved = int(table.first[place]) - int(hunt.table.first[best.place])
    return dataclasses.replace(best, place=place, rows=best.rows + moved)
