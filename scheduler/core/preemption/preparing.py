"""
From nodes with bounds to the items of a search: who can be in a set at all, and in which order they are tried.

Left out are candidates that no set of the size (and within the cap) can use, and those with as many dominators as
the size: a dominator gives at least as much everywhere and comes before in (weight, start, id). In a set that holds
a dominated one some dominator is not used; exchanging the two makes the set better, so it was not the best. Equal
candidates stand side by side and are taken as a prefix. Source: DESIGN 5.3; PERFORMANCE 5, step 4.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import numpy as np

from scheduler.core.preemption import bounds, minimal_set, tables

Array = tables.Array
#: Numbers that one search tabulates at most, and comparisons for dominance; beyond it nodes are taken in turns, and
#: dominance is left out.
CELLS = 1 << 20
#: Candidates among which dominance is not worth looking for.
_FEW = 6


@dataclasses.dataclass(frozen=True, slots=True)
class Terms:
    """By what sets of one size are compared, for each candidate of the table."""

    weight: Array  #: whole numbers of which the sum is least
    start: Array  #: start times; sorted lists are compared item by item, less is better
    line: Array  #: for each node its place in the order in which equal nodes are compared


@dataclasses.dataclass(frozen=True, slots=True)
class Part:
    """Nodes of about one size, with what is known of each."""

    field: bounds.Field
    low: Array  #: (nodes,) lower bound of the count
    most: Array  #: (nodes,) how many may be stopped

    def at(self, count: int) -> Part:
        """Return the nodes on which ``count`` victims may be stopped and may suffice."""
        return self.only((self.low <= count) & (count <= self.most))

    def only(self, is_open: Array) -> Part:
        """Return some of the nodes."""
        if is_open.all():
            return self
        nodes = np.flatnonzero(is_open)
        return Part(self.field.only(nodes), self.low[nodes], self.most[nodes])


@dataclasses.dataclass(frozen=True, slots=True)
class Open:
    """Nodes on which the proved count may suffice."""

    field: bounds.Field
    is_usable: Array  #: (nodes, width) who can be in a set
    least: Array  #: (nodes,) what a set weighs at least


@dataclasses.dataclass(frozen=True, slots=True)
class Ready:
    """Items of a search, and whose they are."""

    items: minimal_set.Items
    rows: Array  #: (nodes, width) the candidate's row in the table
    places: Array  #: (nodes,) where each node stands in the table


def batches(field: bounds.Field, count: int) -> Iterator[slice]:
    """Yield slices of the nodes that are small enough for one search of sets of ``count``."""
    nodes, width = field.index.shape
    step = max(1, CELLS // (max(1, width) * (count + 1) * (field.need.shape[1] + 1)))
    for first in range(0, nodes, step):
        yield slice(first, first + step)


def usable(field: bounds.Field, is_usable: Array, terms: Terms, count: int, cap: int | None) -> Array:
    """
    Say which candidates can be in a sufficient set of ``count`` within the cap: (nodes, width).

    Args:
        field: the nodes.
        is_usable: which can be in a sufficient set, the cap aside.
        terms: the weights.
        count: size of the set.
        cap: of its summed weight; None = any.
    """
    weight = terms.weight[field.index]
    for _ in range(2):
        before = int(is_usable.sum())
        if cap is not None:
            is_usable = within(weight, is_usable, count, cap)
        is_usable = is_usable & (is_usable.sum(axis=1) >= count)[:, None]
        if int(is_usable.sum()) == before:
            break
        is_usable = is_usable & bounds.usable(bounds.masked(field, is_usable), count)
    enough: Array = is_usable & (is_usable.sum(axis=1) >= count)[:, None]
    return enough


def of_weight(one: Open, terms: Terms, count: int, weight: int) -> Open:
    """Return the nodes that may have a set of ``count`` within this weight, with those who can be in one."""
    nodes = np.flatnonzero(one.least <= weight)
    field = one.field.only(nodes)
    is_usable = usable(field, one.is_usable[nodes], terms, count, weight)
    left = np.flatnonzero(is_usable.any(axis=1))
    return Open(field.only(left), is_usable[left], one.least[nodes[left]])


def within(weight: Array, is_usable: Array, count: int, cap: int | Array) -> Array:
    """Say which of the usable can be in a set of ``count`` whose weight is within the cap: (nodes, width)."""
    others = bounds.least_sums(weight, is_usable, count - 1, never_of(weight, count))
    found: Array = is_usable & (weight + others[:, None] <= cap)
    return found


def never_of(weight: Array, count: int) -> int:
    """Return more than any ``count`` of the weights sum to."""
    return (abs(int(weight.max(initial=0))) + abs(int(weight.min(initial=0)))) * count + 1


def by_cover(field: bounds.Field, is_usable: Array, terms: Terms, count: int) -> Ready | None:
    """Return the usable candidates, those first that cover most; None when no node has enough of them."""
    cover = field.reach[:, field.searched - 1]
    shape = (field.parts * (np.arange(field.parts.shape[1]) * 2 + 3)[:, None]).sum(axis=1)
    start, weight = (sortable(column[field.index]) for column in (terms.start, terms.weight))
    order = np.lexsort((start, weight, shape, -sortable(cover), ~is_usable), axis=-1)
    return _ready(field, (is_usable, order), terms, count, has_twins=True)


def by_start(field: bounds.Field, is_usable: Array, terms: Terms, count: int) -> Ready | None:
    """Return the usable candidates, those first whose start goes first; None when no node has enough."""
    order = np.lexsort((sortable(terms.start[field.index]), ~is_usable), axis=-1)
    return _ready(field, (is_usable, order), terms, count, has_twins=False)


def sortable(numbers: Array) -> Array:
    """Return numbers in the same order that fit 64 bits."""
    if numbers.dtype != object:
        return numbers
    return np.unique(numbers, return_inverse=True)[1].reshape(numbers.shape)


def _ready(
    field: bounds.Field, ordered: tuple[Array, Array], terms: Terms, count: int, *, has_twins: bool
) -> Ready | None:
    is_usable, order = ordered
    sizes = is_usable.sum(axis=1)
    if count > 1 and int(sizes.max(initial=0)) > _FEW:
        width = int(sizes.max())
        is_kept = np.arange(width) < sizes[:, None]
        is_kept &= _undominated(field, (order[:, :width], is_kept), terms, count)
        order = np.take_along_axis(order[:, :width], np.argsort(~is_kept, axis=1, kind="stable"), axis=1)
        sizes = is_kept.sum(axis=1)
    nodes = np.flatnonzero(sizes >= count)
    if not len(nodes):
        return None
    sizes = sizes[nodes]
    return _cut(field.only(nodes), order[nodes, : int(sizes.max())], sizes, terms, has_twins=has_twins)


def _cut(field: bounds.Field, order: Array, sizes: Array, terms: Terms, *, has_twins: bool) -> Ready:
    rows = np.take_along_axis(field.index, order, axis=1)
    is_real = np.arange(order.shape[1]) < sizes[:, None]
    weight = terms.weight[rows]
    weight = np.where(is_real, weight, weight.max(initial=0))
    goals = slice(field.searched)
    reach = np.take_along_axis(field.reach[:, goals], order[:, None, :], axis=2) * is_real[:, None, :]
    gives = np.ascontiguousarray(reach.transpose(0, 2, 1))
    twin = _twins(gives, weight) if has_twins else None
    return Ready(minimal_set.Items(field.goal[:, goals], gives, weight, sizes, twin), rows, field.places)


def timed(ready: Ready, terms: Terms, rows: Array, count: int) -> tuple[Ready, int]:
    """
    Return the one node's candidates with weights that compare start times after the weight, and a cap.

    The sooner a time, the more candidates of that time are wanted, before anything is asked of later ones: each of
    them takes off more than all of later times together. Equal times are why the first set in the order of the
    times need not be the best: the order of equal ones says nothing of what follows them.

    Args:
        ready: of one node, ordered by start.
        terms: of all candidates.
        rows: a set of ``count``; the cap lets only better ones through.
        count: how many are taken.
    """
    own = ready.rows[0]
    starts, weights = terms.start[own].tolist(), terms.weight[own].tolist()
    later = {time: place for place, time in enumerate(sorted(set(starts), reverse=True))}
    unit = (count + 1) ** (len(later) + 1)
    weighed = {
        row: weight * unit - (count + 1) ** later[start]
        for row, weight, start in zip(own.tolist(), weights, starts, strict=True)
    }
    fits = count * max(map(abs, weighed.values())) < tables.SAFE
    column = np.array([[weighed[row] for row in own.tolist()]], dtype=np.int64 if fits else object)
    cap = sum(weighed[row] for row in rows.tolist()) - 1
    return Ready(dataclasses.replace(ready.items, weight=column), ready.rows, ready.places), cap


def of_starts(ready: Ready, terms: Terms, starts: list[int]) -> Ready:
    """
    Return the one node's candidates that start at these times, by row, so that the first set has the lowest ids.

    Of each time at most as many may be taken as it is named.
    """
    times = sorted(set(starts))
    own = terms.start[ready.rows[0, : int(ready.items.sizes[0])]].tolist()
    kept = [place for place, start in enumerate(own) if start in times]
    kept.sort(key=lambda place: int(ready.rows[0, place]))
    items, line = ready.items, np.array(kept)
    chosen = minimal_set.Items(
        items.need,
        items.gives[:, line],
        items.weight[:, line],
        np.array([len(kept)]),
        group=np.array([[times.index(own[place]) for place in kept]]),
        quota=np.array([starts.count(time) for time in times]),
    )
    return Ready(chosen, ready.rows[:, line], ready.places)


def _twins(gives: Array, weight: Array) -> Array:
    is_twin = np.zeros(weight.shape, dtype=bool)
    is_twin[:, 1:] = (gives[:, 1:] == gives[:, :-1]).all(axis=2) & (weight[:, 1:] == weight[:, :-1])
    return is_twin


def _undominated(field: bounds.Field, ordered: tuple[Array, Array], terms: Terms, count: int) -> Array:
    """Say which of the candidates in this order have fewer than ``count`` dominators: (nodes, width)."""
    order, is_real = ordered
    (nodes, width), size = order.shape, field.need.shape[1]
    if nodes * width * width * size > 16 * CELLS:
        return is_real
    rows = np.take_along_axis(field.index, order, axis=1)
    weight, start = sortable(terms.weight[rows]), sortable(terms.start[rows])
    ranked = np.lexsort((rows, start, weight, ~is_real), axis=-1)
    line = np.take_along_axis(order, ranked, axis=1)
    gives = np.take_along_axis(field.reach[:, :size], line[:, None, :], axis=2)
    is_above = np.tri(width, k=-1, dtype=bool).T & np.take_along_axis(is_real, ranked, axis=1)[:, :, None]
    for place in range(size):
        is_above &= gives[:, place, :, None] >= gives[:, place, None, :]
    few = np.empty_like(is_real)
    np.put_along_axis(few, ranked, is_above.sum(axis=1) < count, axis=1)
    return few
