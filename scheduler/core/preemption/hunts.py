"""
The fewest victims over all nodes, then the least summed weight, then the best start times, node, ids. Exact.

Three hunts, each over all nodes that a bound leaves: for the least count at which any set suffices, counting up
from the least bound; at that count for the least weight, each find lowering the cap; at that weight for the best
start times, node by node. Source: DESIGN 5.3; PERFORMANCE 5.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from scheduler.core.preemption import bounds, minimal_set, multipliers, preparing, tables

Array = tables.Array
#: Nodes whose least weight is hunted together at first; four times as many each time.
_FIRST_BATCH = 8
#: Steps after which bounds that cost more are worth their while.
_PATIENCE = 20_000
#: How often what is between the least weight proved and the least found is halved.
_HALVINGS = 12
#: After every start time.
_LATE = np.iinfo(np.int64).max


@dataclasses.dataclass(frozen=True, slots=True)
class Best:
    """A sufficient set: the node's place in the table, and its candidates' rows there."""

    place: int
    rows: Array
    weight: int


class Hunt:
    """
    One search over a table.

    After ``run``, whether it ended or the budget did, ``fewest`` is proved: no fewer victims suffice anywhere.
    """

    def __init__(self, table: tables.Table, terms: preparing.Terms, budget: minimal_set.Budget) -> None:
        self.table, self.terms, self.budget = table, terms, budget
        self.best: Best | None = None
        self.low: Array = np.zeros(len(table), dtype=np.int64)
        self.single = self.low.copy()  #: by single amounts alone
        self.parts = [self._part(field, table.mosts[field.places]) for field in bounds.fields(table)]
        self.parts = [part for part in self.parts if len(part.low)]
        self.fewest = bounds.NEVER
        self.opened: list[
            preparing.Open
        ] = []  #: nodes on which the proved count may suffice, once a set is found
        self._opened: tuple[int, list[tuple[bounds.Field, Array]]] = 0, []

    def _part(self, field: bounds.Field, most: Array) -> preparing.Part:
        """Keep the nodes on which some set suffices."""
        is_open = bounds.is_enough(field)
        self.single[field.places] = self.low[field.places] = np.where(is_open, 1, bounds.NEVER)
        return preparing.Part(field, self.low[field.places], most).only(is_open & (most > 0))

    def run(self) -> None:
        """
        Find the best set into ``best``; None when no node can be made free.

        Raises:
            BudgetSpent: ``best``, if any, is the best so far.
        """
        pile = self._pile()
        most = (
            max((int(part.most.max()) for part in self.parts), default=0) if pile is None else len(pile.rows)
        )
        bounded = [self._bounded(part, most) for part in self.parts]
        self.parts = [part for part in bounded if len(part.low)]
        self.fewest = min((int(part.low.min()) for part in self.parts), default=bounds.NEVER)
        self.budget.patience = _PATIENCE
        try:
            self._search_all(pile)
        except minimal_set.PatienceSpent:
            self.budget.patience = None
            self._sharpen(most)
            self._search_all(pile)

    def _search_all(self, pile: Best | None) -> None:
        self._count_up(pile)
        if self.best is not None:
            self.opened = [self._open(field, is_usable) for field, is_usable in self._at(self.fewest)]
            self._lower_weight(self.opened)
            self._best_starts(self.opened)

    def _sharpen(self, most: int) -> None:
        """Bound the nodes by the best multipliers as well; ``fewest`` stays proved."""
        most = most if self.best is None else len(self.best.rows)
        parts, self.parts, self._opened = self.parts, [], (0, [])
        for part in parts:
            extra = bounds.weighted(part.field, multipliers.of(part.field, most))
            low = np.maximum(part.low, bounds.counts(extra, most)[:, 0])
            self.low[part.field.places] = low
            whole = preparing.Part(bounds.also_searched(part.field, extra), low, part.most)
            self.parts.append(whole.only(low <= np.minimum(most, part.most)))
        self.parts = [part for part in self.parts if len(part.low)]
        least = min((int(part.low.min()) for part in self.parts), default=bounds.NEVER)
        self.fewest = max(self.fewest, least)

    def _bounded(self, part: preparing.Part, most: int) -> preparing.Part:
        """Bound the nodes, and keep those on which ``most`` may suffice: with pairs of amounts as further goals."""
        field, amounts = part.field, part.field.need.shape[1]
        found = bounds.counts(field, most)
        single, low = found[:, :amounts].max(axis=1, initial=0), found.max(axis=1, initial=0)
        self.single[field.places], self.low[field.places] = single, low
        part = preparing.Part(field, low, part.most).only(low <= np.minimum(most, part.most))
        pairs = bounds.pairs(part.field)
        if not len(part.low) or not pairs.goal.shape[1]:
            return part
        low = np.maximum(part.low, bounds.counts(pairs, most).max(axis=1))
        self.low[part.field.places] = low
        whole = preparing.Part(bounds.together(part.field, pairs), low, part.most)
        return whole.only(low <= np.minimum(most, part.most))

    def _at(self, count: int) -> list[tuple[bounds.Field, Array]]:
        """Return the nodes on which ``count`` may suffice, with who can be in a set of so many."""
        if self._opened[0] != count:
            fields = [part.at(count).field for part in self.parts]
            self._opened = count, [(field, bounds.usable(field, count)) for field in fields]
        return self._opened[1]

    def key_of(self, best: Best) -> tuple[int, int, tuple[int, ...], int]:
        """Return what sets are compared by: number, weight, start times, the node's place in line; less is better."""
        return len(best.rows), best.weight, tuple(self.starts_of(best)), int(self.terms.line[best.place])

    def node_bounds(self) -> list[tuple[object, ...]]:
        """Return for each node of the table what none of its sets compares less than, once the hunt is over."""
        found: list[tuple[object, ...]] = [(low,) for low in self.low.tolist()]
        for one in self.opened:
            weight = self.terms.weight[one.field.index]
            is_usable = preparing.within(weight, one.is_usable, self.fewest, one.least[:, None])
            best = self._first_starts(one.field, is_usable)
            lines = self.terms.line[one.field.places].tolist()
            bounds_of = zip(one.field.places.tolist(), one.least.tolist(), best, lines, strict=True)
            for place, least, starts, line in bounds_of:
                found[place] = self.fewest, least, tuple(starts), line
        return found

    # The count

    def _pile(self) -> Best | None:
        """Return the smallest set that is found by taking what covers most of the rest."""
        found: Best | None = None
        for part in self.parts:
            few = int(part.most.max(initial=0)) if found is None else len(found.rows) - 1
            if few < 1:
                break
            rows, chosen = bounds.piles(part.field, few)
            is_allowed = part.most[rows] >= chosen.shape[1]
            taken = np.take_along_axis(part.field.index[rows], chosen, axis=1)[is_allowed]
            if len(taken):
                row = int(self.terms.weight[taken].sum(axis=1).argmin())
                found = self.set_of(int(part.field.places[rows[is_allowed][row]]), taken[row])
        return found

    def set_of(self, place: int, rows: Array) -> Best:
        """Return these candidates of one node as a set."""
        return Best(place, rows, int(self.terms.weight[rows].sum()))

    def _count_up(self, pile: Best | None) -> None:
        """Raise ``fewest`` until a set of that size is found."""
        most = max((int(part.most.max(initial=0)) for part in self.parts), default=0)
        while self.best is None and self.fewest <= most:
            if pile is not None and self.fewest == len(pile.rows):
                self.best = pile
                return
            self.best = self._any_of(self.fewest)
            if self.best is None:
                self.fewest += 1

    def _any_of(self, count: int) -> Best | None:
        for field, is_usable in self._at(count):
            for some in preparing.batches(field, count):
                ready = self._ready(field.only(some), is_usable[some], None)
                if ready is not None and (found := self._search(ready).first()) is not None:
                    return self._of(ready, found)
        return None

    def _ready(self, field: bounds.Field, is_usable: Array, cap: int | None) -> preparing.Ready | None:
        is_usable = preparing.usable(field, is_usable, self.terms, self.fewest, cap)
        return preparing.by_cover(field, is_usable, self.terms, self.fewest)

    def _search(self, ready: preparing.Ready) -> minimal_set.Search:
        return minimal_set.Search(ready.items, self.fewest, self.budget)

    def _of(self, ready: preparing.Ready, found: minimal_set.Found) -> Best:
        return self.set_of(int(ready.places[found.node]), ready.rows[found.node, found.places])

    # The weight

    def _open(self, field: bounds.Field, is_usable: Array) -> preparing.Open:
        weight = self.terms.weight[field.index]
        never = preparing.never_of(weight, self.fewest)
        return preparing.Open(field, is_usable, bounds.least_sums(weight, is_usable, self.fewest, never))

    def _lower_weight(self, opened: Sequence[preparing.Open]) -> None:
        """
        Find the least weight at the proved count: between what is proved and what is found, halving what is between.

        The least that is not ruled out comes first: it is often there, and hardly anybody can be in such a set. Once
        little is between, the rest is asked for at once.
        """
        assert self.best is not None
        times = 0
        while (lower := min(int(one.least.min()) for one in opened)) < self.best.weight:
            between = 0 if not times else self.best.weight - 1 - lower
            cap = lower + (between // 2 if times <= _HALVINGS else between)
            times += 1
            found = self._any_within(opened, cap)
            if found is not None:
                self.best = found
                continue
            for one in opened:
                one.least[one.least <= cap] = cap + 1

    def _any_within(self, opened: Sequence[preparing.Open], cap: int) -> Best | None:
        """Return a set within the cap; best bounds first, so that most nodes are never searched."""
        for one in opened:
            line, place, size = np.argsort(preparing.sortable(one.least), kind="stable"), 0, _FIRST_BATCH
            line = line[one.least[line] <= cap]
            while place < len(line):
                found = self._within_on(one, line[place : place + size], cap)
                if found is not None:
                    return found
                place, size = place + size, size * 8
        return None

    def _within_on(self, one: preparing.Open, nodes: Array, cap: int) -> Best | None:
        field = one.field.only(nodes)
        for some in preparing.batches(field, self.fewest):
            ready = self._ready(field.only(some), one.is_usable[nodes[some]], cap)
            if ready is not None and (found := self._search(ready).first(cap)) is not None:
                return self._of(ready, found)
        return None

    # The start times

    def _best_starts(self, opened: Sequence[preparing.Open]) -> None:
        """Among the sets of the least weight find the one that starts, node and ids put first."""
        assert self.best is not None
        weight, first = self.best.weight, None
        for starts, line, one, row in self._by_starts(opened, weight):
            if first is not None and (starts, line) > first:
                break
            found = self._starts_on(one, row, weight)
            if found is not None:
                key = (self.starts_of(found), line)
                if first is None or key < first:
                    self.best, first = found, key

    def _by_starts(
        self, opened: Sequence[preparing.Open], weight: int
    ) -> list[tuple[list[int], int, preparing.Open, int]]:
        """Return the nodes that may have a set of this weight by the best starts that a set there can have."""
        found: list[tuple[list[int], int, preparing.Open, int]] = []
        for one in (preparing.of_weight(one, self.terms, self.fewest, weight) for one in opened):
            starts = self._first_starts(one.field, one.is_usable)
            lines = self.terms.line[one.field.places].tolist()
            found += [(*each, one, row) for row, each in enumerate(zip(starts, lines, strict=True))]
        return sorted(found, key=lambda one: one[:2])

    def _first_starts(self, field: bounds.Field, is_usable: Array) -> list[list[int]]:
        """Return the best start times that a set of the usable can have on each node, sorted."""
        starts = np.where(is_usable, self.terms.start[field.index], _LATE)
        found: list[list[int]] = np.sort(starts, axis=1)[:, : self.fewest].tolist()
        return found

    def starts_of(self, best: Best) -> list[int]:
        """Return the sorted start times of a set."""
        starts: list[int] = self.terms.start[best.rows].tolist()
        return sorted(starts)

    def _starts_on(self, one: preparing.Open, row: int, weight: int) -> Best | None:
        """Return the best set of this weight on one node."""
        own = slice(row, row + 1)
        ready = preparing.by_start(one.field.only(own), one.is_usable[own], self.terms, self.fewest)
        found = None if ready is None else self._search(ready).first(weight)
        if ready is None or found is None:
            return None
        best = self._of(ready, found)
        starts = np.sort(self.terms.start[ready.rows], axis=None)
        if (starts[1:] != starts[:-1]).all():
            return best
        timed, cap = preparing.timed(ready, self.terms, best.rows, self.fewest)
        while (found := self._search(timed).first(cap)) is not None:
            best, cap = self._of(timed, found), found.weight - 1
        twins = preparing.of_starts(ready, self.terms, self.starts_of(best))
        again = self._search(twins).first(weight)
        return best if again is None else self._of(twins, again)
