"""How far a hunt came when its budget ended."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest

from scheduler.core.preemption import greedy, hunts, minimal_set, preparing, tables
from tests.scheduler.core.preemption import problems_of
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


@pytest.mark.parametrize("seed", range(30))
def test_patience_decides_how_it_is_searched_and_not_what_is_found(monkeypatch, seed):
    targets = problems_of.at_random(seed, size=9, kinds=1 + seed % 4).targets
    found = []
    for patience in (0, 10**9):
        monkeypatch.setattr(hunts, "_PATIENCE", patience)
        hunt = _hunt(*targets)
        hunt.run()
        found.append(
            None if hunt.best is None else (hunt.key_of(hunt.best), hunt.best.rows.tolist(), hunt.fewest)
        )

    assert found[0] == found[1]


def test_multipliers_prove_what_the_other_bounds_leave_unproved(monkeypatch):
    chance, sizes = random.Random(2), []
    for _ in range(60):
        parts = [chance.random() + 0.02 for _ in range(3)]
        sizes.append(tuple(max(1, round(150 * part / sum(parts))) for part in parts))
    candidates = [a_candidate(i, size, value=i % 5, start=i) for i, size in enumerate(sizes)]
    hunt = _hunt(a_target((500, 500, 300), candidates), steps=1_000_000)

    hunt.run()

    assert (hunt.fewest, len(hunt.best.rows)) == (9, 9)
    monkeypatch.setattr(hunts, "_PATIENCE", 10**9)
    with pytest.raises(minimal_set.BudgetSpent):
        _hunt(a_target((500, 500, 300), candidates), steps=1_000_000).run()


@pytest.mark.parametrize("seed", range(30))
def test_no_set_of_a_node_comes_before_the_bound_that_a_hunt_leaves_of_it(seed):
    targets = problems_of.at_random(seed, size=6, kinds=1 + seed % 3, nodes=4).targets
    hunt = _hunt(*targets)
    hunt.run()

    for place, (target, bound) in enumerate(zip(targets, hunt.node_bounds(), strict=True)):
        for count in range(1, 7):
            for victims in itertools.combinations(target.candidates, count):
                if greedy.suffices(target.need, victims):
                    starts = tuple(sorted(victim.start for victim in victims))
                    assert bound <= (count, sum(victim.value for victim in victims), starts, place)


def test_between_what_is_proved_and_what_is_found_the_weight_is_halved(monkeypatch):
    """Two of five are needed; the two lightest do not suffice together."""
    given = [(9, 0), (9, 0), (0, 9), (9, 1), (1, 9)]
    weights = [0, 0, 700, 300, 900]
    candidates = [
        a_candidate(i, one, value=weight) for i, (one, weight) in enumerate(zip(given, weights, strict=True))
    ]
    hunt, caps = _hunt(a_target((9, 9), candidates)), []
    within = hunts.Hunt._any_within
    monkeypatch.setattr(
        hunts.Hunt, "_any_within", lambda self, opened, cap: caps.append(cap) or within(self, opened, cap)
    )

    hunt.run()

    assert (hunt.best.weight, hunt.best.rows.tolist()) == (700, [0, 2])
    assert 0 < len(caps) <= 1 + (1000).bit_length()
    assert caps[0] == min(caps)
