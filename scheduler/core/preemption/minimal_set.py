"""
The exact best sufficient sets of one size, on one node or on many at once.

Depth first over the candidates in a fixed order, but by blocks: all partial sets of a block are extended by one
candidate together, and an extension is dropped when the largest amounts that can still follow do not reach the
need, or when the least weights that must still follow exceed the cap. Blocks are taken in the order of the
candidates, so that the first set found is the first in that order. Every extension that is looked at counts as
one step of the budget; never time. Source: DESIGN 5.3; XCE spec AC3.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import numpy as np

from scheduler.core import errors
from scheduler.core.preemption import policy, tables

Array = tables.Array
#: Extensions that are looked at together: enough that NumPy's calls cost little each, few enough for the cache.
BLOCK = 4096


class BudgetSpent(errors.CoreError):
    """The search steps are used up; what was found so far stands, unproved."""


class PatienceSpent(errors.CoreError):
    """More steps than an easy question takes: it is worth while to think before searching on."""


class Budget:
    """Search steps that one search may spend: those that are left of a question's, where these are metered."""

    __slots__ = ("meter", "patience", "steps", "used")

    def __init__(self, steps: int, meter: policy.Meter | None = None) -> None:
        self.meter = meter or policy.Meter()
        self.steps = max(0, steps - self.meter.spent)
        self.used = 0
        self.patience: int | None = None  #: steps at which ``PatienceSpent`` is raised; None = never

    def spend(self, steps: int = 1) -> None:
        """Count steps; BudgetSpent when so many are not left, PatienceSpent when patience ends before."""
        if self.patience is not None and self.used + steps > self.patience:
            raise PatienceSpent(f"{self.used} steps did not suffice")
        if self.used + steps > self.steps:
            raise BudgetSpent(f"search stopped after {self.used} of {self.steps} steps")
        self.used += steps
        self.meter.spent += steps


@dataclasses.dataclass(frozen=True, slots=True)
class Items:
    """The candidates of some nodes, in the order in which they are tried, filled up to one width."""

    need: Array  #: (nodes, amounts)
    gives: Array  #: (nodes, width, amounts)
    weight: Array  #: (nodes, width)
    sizes: Array  #: (nodes,) candidates that are not filling
    is_twin: Array | None = None  #: (nodes, width) equal to its neighbour before: taken only after that one
    group: Array | None = None  #: (nodes, width) a group of which at most ``quota`` may be taken
    quota: Array | None = None  #: (groups,)


@dataclasses.dataclass(frozen=True, slots=True)
class Found:
    """A sufficient set: the node, the places of its candidates in the order of the items, and its weight."""

    node: int
    places: Array
    weight: int


@dataclasses.dataclass(slots=True)
class _Rows:
    """Partial sets."""

    chosen: Array  #: (rows, depth) flat places
    rest: Array  #: (rows, amounts) still needed
    weight: Array  #: (rows,)
    last: Array  #: (rows,) flat place of the last one taken
    end: Array  #: (rows,) flat place behind the node's last candidate

    def only(self, some: slice | Array) -> _Rows:
        return _Rows(self.chosen[some], self.rest[some], self.weight[some], self.last[some], self.end[some])


class Search:
    """All sufficient sets of ``count`` candidates within a cap of summed weight."""

    def __init__(self, items: Items, count: int, budget: Budget) -> None:
        self.items, self.count, self.budget = items, count, budget
        self.cap: int | None = None
        nodes, width = items.weight.shape
        self._width = width
        shape = nodes * width, items.need.shape[1]
        self._gives = items.gives.reshape(shape)
        self._weight = items.weight.ravel()
        self._twin = None if items.is_twin is None else items.is_twin.ravel()
        self._group = None if items.group is None else items.group.ravel()
        self._tops = [one.reshape(shape) for one in _after(items.gives, count)]
        self._cheap = [-one.ravel() for one in _after(-items.weight[:, :, None], count)]

    def first(self, cap: int | None = None) -> Found | None:
        """Return the first set in the order of the items, or None."""
        self.cap = cap
        for leaves in self._leaves():
            return self._found(leaves, 0)
        return None

    def _found(self, leaves: _Rows, row: int) -> Found:
        chosen = leaves.chosen[row]
        return Found(int(chosen[0]) // self._width, chosen % self._width, int(leaves.weight[row]))

    def _leaves(self) -> Iterator[_Rows]:
        """Yield sufficient sets, block by block, each within the cap as it is then."""
        stack = [self._roots()]
        while stack:
            rows = stack.pop()
            now, later = self._split(rows)
            if later is not None:
                stack.append(later)
            children = self._extend(now)
            if not len(children.last):
                continue
            if children.chosen.shape[1] == self.count:
                yield children
            else:
                stack.append(children)

    def _roots(self) -> _Rows:
        nodes, width = self.items.weight.shape
        base = np.arange(nodes) * width
        none = np.zeros((nodes, 0), dtype=np.int64)
        weight = np.zeros(nodes, dtype=self._weight.dtype)
        return _Rows(none, self.items.need, weight, base - 1, base + self.items.sizes)

    def _split(self, rows: _Rows) -> tuple[_Rows, _Rows | None]:
        """Return as many rows as make one block, and the others."""
        totals = np.cumsum(self._open(rows))
        fit = max(1, int(np.searchsorted(totals, BLOCK, side="right")))
        if fit >= len(totals):
            return rows, None
        return rows.only(slice(fit)), rows.only(slice(fit, None))

    def _open(self, rows: _Rows) -> Array:
        """Return how many candidates each row can be extended by, enough behind them for the rest."""
        missing = self.count - rows.chosen.shape[1]
        opened: Array = np.maximum(rows.end - missing - rows.last, 0)
        return opened

    def _extend(self, rows: _Rows) -> _Rows:
        opened = self._open(rows)
        total = int(opened.sum())
        self.budget.spend(total)
        row = np.repeat(np.arange(len(opened)), opened)
        before = np.cumsum(opened) - opened
        place = np.arange(total) - np.repeat(before - rows.last - 1, opened)
        missing = self.count - rows.chosen.shape[1] - 1
        weight = rows.weight[row] + self._weight[place]
        is_open = self._may_take(rows, row, place)
        if self.cap is not None:
            is_open &= weight + self._cheap[missing][place] <= self.cap
        kept = np.flatnonzero(is_open)
        row, place, weight = row[kept], place[kept], weight[kept]
        rest = rows.rest[row] - self._gives[place]
        is_open = (rest <= self._tops[missing][place]).all(axis=1)
        row, place = row[is_open], place[is_open]
        chosen = np.concatenate((rows.chosen[row], place[:, None]), axis=1)
        return _Rows(chosen, rest[is_open], weight[is_open], place, rows.end[row])

    def _may_take(self, rows: _Rows, row: Array, place: Array) -> Array:
        is_open = np.ones(len(row), dtype=bool)
        if self._twin is not None:
            is_open &= ~self._twin[place] | (rows.last[row] == place - 1)
        if self._group is not None and self.items.quota is not None:
            own = self._group[place]
            taken = (self._group[rows.chosen[row]] == own[:, None]).sum(axis=1)
            is_open &= taken < self.items.quota[own]
        return is_open


def _after(amounts: Array, count: int) -> list[Array]:
    """
    Return, for c = 0 .. count - 1, the sum of the c largest amounts behind each place of its node.

    The running maximum displaces what it passes; the displaced values' running maximum is the second largest, and so
    on.

    Args:
        amounts: (nodes, width, kinds).
    """
    none = np.zeros_like(amounts)
    sums, stream = [none], amounts[:, ::-1]
    lowest = stream.min(axis=1, keepdims=True) - 1
    for _ in range(count - 1):
        top = np.maximum.accumulate(stream, axis=1)
        before = np.concatenate((np.broadcast_to(lowest, top[:, :1].shape), top[:, :-1]), axis=1)
        sums.append(sums[-1] + _behind(top))
        stream = np.minimum(stream, before)
    return sums


def _behind(top: Array) -> Array:
    """Turn values of reversed places up to and with each into values of what stands behind it."""
    shifted = np.zeros_like(top)
    shifted[:, 1:] = top[:, :-1]
    return shifted[:, ::-1]
