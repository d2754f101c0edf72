"""How far a hunt came when its budget ended."""

from __future__ import annotations

import numpy as np
import pytest

from scheduler.core.preemption import hunts, minimal_set, preparing, tables
from tests.scheduler.core.preemption.problems_of import a_candidate, a_target

PAIRS = [(6, 0), (6, 0), (0, 6), (0, 6), (1, 1)]


def _hunt(*targets, steps=10_000):
    table = tables.of(targets)
    line = np.arange(len(targets))
    terms = preparing.Terms(table.columns.value, table.columns.start, line)
    return hunts.Hunt(table, terms, minimal_set.Budget(steps))


def _target(**more):
    return a_target((9, 9), [a_candidate(i, given, value=i) for i, given in enumerate(PAIRS)], **more)


def test_a_hunt_counts_up_until_a_set_is_found():
    hunt = _hunt(_target())

    hunt.run()

    assert hunt.low.tolist() == [3]
    assert (hunt.fewest, hunt.best.weight, hunt.best.rows.tolist()) == (4, 6, [0, 1, 2, 3])


def test_a_spent_budget_leaves_what_the_bounds_proved():
    hunt = _hunt(_target(), steps=0)

    with pytest.raises(minimal_set.BudgetSpent):
        hunt.run()
    assert (hunt.fewest, hunt.best) == (3, None)


def test_nodes_that_may_stop_too_few_are_left_out():
    hunt = _hunt(_target(most=3), _target(node_id=2, most=4))

    hunt.run()

    assert (hunt.fewest, hunt.best.place) == (4, 1)


@pytest.mark.parametrize("most", [1, 2])
def test_without_a_node_that_can_be_made_free_nothing_is_found(most):
    hunt = _hunt(a_target(9, [a_candidate(1, 5), a_candidate(2, 4 if most == 1 else 3)], most=most))

    hunt.run()

    assert hunt.best is None
