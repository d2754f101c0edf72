"""
What can be said of many nodes at once before any search: bounds of the number of victims.

Lower: for each amount, each pair of amounts and all together, the largest candidates must reach the need; pairs
and the whole compare in parts of the need, rounded up, so that rounding never rules out what suffices. Upper:
on each node take what covers most of the rest. A candidate is usable in a set of a size when the largest others
make up what it does not give. All integers. Source: DESIGN 5.3; PERFORMANCE 5, steps 2 and 3.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator

import numpy as np

from scheduler.core.preemption import tables

Array = tables.Array
#: One whole need in parts; a need is first cut to 40 bits, so that products stay within 64.
UNIT = 1 << 20
_BITS = 40
#: The bound of a node where all candidates together do not reach the need.
NEVER = 1 << 31


@dataclasses.dataclass(frozen=True, slots=True)
class Field:
    """
    Some nodes of a table side by side, filled up to one width with candidates that give nothing.

    A goal is an amount, or several together in parts: first the amounts, then all together, then pairs.
    """

    places: Array  #: (nodes,) where each node stands in the table
    index: Array  #: (nodes, width) the candidate's row in the table's columns
    sizes: Array  #: (nodes,) candidates that are not filling
    need: Array  #: (nodes, amounts)
    parts: Array  #: (nodes, amounts, width) what each gives in ``UNIT`` parts of the need, rounded up
    goal: Array  #: (nodes, goals)
    reach: Array  #: (nodes, goals, width) what each candidate gives of each goal
    tops: Array  #: (nodes, goals, width) the sum of the 1, 2, ... largest of ``reach``

    def only(self, rows: Array | slice) -> Field:
        """Return some of the nodes."""
        return Field(*(getattr(self, one.name)[rows] for one in dataclasses.fields(self)))


def fields(table: tables.Table) -> Iterator[Field]:
    """Yield all nodes, those of about the same number of candidates together."""
    widths = np.frexp(np.maximum(table.sizes, 1) - 0.5)[1]
    for width in sorted(set(widths.tolist())):
        yield field(table, np.flatnonzero(widths == width))


def field(table: tables.Table, places: Array) -> Field:
    """Return some nodes side by side."""
    sizes = table.sizes[places]
    line = np.arange(int(sizes.max(initial=0)))
    is_real = line < sizes[:, None]
    index = np.where(is_real, table.first[places][:, None] + line, 0)
    need = table.need[places]
    gives = table.gives[index].transpose(0, 2, 1) * is_real[:, None, :]
    parts = _parts(gives, need)
    goal, reach = need, gives
    if need.shape[1] > 1:
        goal = np.concatenate((need, wholes(need).sum(axis=1)[:, None]), axis=1)
        reach = np.concatenate((gives, parts.sum(axis=1)[:, None]), axis=1)
    return Field(places, index, sizes, need, parts, goal, reach, _tops(reach))


def with_pairs(one: Field) -> Field:
    """Return the nodes with each pair of three or more amounts as a further goal."""
    pairs = list(itertools.combinations(range(one.need.shape[1]), 2))
    if len(pairs) < 2:
        return one
    first, second = (list(side) for side in zip(*pairs, strict=True))
    whole = wholes(one.need)
    goal = np.concatenate((one.goal, whole[:, first] + whole[:, second]), axis=1)
    both = one.parts[:, first] + one.parts[:, second]
    reach, tops = np.concatenate((one.reach, both), axis=1), np.concatenate((one.tops, _tops(both)), axis=1)
    return dataclasses.replace(one, goal=goal, reach=reach, tops=tops)


def wholes(need: Array) -> Array:
    """Return each need in parts: ``UNIT``, or 0 where nothing is short."""
    whole: Array = np.where(need > 0, UNIT, 0).astype(np.int64)
    return whole


def _parts(gives: Array, need: Array) -> Array:
    if need.dtype == object:
        whole = np.where(need > 0, need, 1)
        return np.asarray(-((-gives * UNIT) // whole[:, :, None]), dtype=np.int64)
    cut = np.maximum(np.frexp(need.astype(np.float64))[1] - _BITS, 0).astype(np.int64)
    whole = np.maximum(need >> cut, 1)
    parts: Array = -((-gives >> cut[:, :, None]) * UNIT // whole[:, :, None])
    return parts


def _tops(reach: Array) -> Array:
    tops: Array = np.cumsum(-np.sort(-reach, axis=2), axis=2)
    return tops


def counts(one: Field) -> tuple[Array, Array]:
    """
    Return lower bounds of the number of victims on each node; ``NEVER`` where all together are not enough.

    Returns:
        The bounds from single amounts, and those from amounts together as well.
    """
    found = (one.tops < one.goal[:, :, None]).sum(axis=2) + 1
    found[found > one.tops.shape[2]] = NEVER
    found[one.goal <= 0] = 0
    return found[:, : one.need.shape[1]].max(axis=1, initial=0), found.max(axis=1, initial=0)


def usable(one: Field, count: int) -> Array:
    """
    Say which candidates can be in a sufficient set of ``count``: (nodes, width).

    A candidate is not when, of some goal, the ``count - 1`` largest others do not give the rest.
    """
    is_usable: Array = np.arange(one.index.shape[1]) < one.sizes[:, None]
    rest = one.goal
    if count > 1:
        rest = rest - one.tops[:, :, min(count - 1, one.tops.shape[2]) - 1]
    for place in range(rest.shape[1]):
        is_usable &= one.reach[:, place] >= rest[:, place, None]
    return is_usable


def masked(one: Field, is_open: Array) -> Field:
    """Return the nodes with candidates that are not open giving nothing."""
    reach = one.reach * is_open[:, None, :]
    return dataclasses.replace(one, reach=reach, tops=_tops(reach))


def least_sums(weights: Array, is_usable: Array, count: int, never: int) -> Array:
    """Return the sum of the ``count`` least weights among the usable of each node; ``never`` where too few."""
    if count > weights.shape[1]:
        return np.full(len(weights), never, dtype=weights.dtype)
    filled = np.where(is_usable, weights, never)
    sums = np.sort(filled, axis=1)[:, :count].sum(axis=1)
    return np.where(is_usable.sum(axis=1) >= count, sums, never)


def piles(one: Field, most: int) -> tuple[Array, Array]:
    """
    Take, on each node, what covers most of the rest in parts of the need, until that suffices on some node.

    Args:
        one: the nodes.
        most: do not take more than so many.

    Returns:
        The nodes on which it suffices, none when nowhere; and what was taken: (nodes, taken), in order.
    """
    nodes = np.arange(len(one.places))
    rest, left = one.need, wholes(one.need)
    is_free = np.arange(one.index.shape[1]) < one.sizes[:, None]
    chosen: list[Array] = []
    while len(chosen) < most and not (rest <= 0).all(axis=1).any():
        cover = np.minimum(one.parts, left[:, :, None]).sum(axis=1)
        pick = np.where(is_free, cover, -1).argmax(axis=1)
        chosen.append(pick)
        given = one.reach[nodes, : rest.shape[1], pick]
        rest = rest - np.where(is_free[nodes, pick][:, None], given, 0)
        left = np.maximum(left - one.parts[nodes, :, pick], 0)
        is_free[nodes, pick] = False
    is_enough = (rest <= 0).all(axis=1)
    return np.flatnonzero(is_enough), np.stack(chosen, axis=1)[is_enough]
