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
from collections.abc import Iterable, Iterator

import numpy as np

from scheduler.core.preemption import tables

Array = tables.Array
#: One whole need in parts; a need is first cut to 40 bits, so that products stay within 64.
UNIT = 1 << 20
_BITS = 40
#: The bound of a node where all candidates together do not reach the need.
NEVER = 1 << 31


#: Up to this width nodes stand side by side whatever their number of candidates.
_NARROW = 16
#: How many numbers are compared at once before the largest are taken by passing through all rather than by sorting.
_MANY = 1 << 10


@dataclasses.dataclass(frozen=True, slots=True)
class Field:
    """
    Some nodes of a table side by side, filled up to one width with candidates that give nothing.

    A goal is an amount, or several together in parts: first the amounts, then all together, then all by multipliers,
    then pairs. Arrays are laid out with the nodes innermost, so that what is asked of all nodes runs along memory.
    """

    places: Array  #: (nodes,) where each node stands in the table
    index: Array  #: (nodes, width) the candidate's row in the table's columns
    sizes: Array  #: (nodes,) candidates that are not filling
    need: Array  #: (nodes, amounts)
    parts: Array  #: (nodes, amounts, width) what each gives in ``UNIT`` parts of the need, rounded up
    goal: Array  #: (nodes, goals)
    reach: Array  #: (nodes, goals, width) what each candidate gives of each goal
    searched: int  #: so many goals, the first ones, a search keeps account of: others prune too little for their cost

    def only(self, rows: Array | slice) -> Field:
        """Return some of the nodes."""
        return Field(
            _only(self.places, rows),
            _only(self.index, rows),
            _only(self.sizes, rows),
            _only(self.need, rows),
            _only(self.parts, rows),
            _only(self.goal, rows),
            _only(self.reach, rows),
            self.searched,
        )


def _only(array: Array, rows: Array | slice) -> Array:
    if isinstance(rows, slice) or array.ndim == 1:
        found: Array = array[rows]
        return found
    if array.ndim == 2:
        return array.T.take(rows, axis=1).T
    return array.transpose(1, 2, 0).take(rows, axis=2).transpose(2, 0, 1)


def _joined(arrays: Iterable[Array]) -> Array:
    """Join arrays of nodes along their second axis, the nodes innermost."""
    return np.moveaxis(np.concatenate([np.moveaxis(one, 0, -1) for one in arrays], axis=0), -1, 0)


def fields(table: tables.Table) -> Iterator[Field]:
    """Yield all nodes, those of about the same number of candidates together."""
    widths = np.frexp(np.maximum(table.sizes, _NARROW) - 0.5)[1]
    for width in sorted(set(widths.tolist())):
        yield field(table, np.flatnonzero(widths == width))


def field(table: tables.Table, places: Array) -> Field:
    """Return some nodes side by side."""
    sizes = table.sizes[places]
    line = np.arange(int(sizes.max(initial=0)))[:, None]
    is_real = line < sizes
    index = np.where(is_real, table.first[places] + line, 0)
    need = np.moveaxis(np.ascontiguousarray(table.need[places].T), 0, 1)
    gives = np.moveaxis(np.take(np.ascontiguousarray(table.gives.T), index, axis=1) * is_real, -1, 0)
    parts = _parts(gives, need)
    goal, reach = need, gives
    if need.shape[1] > 1:
        goal = _joined((need, wholes(need).sum(axis=1)[:, None]))
        reach = _joined((gives, parts.sum(axis=1)[:, None]))
    return Field(places, index.T, sizes, need, parts, goal, reach, goal.shape[1])


def pairs(one: Field) -> Field:
    """Return the nodes with each pair of three or more amounts as the goals; none where there are fewer."""
    sides = list(itertools.combinations(range(one.need.shape[1]), 2))
    sides = sides if len(sides) > 1 else []
    whole, (nodes, width) = wholes(one.need), one.index.shape
    both: Array = np.empty((len(sides), width, nodes), dtype=one.parts.dtype)
    for place, (first, second) in enumerate(sides):
        np.add(one.parts[:, first].T, one.parts[:, second].T, out=both[place])
    goal = whole[:, [first for first, _ in sides]] + whole[:, [second for _, second in sides]]
    return dataclasses.replace(one, goal=goal, reach=np.moveaxis(both, -1, 0))


def weighted(one: Field, multipliers: Array) -> Field:
    """Return the nodes with all amounts together by multipliers, (nodes, amounts), as the only goal."""
    goal = (wholes(one.need) * multipliers).sum(axis=1)[:, None]
    reach = (one.parts * multipliers[:, :, None]).sum(axis=1)[:, None, :]
    return dataclasses.replace(one, goal=goal, reach=reach, searched=1)


def also_searched(one: Field, other: Field) -> Field:
    """Return the nodes with the goals of the other as further ones that a search keeps account of."""
    at = one.searched
    goal, reach = (
        _joined((a[:, :at], b, a[:, at:])) for a, b in ((one.goal, other.goal), (one.reach, other.reach))
    )
    return dataclasses.replace(one, goal=goal, reach=reach, searched=at + other.goal.shape[1])


def together(one: Field, other: Field) -> Field:
    """Return the nodes with the goals of both."""
    return dataclasses.replace(
        one, goal=_joined((one.goal, other.goal)), reach=_joined((one.reach, other.reach))
    )


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


def top_sums(reach: Array, most: int) -> Iterator[Array]:
    """
    Yield the sum of the 1, 2, .. ``most`` largest that candidates give of each goal: (nodes, goals) each.

    Args:
        reach: (nodes, goals, width), 0 or more.
        most: not more than the width.
    """
    total: Array = np.zeros(reach.shape[:2], dtype=reach.dtype)
    for largest in _largest(reach, most):
        total = total + largest
        yield total


def _largest(reach: Array, most: int) -> Iterator[Array]:
    nodes, goals, width = reach.shape
    if nodes * goals < _MANY or most > 8:
        ordered = np.sort(reach, axis=2)
        yield from (ordered[:, :, width - 1 - place] for place in range(most))
        return
    kept: list[Array] = []
    spare = [np.moveaxis(np.empty((goals, nodes), dtype=reach.dtype), 0, 1) for _ in range(2)]
    for place in range(width):
        passing = reach[:, :, place]
        for rank, own in enumerate(kept):
            smaller = spare[rank % 2]  # the other one holds what is passing
            np.minimum(own, passing, out=smaller)
            np.maximum(own, passing, out=own)
            passing = smaller
        if len(kept) < most:
            kept.append(passing.copy(order="K"))
    yield from kept


def counts(one: Field, most: int) -> Array:
    """
    Return lower bounds of the number of victims on each node, goal by goal: (nodes, goals).

    Args:
        one: the nodes.
        most: what needs more than so many is told as ``most + 1``, or as ``NEVER`` where all are not enough.
    """
    most = min(most, one.reach.shape[2])
    found = np.where(one.goal > 0, 1, 0)
    for total in top_sums(one.reach, most):
        found += total < one.goal
    if most == one.reach.shape[2]:
        found[found > most] = NEVER
    return found


def usable(one: Field, count: int) -> Array:
    """
    Say which candidates can be in a sufficient set of ``count``: (nodes, width).

    A candidate is not when, of some goal, the ``count - 1`` largest others do not give the rest.
    """
    width = one.index.shape[1]
    is_usable: Array = np.asarray((np.arange(width)[:, None] < one.sizes).T)
    rest = one.goal
    for total in top_sums(one.reach, min(count - 1, width)):
        rest = one.goal - total
    for place in range(rest.shape[1]):
        is_usable = is_usable & (one.reach[:, place] >= rest[:, place, None])
    return is_usable


def masked(one: Field, is_open: Array) -> Field:
    """Return the nodes with candidates that are not open giving nothing."""
    return dataclasses.replace(one, reach=one.reach * is_open[:, None, :])


def is_enough(one: Field) -> Array:
    """Say on which nodes all candidates together reach the need: (nodes,)."""
    enough: Array = np.asarray((one.reach[:, : one.need.shape[1]].sum(axis=2) >= one.need).all(axis=1))
    return enough


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
    is_free = (np.arange(one.index.shape[1])[:, None] < one.sizes).T
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
