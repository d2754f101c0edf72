"""The fewest victims over all nodes, then the lowest summed priority."""

from __future__ import annotations

import itertools

import pytest

from scheduler.core import entities
from scheduler.core.preemption import greedy, lowest_priority_first
from tests.scheduler.core.preemption import problems_of
from tests.scheduler.core.preemption.problems_of import a_candidate, a_problem, a_target

ORDER = entities.PreemptionOrder
select = lowest_priority_first.select_victims


def _best(problem):
    keys = []
    for target in problem.targets:
        for size in range(1, len(target.candidates) + 1):
            for victims in itertools.combinations(target.candidates, size):
                if greedy.suffices(target.need, victims):
                    keys.append(_key(problem, target, victims))
    return min(keys, default=None)


def _key(problem, target, victims):
    sign = -1 if problem.order is ORDER.NEWEST else 1
    return (
        len(victims),
        sum(v.value for v in victims),
        sum(v.share for v in victims),
        sorted(sign * v.start for v in victims),
        target.name,
        sorted(v.session_id for v in victims),
    )


@pytest.mark.parametrize("seed", range(150))
def test_p11_the_answer_is_the_best_of_all_sets_of_all_nodes(seed):
    problem = problems_of.at_random(seed, kinds=1 + seed % 3)
    best = _best(problem)

    answer = select(problem)

    if best is None:
        assert answer is None
    else:
        assert (answer.node_id, sorted(answer.victim_ids)) == (int(best[4][1:]), best[5])
        assert answer.is_proved


def test_one_that_costs_more_is_better_than_two_that_cost_less():
    target = a_target(2, [a_candidate(1, 1, value=0), a_candidate(2, 1, value=0), a_candidate(3, 2, value=9)])

    assert select(a_problem(target)).victim_ids == (3,)


def test_between_nodes_the_lower_sum_decides_then_the_share_elsewhere_then_the_start_then_the_name():
    def nodes(first, second):
        return a_problem(a_target(1, [first], node_id=1), a_target(1, [second], node_id=2))

    cheap = nodes(a_candidate(1, 1, value=5), a_candidate(2, 1, value=4))
    local = nodes(a_candidate(1, 1, share=3), a_candidate(2, 1))
    older = nodes(a_candidate(1, 1, start=9), a_candidate(2, 1, start=8))
    equal = nodes(a_candidate(2, 1), a_candidate(1, 1))

    assert [select(problem).node_id for problem in (cheap, local, older, equal)] == [2, 2, 2, 1]


def test_newest_prefers_the_latest_start():
    target = a_target(1, [a_candidate(1, 1, start=1), a_candidate(2, 1, start=2)])

    assert select(a_problem(target, order=ORDER.NEWEST)).victim_ids == (2,)
    assert select(a_problem(target)).victim_ids == (1,)


def test_at_the_budget_the_answer_is_irreducible_unproved_and_no_worse_than_the_simple_rules():
    problem = problems_of.at_random(3, size=24, kinds=3, nodes=2, most=4)

    answer = select(a_problem(*problem.targets, order=problem.order, steps=5))

    target = next(t for t in problem.targets if t.node_id == answer.node_id)
    victims = [c for c in target.candidates if c.session_id in answer.victim_ids]
    simple = [rule(t) for t in problem.targets for rule in greedy.RULES]
    assert not answer.is_proved
    assert len(victims) <= min(len(found) for found in simple if found is not None)
    assert all(not greedy.suffices(target.need, [v for v in victims if v is not one]) for one in victims)


def test_a_node_where_too_many_would_be_suspended_is_passed_over():
    full = a_target(2, [a_candidate(1, 1), a_candidate(2, 1)], node_id=1, most=1)
    other = a_target(3, [a_candidate(3, 1), a_candidate(4, 1), a_candidate(5, 1)], node_id=2)

    assert select(a_problem(full, other)).node_id == 2
    assert select(a_problem(full)) is None
