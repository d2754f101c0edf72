"""Least total share released, then fewest."""

from __future__ import annotations

import itertools

import pytest

from scheduler.core import entities
from scheduler.core.preemption import greedy, least_share
from tests.scheduler.core.preemption import problems_of
from tests.scheduler.core.preemption.problems_of import a_candidate, a_problem, a_target


def _key(problem, target, victims):
    sign = -1 if problem.order is entities.PreemptionOrder.NEWEST else 1
    return (
        sum(v.total_share for v in victims),
        len(victims),
        sum(v.value for v in victims),
        sorted(sign * v.start for v in victims),
        target.rank,
        target.name,
        sorted(v.session_id for v in victims),
    )


@pytest.mark.parametrize("seed", range(150))
def test_p11_the_answer_is_the_best_of_all_sets_of_all_nodes(seed):
    problem = problems_of.at_random(seed, kinds=1 + seed % 3)
    keys = [
        _key(problem, target, victims)
        for target in problem.targets
        for size in range(1, len(target.candidates) + 1)
        for victims in itertools.combinations(target.candidates, size)
        if greedy.suffices(target.need, victims)
    ]

    answer = least_share.select_victims(problem)

    if keys:
        assert (f"n{answer.node_id}", sorted(answer.victim_ids)) == min(keys)[5:]
    else:
        assert answer is None


def test_two_small_ones_are_better_than_a_large_one():
    target = a_target(2, [a_candidate(1, 1, total=1), a_candidate(2, 1, total=1), a_candidate(3, 2, total=5)])

    assert least_share.select_victims(a_problem(target)).victim_ids == (1, 2)


def test_at_the_budget_the_best_so_far_stands_unproved():
    problem = problems_of.at_random(5, size=14)

    answer = least_share.select_victims(a_problem(*problem.targets, steps=2))

    assert not answer.is_proved
    assert answer.victim_ids


def test_a_node_where_too_many_would_be_suspended_is_passed_over():
    target = a_target(2, [a_candidate(1, 1, total=1), a_candidate(2, 1, total=1)], most=1)

    assert least_share.select_victims(a_problem(target)) is None


@pytest.mark.parametrize("kinds", [1, 2, 3])
def test_prices_never_let_a_candidate_give_more_than_its_share_is_worth(kinds):
    for seed in range(40):
        for target in problems_of.at_random(seed, kinds=kinds).targets:
            prices = least_share._prices(target.need, target.candidates)
            for one in target.candidates:
                given = sum(price * amount for price, amount in zip(prices, one.gives, strict=True))
                assert given <= one.total_share * least_share._PRICE


def test_many_equal_sessions_are_taken_from_the_front_in_few_steps():
    line = [a_candidate(number, 1, total=1) for number in range(1, 801)]

    answer = least_share.select_victims(a_problem(a_target(300, line), steps=1_000_000))

    assert (answer.victim_ids, answer.is_proved) == (tuple(range(1, 301)), True)


def test_a_step_is_worth_its_time():
    """Each candidate that is looked at counts as many steps of other searches, so that the budget bounds the time."""
    problem = problems_of.at_random(5, size=14)

    answer = least_share.select_victims(a_problem(*problem.targets, steps=least_share._EACH * 3))

    assert (answer.is_proved, answer.steps <= least_share._EACH * 3) == (False, True)


def test_who_is_better_in_everything_is_found_by_both_ways_of_looking(monkeypatch):
    line = [a_candidate(1, 3, total=1), a_candidate(2, 2, total=1), a_candidate(3, 2, total=4)]
    few = least_share._better(line, 1)
    monkeypatch.setattr(least_share, "_MANY", 0)

    assert (few, least_share._better(line, 1)) == ([(), (0,), (0, 1)], [(), (0,), (1,)])
