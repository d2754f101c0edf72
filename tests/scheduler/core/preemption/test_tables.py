"""Targets as columns and back."""

from __future__ import annotations

import numpy as np
import pytest

from scheduler.core.preemption import tables
from tests.scheduler.core.preemption import problems_of
from tests.scheduler.core.preemption.problems_of import a_candidate, a_target


@pytest.mark.parametrize("seed", range(5))
def test_a_table_gives_back_the_targets_that_it_was_made_of(seed):
    targets = problems_of.at_random(seed).targets

    table = tables.of(targets)

    assert tuple(table) == targets
    assert tables.of(table) is table
    assert (table[-1], table[:1]) == (targets[-1], targets[:1])
    with pytest.raises(IndexError):
        table[len(targets)]


def test_nodes_of_different_needs_stand_in_one_table():
    targets = (
        a_target((3, 1), [a_candidate(1, (2, 1)), a_candidate(2, (1, 0))], node_id=1),
        a_target(4, [a_candidate(3, 4)], node_id=2, most=0),
    )

    table = tables.of(targets)

    assert tuple(table) == targets
    assert table.need.tolist() == [[3, 1], [4, 0]]
    assert table.mosts.tolist() == [2, 0]
    assert (table.ids_at(0), table.ids_at(1)) == ([1, 2], [3])


def test_sums_that_could_leave_64_bits_are_kept_in_python_integers():
    def dtype(amount):
        return tables.of((a_target(amount, [a_candidate(i, amount) for i in range(8)]),)).gives.dtype

    assert (dtype(1 << 40), dtype(1 << 60)) == (np.dtype(np.int64), np.dtype(object))
    assert tables.integers([1 << 70]).tolist() == [1 << 70]


def test_a_table_without_nodes_is_empty():
    assert (len(tables.of(())), bool(tables.of(()))) == (0, False)
