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
from collections.abc import Sequence

import numpy as np

from scheduler.core.preemption import fewest, hunts, minimal_set, policy, tables

Array = tables.Array
#: Unchanged nodes that are looked at first, the best bounds first.
_FIRST = 16
#: What is known of the sets of one node: none of them compares less.
Bound = tuple[object, ...]
#: What a set is compared by: number, weight, start times, place.
Key = tuple[int, int, tuple[int, ...], int]


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
        self._ahead: Array = np.zeros((2, nodes), dtype=np.int64)  #: number and weight of ``bound``
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
        self._ahead[:, places] = np.array([_ahead(self.bound[place]) for place in places.tolist()]).T
        self.is_known[places] = True

    def first(self, places: Array, most: int) -> list[int]:
        """Return some of the nodes, all known, with the best bounds."""
        number, weight = self._ahead[:, places]
        if 0 < most < len(places):
            last = np.lexsort((weight, number))[most - 1 : most]
            places = self._up_to(places, number[last], weight[last])
        return heapq.nsmallest(most, places.tolist(), key=self.bound.__getitem__)

    def before(self, places: Array, key: Key) -> list[int]:
        """Return those of the nodes, all known, whose bound comes before the key of a set."""
        return [place for place in self._up_to(places, key[0], key[1]).tolist() if self.bound[place] < key]

    def _up_to(self, places: Array, number: Array | int, weight: Array | int) -> Array:
        """Return the nodes whose sets may have so many members and so much weight, or less."""
        numbers, weights = self._ahead[:, places]
        found: Array = places[(numbers < number) | ((numbers == number) & (weights <= weight))]
        return found


def _ahead(bound: Bound) -> tuple[object, object]:
    """Return number and weight of a bound; less than any weight where it says nothing of it."""
    return bound[0], bound[1] if len(bound) > 1 else -1


def select(source: tables.Source, kept: Kept, problem: policy.Problem) -> policy.Answer | None:
    """
    Return the fewest victims over all nodes, as ``fewest.select`` does; asks of few nodes where most are known.

    Args:
        source: the problem's targets, whose weight is their value alone.
        kept: what earlier decisions have found out of them.
        problem: its order and its steps.
    """
    budget = minimal_set.Budget(problem.steps, problem.meter)
    nodes = np.flatnonzero(source.sizes)
    asked = nodes[~kept.is_known[nodes]]
    others = nodes[kept.is_known[nodes]]
    joined = kept.first(others, _FIRST)
    hunt = _a_hunt(source, problem, budget, [*asked.tolist(), *joined])
    tried = [hunt]
    try:
        hunt.run()
        before = others.tolist() if hunt.best is None else kept.before(others, hunt.key_of(hunt.best))
        before = [place for place in before if place not in joined]
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


def _among_all(
    source: tables.Source, problem: policy.Problem, tried: Sequence[hunts.Hunt]
) -> policy.Answer | None:
    """Return the best of what was found and of what the steps that are left find on all nodes."""
    table, used = source.whole(), tried[-1].budget.used
    rest = problem if problem.meter else dataclasses.replace(problem, steps=problem.steps - used)
    known = [_within(table, hunt, hunt.best) for hunt in tried if hunt.best is not None]
    found = fewest.select(table, rest, table.columns.value, table.heads.line, known=known)
    return None if found is None else dataclasses.replace(found, steps=found.steps + used)


def _within(table: tables.Table, hunt: hunts.Hunt, best: hunts.Best) -> hunts.Best:
    """Return a set that was found among some of the nodes as one of all."""
    place = int(np.searchsorted(table.heads.line, hunt.terms.line[best.place]))
    moved = int(table.first[place]) - int(hunt.table.first[best.place])
    return dataclasses.replace(best, place=place, rows=best.rows + moved)
