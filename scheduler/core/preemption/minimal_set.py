"""
The exact smallest sufficient set on one node.

Covering problem: choose the fewest candidates whose amounts reach the need in every dimension; then the least
summed weight; then the best start times; then the lowest ids. The count is tried from a lower bound upwards.
For one count candidates with as many dominators as the count are dropped (they cannot be in the best set),
equal shapes stand side by side and are used as a prefix, and a depth-first search is cut by what the rest can
still give and must still cost. Steps are counted, never time. Source: DESIGN 5.3; XCE spec AC3.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Sequence
from typing import Protocol

from scheduler.core import errors


class BudgetSpent(errors.CoreError):
    """The search steps are used up; what was found so far stands, unproved."""


class Budget:
    """Search steps that one decision may spend."""

    __slots__ = ("steps", "used")

    def __init__(self, steps: int) -> None:
        self.steps = steps
        self.used = 0

    def spend(self) -> None:
        """Count one step; BudgetSpent when none is left."""
        if self.used >= self.steps:
            raise BudgetSpent(f"search stopped after {self.steps} steps")
        self.used += 1


@dataclasses.dataclass(frozen=True, slots=True)
class Item:
    """One candidate as the search sees it."""

    gives: tuple[int, ...]
    weight: int  #: what the sum of is least; may be negative
    start: int  #: less is better
    number: int  #: the session's id

    @property
    def rank(self) -> tuple[int, int, int]:
        """Return the order among items that give the same."""
        return self.weight, self.start, self.number


Items = Sequence[Item]


class Gives(Protocol):
    """Whatever gives amounts."""

    @property
    def gives(self) -> tuple[int, ...]:
        """Return the amount given of each dimension."""
        ...


def least_count(need: Sequence[int], items: Sequence[Gives]) -> int | None:
    """
    Return a lower bound of the number of items that reach the need; None when all together do not.

    Cost: O(dimensions x n log n).
    """
    bound = 0
    for place, amount in enumerate(need):
        total = count = 0
        for given in sorted((item.gives[place] for item in items), reverse=True):
            if total >= amount:
                break
            total += given
            count += 1
        if total < amount:
            return None
        bound = max(bound, count)
    return bound


def undominated(items: Items, count: int) -> list[Item]:
    """
    Leave out every item that has at least ``count`` dominators.

    A dominator gives at least as much everywhere and comes before in ``rank``. In a set of ``count`` items
    that holds a dropped one, some dominator is not used; exchanging the two makes the set better, so it was
    not the best.

    Cost: O(n^2 x dimensions).
    """
    ranked = sorted(items, key=lambda item: item.rank)
    kept: list[Item] = []
    for item in ranked:
        above = (other for other in kept if _gives_as_much(other, item))
        if sum(1 for _ in itertools.islice(above, count)) < count:
            kept.append(item)
    return kept


def _gives_as_much(one: Item, other: Item) -> bool:
    return all(a >= b for a, b in zip(one.gives, other.gives, strict=True))


def smallest(
    need: Sequence[int], items: Items, count: int, cap: int | None, budget: Budget
) -> list[Item] | None:
    """
    Return the best set of exactly ``count`` items, or None.

    Args:
        need: amounts to reach, each >= 1.
        items: candidates; every smaller count is known not to suffice.
        count: size of the set, >= 1.
        cap: only sets whose summed weight is at most this; None = any.
        budget: steps to spend.

    Raises:
        BudgetSpent: nothing is known about this count.
    """
    kept = undominated(items, count)
    weight = _least_weight(need, kept, count, cap, budget)
    if weight is None:
        return None
    by_start = sorted(kept, key=lambda item: (item.start, item.number))
    found = _Search(need, by_start, budget, weight).first(count)
    if found is None or len({item.start for item in kept}) == len(kept):
        return found
    return _lowest_numbers(need, kept, found, weight, budget)


def _least_weight(
    need: Sequence[int], items: Items, count: int, cap: int | None, budget: Budget
) -> int | None:
    order = sorted(items, key=lambda item: (-_reach(item, need), item.gives, *item.rank))

    def may_add(chosen: Items, place: int) -> bool:
        """Use items of equal shape as a prefix: the second only after the first."""
        before, item = order[place - 1], order[place]
        is_twin = place > 0 and before.gives == item.gives and before.weight == item.weight
        return not is_twin or (bool(chosen) and chosen[-1] is before)

    search = _Search(need, order, budget, cap, may_add)
    weight: int | None = None
    while (found := search.first(count)) is not None:
        weight = sum(item.weight for item in found)
        search.cap = weight - 1
    return weight


def _lowest_numbers(
    need: Sequence[int], items: Items, found: Items, weight: int, budget: Budget
) -> list[Item] | None:
    """Among the sets of this weight and these start times, return the one with the lowest ids."""
    starts = [item.start for item in found]
    wanted = [item for item in items if item.start in starts]
    wanted.sort(key=lambda item: item.number)

    def may_add(chosen: Items, place: int) -> bool:
        start = wanted[place].start
        return sum(c.start == start for c in chosen) < starts.count(start)

    return _Search(need, wanted, budget, weight, may_add).first(len(found))


def _reach(item: Item, need: Sequence[int]) -> int:
    return sum(given * 1_000_000 // amount for given, amount in zip(item.gives, need, strict=True))


class _Search:
    """Depth first over items in a fixed order: the first set of a size, within the weight cap."""

    def __init__(
        self,
        need: Sequence[int],
        items: Items,
        budget: Budget,
        cap: int | None,
        may_add: Callable[[Items, int], bool] | None = None,
    ) -> None:
        self.need, self.items, self.budget, self.cap = tuple(need), items, budget, cap
        self.may_add = may_add
        self._tops: list[list[tuple[int, ...]]] = []
        self._cheap: list[list[int]] = []

    def first(self, count: int) -> list[Item] | None:
        """Return the first set of ``count`` items in the order of the items, or None."""
        if count > len(self.items):
            return None
        if not self._tops or len(self._tops[0]) <= count:
            self._tabulate(count)
        chosen: list[Item] = []
        return chosen if self._descend(0, count, self.need, 0, chosen) else None

    def _tabulate(self, count: int) -> None:
        """
        Sum, for every suffix and c <= count, the c largest amounts per dimension and the c least weights.
        """
        size = len(self.need)
        largest: list[list[int]] = [[] for _ in range(size)]
        least: list[int] = []
        tops: list[list[tuple[int, ...]]] = []
        cheap: list[list[int]] = []
        for item in reversed(self.items):
            for place in range(size):
                _insert(largest[place], -item.gives[place], count)
            _insert(least, item.weight, count)
            sums = [_running(values, count) for values in largest]
            tops.append([tuple(-sums[d][c] for d in range(size)) for c in range(count + 1)])
            cheap.append(_running(least, count))
        self._tops, self._cheap = tops[::-1], cheap[::-1]

    def _descend(
        self, start: int, count: int, rest: tuple[int, ...], weight: int, chosen: list[Item]
    ) -> bool:
        if count == 0:
            return all(amount <= 0 for amount in rest) and (self.cap is None or weight <= self.cap)
        items, cap = self.items, self.cap
        for place in range(start, len(items) - count + 1):
            if cap is not None and weight + self._cheap[place][count] > cap:
                return False
            if any(r > top for r, top in zip(rest, self._tops[place][count], strict=True)):
                return False
            if self.may_add is not None and not self.may_add(chosen, place):
                continue
            item = items[place]
            self.budget.spend()
            chosen.append(item)
            left = tuple([r - g for r, g in zip(rest, item.gives, strict=True)])
            if self._descend(place + 1, count - 1, left, weight + item.weight, chosen):
                return True
            chosen.pop()
        return False


def _insert(values: list[int], value: int, most: int) -> None:
    """Keep the ``most`` least values, sorted."""
    place = len(values)
    while place and values[place - 1] > value:
        place -= 1
    values.insert(place, value)
    del values[most:]


def _running(values: list[int], count: int) -> list[int]:
    """Return the sums of the first 0, 1, ... count values; the last is repeated where there are fewer."""
    sums = [0]
    for place in range(count):
        sums.append(sums[-1] + (values[place] if place < len(values) else 0))
    return sums
