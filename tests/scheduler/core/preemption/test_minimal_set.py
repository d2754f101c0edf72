"""The exact smallest sufficient set on one node, against all subsets."""

from __future__ import annotations

import itertools
import random

import pytest

from scheduler.core.preemption import minimal_set
from scheduler.core.preemption.minimal_set import Item


def _items(seed, size=9, kinds=2):
    chance = random.Random(seed)
    need = tuple(chance.randint(4, 12) for _ in range(kinds))
    items = [
        Item(
            tuple(min(n, chance.randint(0, 5)) for n in need),
            chance.randint(-2, 3),
            chance.randint(0, 3),
            number,
        )
        for number in range(size)
    ]
    return need, items


def _reaches(need, items):
    return all(sum(item.gives[place] for item in items) >= amount for place, amount in enumerate(need))


def _best(need, items):
    for count in range(1, len(items) + 1):
        found = [some for some in itertools.combinations(items, count) if _reaches(need, some)]
        if found:
            return min(found, key=_key)
    return None


def _key(items):
    starts = sorted(item.start for item in items)
    return sum(item.weight for item in items), starts, sorted(item.number for item in items)


@pytest.mark.parametrize("seed", range(150))
def test_p11_the_best_set_of_the_least_count_is_found(seed):
    need, items = _items(seed, kinds=1 + seed % 3)
    best = _best(need, items)
    bound = minimal_set.least_count(need, items)

    if best is None:
        assert not _reaches(need, items)
        return
    assert bound <= len(best)
    budget = minimal_set.Budget(1_000_000)
    smaller = [minimal_set.smallest(need, items, count, None, budget) for count in range(bound, len(best))]
    found = minimal_set.smallest(need, items, len(best), None, budget)

    assert smaller == [None] * len(smaller)
    assert sorted(item.number for item in found) == sorted(item.number for item in best)


def test_a_bound_is_none_when_all_together_do_not_reach():
    assert minimal_set.least_count((5,), [Item((2,), 0, 0, 1), Item((2,), 0, 0, 2)]) is None
    assert minimal_set.least_count((3,), [Item((2,), 0, 0, 1), Item((2,), 0, 0, 2)]) == 2


def test_an_item_with_as_many_dominators_as_the_count_is_left_out():
    items = [Item((3, 3), 1, 0, 1), Item((2, 3), 1, 0, 2), Item((2, 2), 2, 0, 3), Item((9, 0), 9, 9, 4)]

    assert [item.number for item in minimal_set.undominated(items, 1)] == [1, 4]
    assert [item.number for item in minimal_set.undominated(items, 2)] == [1, 2, 4]


def test_a_cap_keeps_dearer_sets_out():
    items = [Item((2,), 5, 0, 1), Item((2,), 4, 0, 2)]

    assert minimal_set.smallest((2,), items, 1, 3, minimal_set.Budget(100)) is None
    assert [item.number for item in minimal_set.smallest((2,), items, 1, 4, minimal_set.Budget(100))] == [2]


def test_a_set_larger_than_the_candidates_does_not_exist():
    assert minimal_set.smallest((2,), [Item((1,), 0, 0, 1)], 2, None, minimal_set.Budget(9)) is None


def test_the_budget_counts_steps_and_says_when_it_is_spent():
    budget = minimal_set.Budget(1)
    budget.spend()

    with pytest.raises(minimal_set.BudgetSpent, match="1 steps"):
        budget.spend()
    assert budget.used == 1
