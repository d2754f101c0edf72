"""The best sets of one size, on one node or many, against all subsets."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest

from scheduler.core.preemption import minimal_set, policy


def _nodes(seed, *, nodes=2, size=7, kinds=2):
    chance = random.Random(seed)
    need = [[chance.randint(3, 9) for _ in range(kinds)] for _ in range(nodes)]
    gives = [[[chance.randint(0, 5) for _ in range(kinds)] for _ in range(size)] for _ in range(nodes)]
    weight = [[chance.randint(-2, 3) for _ in range(size)] for _ in range(nodes)]
    return _items(need, gives, weight)


def _items(need, gives, weight, **more):
    sizes = np.array([len(own) for own in weight])
    return minimal_set.Items(np.array(need), np.array(gives), np.array(weight), sizes, **more)


def _sets(items, count):
    """Every sufficient set of a size, in the order of nodes and items: (node, places, weight)."""
    return [
        (node, places, int(items.weight[node, list(places)].sum()))
        for node in range(len(items.need))
        for places in itertools.combinations(range(int(items.sizes[node])), count)
        if (items.gives[node, list(places)].sum(axis=0) >= items.need[node]).all()
    ]


def _search(items, count, steps=1_000_000):
    return minimal_set.Search(items, count, minimal_set.Budget(steps))


def _plain(found):
    return None if found is None else (found.node, tuple(found.places.tolist()), found.weight)


@pytest.mark.parametrize("block", [4, 4096])
@pytest.mark.parametrize("seed", range(60))
def test_the_first_set_within_the_cap_is_found(seed, block, monkeypatch):
    monkeypatch.setattr(minimal_set, "BLOCK", block)
    items, count = _nodes(seed, kinds=1 + seed % 3), 1 + seed % 4

    for cap in (None, 0, -2):
        wanted = [one for one in _sets(items, count) if cap is None or one[2] <= cap]
        assert _plain(_search(items, count).first(cap)) == next(iter(wanted), None)


def test_filling_is_never_taken():
    items = minimal_set.Items(
        np.array([[2]]), np.array([[[1], [1], [5]]]), np.array([[1, 1, 1]]), np.array([2])
    )

    assert _plain(_search(items, 1).first()) is None
    assert _plain(_search(items, 2).first()) == (0, (0, 1), 2)


def test_a_twin_is_taken_only_after_its_neighbour():
    gives, weight = [[[1], [1], [1]]], [[1, 1, 1]]
    free, merged = (
        _items([[2]], gives, weight),
        _items([[2]], gives, weight, is_twin=np.array([[False, True, True]])),
    )
    impossible = [_items([[4]], gives, weight, is_twin=one.is_twin) for one in (free, merged)]

    assert [_plain(_search(one, 2).first()) for one in (free, merged)] == [(0, (0, 1), 2)] * 2
    assert [len(next(iter(_search(one, 2)._leaves())).last) for one in (free, merged)] == [3, 1]
    assert [_plain(_search(one, 3).first()) for one in impossible] == [None, None]


def test_of_a_group_no_more_than_its_quota_is_taken():
    group, quota = np.array([[0, 0, 1]]), np.array([1, 1])
    items = _items([[2]], [[[1], [1], [1]]], [[0, 0, 0]], group=group, quota=quota)

    assert _plain(_search(items, 2).first()) == (0, (0, 2), 0)


def test_amounts_beyond_64_bits_are_added_exactly():
    large = 1 << 62
    gives = np.array([[[large], [large], [large]]], dtype=object)
    items = minimal_set.Items(
        np.array([[3 * large]], dtype=object), gives, np.array([[1, 2, 3]]), np.array([3])
    )

    assert _plain(_search(items, 2).first()) is None
    assert _plain(_search(items, 3).first()) == (0, (0, 1, 2), 6)


def test_the_budget_counts_every_extension_and_says_when_it_is_spent():
    items = _items([[2, 2]], [[[2, 0], [0, 2], [1, 1]]], [[1, 1, 1]])
    budget = minimal_set.Budget(3)
    search = minimal_set.Search(items, 2, budget)

    with pytest.raises(minimal_set.BudgetSpent, match="after 2 of 3 steps"):
        search.first()
    assert budget.used == 2


def test_searches_for_one_answer_spend_the_same_steps():
    meter = policy.Meter()
    first = minimal_set.Budget(5, meter)
    first.spend(3)
    second = minimal_set.Budget(5, meter)

    assert (meter.spent, second.steps, second.used) == (3, 2, 0)
    with pytest.raises(minimal_set.BudgetSpent, match="after 0 of 2 steps"):
        second.spend(3)
    second.spend(2)
    assert (meter.spent, minimal_set.Budget(4, meter).steps) == (5, 0)


def test_patience_ends_before_the_budget_does():
    budget = minimal_set.Budget(9)
    budget.patience = 3
    budget.spend(3)
    with pytest.raises(minimal_set.PatienceSpent, match="3 steps did not suffice"):
        budget.spend()

    budget.patience = None
    budget.spend(6)

    assert budget.used == 9


def test_nodes_with_too_few_candidates_are_not_filled_up_from_their_neighbours():
    items = minimal_set.Items(
        np.array([[1], [1]]), np.array([[[1]], [[1]]]), np.array([[1], [1]]), np.array([1, 1])
    )

    assert _search(items, 2).first() is None


def test_a_group_without_a_quota_limits_nobody():
    items = _items([[2]], [[[1], [1]]], [[0, 0]], group=np.array([[0, 0]]))

    assert _plain(_search(items, 2).first()) == (0, (0, 1), 0)


def test_one_step_is_counted_where_no_number_is_given():
    budget = minimal_set.Budget(1)

    budget.spend()
    assert budget.used == 1
    with pytest.raises(minimal_set.BudgetSpent):
        budget.spend()


@pytest.mark.parametrize("seed", range(20))
def test_what_can_follow_is_at_most_the_largest_behind(seed):
    chance = random.Random(seed)
    amounts = np.array([[[chance.randint(-3, 3)] for _ in range(6)] for _ in range(2)])

    found = minimal_set._after(amounts, 4)

    for count, sums in enumerate(found[:4]):
        for node, place in itertools.product(range(2), range(6 - count)):
            behind = sorted(amounts[node, place + 1 :, 0].tolist(), reverse=True)
            assert sums[node, place, 0] == sum(behind[:count])
