"""The best weighted sum of all amounts bounds well, and never too high."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from scheduler.core.preemption import bounds, greedy, multipliers, tables
from tests.scheduler.core.preemption import problems_of
from tests.scheduler.core.preemption.problems_of import a_candidate, a_target


def _field(*targets):
    (one,) = bounds.fields(tables.of(targets))
    return one


def _low(field, most):
    return bounds.counts(bounds.weighted(field, multipliers.of(field, most)), most)[:, 0].tolist()


@pytest.mark.parametrize("scale", [1, 1 << 61], ids=["small", "beyond 64 bits"])
@pytest.mark.parametrize("seed", range(20))
def test_no_set_is_smaller_than_the_bound(seed, scale):
    targets = [
        problems_of.times(target, scale)
        for target in problems_of.at_random(seed, size=7, kinds=1 + seed % 4).targets
    ]

    for target, low in zip(targets, _low(_field(*targets), 7), strict=True):
        sizes = [
            size
            for size in range(1, 8)
            for victims in itertools.combinations(target.candidates, size)
            if greedy.suffices(target.need, victims)
        ]
        assert low <= min(sizes, default=bounds.NEVER)


def test_it_bounds_what_each_amount_and_all_alike_do_not():
    given = [(9, 1)] * 20 + [(1, 4)] * 20
    field = _field(a_target((30, 20), [a_candidate(i, one) for i, one in enumerate(given)]))

    assert bounds.counts(field, 40).tolist() == [[4, 5, 6]]
    assert _low(field, 12) == [8]


def test_the_same_multipliers_are_found_for_a_node_alone_and_among_others():
    targets = [target for seed in range(4) for target in problems_of.at_random(seed, size=6, kinds=3).targets]
    targets = [problems_of.renamed(target, number) for number, target in enumerate(targets, start=1)]
    field = _field(*targets)

    together = multipliers.of(field, 5)

    alone = [multipliers.of(field.only(np.array([place])), 5)[0].tolist() for place in range(len(targets))]
    assert together.tolist() == alone
