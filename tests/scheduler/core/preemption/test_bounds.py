"""Bounds are true of every set, however they are rounded."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from scheduler.core.preemption import bounds, greedy, tables
from tests.scheduler.core.preemption import problems_of
from tests.scheduler.core.preemption.problems_of import a_candidate, a_target


def _field(*targets):
    (one,) = bounds.fields(tables.of(targets))
    return one


def _sufficient(target):
    return [
        victims
        for size in range(1, len(target.candidates) + 1)
        for victims in itertools.combinations(target.candidates, size)
        if greedy.suffices(target.need, victims)
    ]


@pytest.mark.parametrize("scale", [1, 1 << 35, 1 << 61], ids=["small", "bytes", "beyond 64 bits"])
@pytest.mark.parametrize("seed", range(25))
def test_no_set_is_smaller_than_the_bound_or_uses_who_is_not_usable(seed, scale):
    targets = [
        problems_of.times(target, scale)
        for target in problems_of.at_random(seed, size=6, kinds=1 + seed % 4).targets
    ]
    field = _field(*targets)
    field = bounds.together(field, bounds.pairs(field))
    low, within_two = (bounds.counts(field, most).max(axis=1) for most in (9, 2))

    for row, target in enumerate(targets):
        sets = _sufficient(target)
        least = min((len(one) for one in sets), default=bounds.NEVER)
        assert low[row] <= least
        assert bounds.is_enough(field)[row] == bool(sets)
        assert within_two[row] == min(low[row], 3) or within_two[row] == low[row] == bounds.NEVER
        for count in range(1, 5):
            used = {c.session_id for one in sets if len(one) == count for c in one}
            usable = bounds.usable(field, count)[row, : len(target.candidates)].tolist()
            assert used <= {c.session_id for c, may in zip(target.candidates, usable, strict=True) if may}


def test_pairs_bound_what_single_amounts_do_not():
    field = _field(a_target((4, 4, 4), [a_candidate(i, (2, 1, 4) if i % 2 else (1, 2, 4)) for i in range(6)]))

    assert bounds.counts(field, 6).tolist() == [[2, 2, 1, 2]]
    assert bounds.counts(bounds.pairs(field), 6).tolist() == [[3, 2, 2]]
    assert bounds.pairs(_field(a_target((4, 4), [a_candidate(1, (2, 1))]))).goal.shape == (1, 0)


def test_what_all_together_do_not_reach_has_no_bound():
    field = _field(a_target(9, [a_candidate(1, 4), a_candidate(2, 4)]))

    assert bounds.counts(field, 2).tolist() == [[bounds.NEVER]]
    assert bounds.counts(field, 1).tolist() == [[2]]
    assert bounds.is_enough(field).tolist() == [False]


@pytest.mark.parametrize("scale", [1, 1 << 61], ids=["small", "beyond 64 bits"])
@pytest.mark.parametrize("nodes", [1, 400])
def test_the_largest_are_summed_alike_by_sorting_and_by_passing(nodes, scale):
    reach = (np.random.default_rng(5).integers(0, 9, (nodes, 3, 7))).astype(
        object if scale > 1 else np.int64
    ) * scale

    found = list(bounds.top_sums(reach, 4))

    largest = -np.sort(-reach, axis=2)
    assert [one.tolist() for one in found] == [
        largest[:, :, :count].sum(axis=2).tolist() for count in (1, 2, 3, 4)
    ]


def test_nodes_of_very_different_sizes_stand_in_different_fields():
    few = a_target(1, [a_candidate(i, 1) for i in range(3)], node_id=1)
    many = a_target(1, [a_candidate(i, 1) for i in range(19)], node_id=2)

    found = list(bounds.fields(tables.of((many, few))))

    assert [(field.places.tolist(), field.index.shape) for field in found] == [([1], (1, 3)), ([0], (1, 19))]


def test_masked_candidates_give_nothing():
    field = _field(a_target(3, [a_candidate(1, 2), a_candidate(2, 1)]))

    masked = bounds.masked(field, np.array([[True, False]]))

    assert (field.reach.tolist(), masked.reach.tolist()) == ([[[2, 1]]], [[[2, 0]]])


def test_the_least_weights_are_summed_where_there_are_enough():
    weights, is_usable = (
        np.array([[5, 1, 2], [5, 1, 2]]),
        np.array([[True, True, True], [True, False, False]]),
    )

    assert bounds.least_sums(weights, is_usable, 2, 99).tolist() == [3, 99]
    assert bounds.least_sums(weights, is_usable, 4, 99).tolist() == [99, 99]


def test_a_pile_takes_what_covers_most_and_ends_where_it_suffices_first():
    hard = a_target((4, 4), [a_candidate(i, (1, 1)) for i in range(4)], node_id=1)
    easy = a_target(
        (4, 4), [a_candidate(1, (2, 0)), a_candidate(2, (4, 1)), a_candidate(3, (0, 3))], node_id=2
    )

    rows, chosen = bounds.piles(_field(hard, easy), 3)

    assert (rows.tolist(), chosen.tolist()) == ([1], [[1, 2]])
    assert bounds.piles(_field(hard, easy), 1)[0].tolist() == []
