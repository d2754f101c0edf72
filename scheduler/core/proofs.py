"""
What a search has proved of its answer, in numbers that a reader can check.

A set is ruled out when it has fewer members than are proved to be needed: by a bound where the node's bound alone
says so, else by the search. Counted are the non-empty sets of candidates of one node each. Source: DESIGN 5.3, 7.
"""

from __future__ import annotations

import dataclasses
import enum
import math
from collections.abc import Iterable


class Bound(enum.StrEnum):
    """How the least number was bounded before any search."""

    SINGLE = "single"  #: by the largest amounts of one kind
    TOGETHER = "together"  #: by the largest amounts of several kinds together, in parts of what is short


@dataclasses.dataclass(frozen=True, slots=True)
class Proof:
    """What is proved of one answer."""

    fewest: int  #: no set of fewer victims suffices on any node
    is_best: bool  #: nor is there a better one of that size
    bound: int  #: what the bounds alone say of the number
    bound_kind: Bound
    nodes: int  #: with legal candidates
    nodes_by_bound: int  #: of them ruled out by a bound: they need more victims than the answer has
    sets_by_bound: int  #: smaller sets ruled out by bounds
    sets_by_search: int  #: smaller sets ruled out by the search


def smaller_sets(candidates: int, count: int) -> int:
    """Return how many non-empty sets of fewer than ``count`` of these candidates there are."""
    return sum(math.comb(candidates, size) for size in range(1, min(count, candidates + 1)))


def ruled_out(nodes: Iterable[tuple[int, int, int]], fewest: int) -> tuple[int, int]:
    """
    Return how many sets of fewer than ``fewest`` are ruled out: (by bounds, by search).

    Args:
        nodes: how many candidates a node has, what its bound says of the number, and how many nodes have both alike.
        fewest: proved.
    """
    by_bound = total = 0
    for candidates, bound, times in nodes:
        total += times * smaller_sets(candidates, fewest)
        by_bound += times * smaller_sets(candidates, min(bound, fewest))
    return by_bound, total - by_bound
