"""The simple rules: sufficient, irreducible, and not always the fewest."""

from __future__ import annotations

import pytest

from scheduler.core.preemption import greedy
from tests.scheduler.core.preemption import problems_of
from tests.scheduler.core.preemption.problems_of import a_candidate, a_target

SLURM = a_target(8, [a_candidate(i, g) for i, g in enumerate((1, 1, 2, 4, 8), 1)])


def _ids(victims):
    return [victim.session_id for victim in victims]


def test_sufficient_means_every_amount():
    victims = [a_candidate(1, (1, 2)), a_candidate(2, (1, 0))]

    assert greedy.suffices((2, 2), victims)
    assert not greedy.suffices((2, 3), victims)


def test_what_is_not_needed_is_given_back_last_taken_first():
    taken = [a_candidate(1, 1), a_candidate(2, 1), a_candidate(3, 2)]

    assert _ids(greedy.give_back((2,), taken)) == [1, 2]


def test_taking_skips_what_adds_nothing_and_says_when_all_are_not_enough():
    line = [a_candidate(1, (2, 0)), a_candidate(2, (2, 0)), a_candidate(3, (0, 1))]

    assert _ids(greedy.take_until((2, 1), line)) == [1, 3]
    assert greedy.take_until((2, 2), line) is None


def test_largest_first_finds_the_one_that_is_enough():
    assert _ids(greedy.largest_first(SLURM)) == [5]


@pytest.mark.parametrize("rule", greedy.RULES)
@pytest.mark.parametrize("seed", range(40))
def test_p11_every_rules_answer_is_sufficient_and_has_nobody_to_leave_out(rule, seed):
    for target in problems_of.at_random(seed).targets:
        victims = rule(target)
        if victims is None:
            assert not greedy.suffices(target.need, target.candidates)
        else:
            assert greedy.suffices(target.need, victims)
            assert all(not greedy.suffices(target.need, set(victims) - {one}) for one in victims)
