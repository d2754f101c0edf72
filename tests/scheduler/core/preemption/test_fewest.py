"""The fewest over all nodes, against all subsets of all nodes; and what is said to be proved."""

from __future__ import annotations

import dataclasses
import itertools
import os
import random

import pytest

from scheduler.core import entities, proofs
from scheduler.core.preemption import greedy, lowest_priority_first
from tests.scheduler.core.preemption import problems_of
from tests.scheduler.core.preemption.problems_of import a_candidate, a_problem, a_target

EXAMPLES = 20_000 if os.environ.get("XCE_NIGHT") else 1_000
select = lowest_priority_first.select_victims


def _at_random(seed):
    chance = random.Random(seed)
    night = EXAMPLES > 1_000 and seed % 20 == 0
    size = chance.randint(9, 12) if night else chance.randint(2, 6)
    return problems_of.at_random(seed, size=size, kinds=1 + seed % 4, nodes=1 + seed % 4, most=3 + seed % 5)


def _sufficient(target):
    return [
        victims
        for size in range(1, len(target.candidates) + 1)
        for victims in itertools.combinations(target.candidates, size)
        if greedy.suffices(target.need, victims)
    ]


def _key(problem, target, victims):
    sign = -1 if problem.order is entities.PreemptionOrder.NEWEST else 1
    total, share = sum(v.value for v in victims), sum(v.share for v in victims)
    starts = sorted(sign * v.start for v in victims)
    return len(victims), total, share, starts, target.name, sorted(v.session_id for v in victims)


def _chosen(problem, answer):
    target = next(target for target in problem.targets if target.node_id == answer.node_id)
    return target, [c for c in target.candidates if c.session_id in answer.victim_ids]


@pytest.mark.parametrize("part", range(10))
def test_p11_no_set_of_any_node_is_better(part):
    for seed in range(part * EXAMPLES // 10, (part + 1) * EXAMPLES // 10):
        problem = _at_random(seed)
        found = [_key(problem, target, one) for target in problem.targets for one in _sufficient(target)]

        answer = select(problem)

        assert (answer is None) == (not found)
        if answer is not None:
            assert _key(problem, *_chosen(problem, answer)) == min(found)
            assert answer.is_proved


@pytest.mark.parametrize("span", [2, 7, 1 << 50], ids=["two times", "seven", "far apart"])
@pytest.mark.parametrize("order", [entities.PreemptionOrder.NEWEST, entities.PreemptionOrder.OLDEST])
def test_of_equal_sums_the_best_start_times_are_taken_also_where_some_are_equal(order, span):
    for seed in range(EXAMPLES // 10):
        chance = random.Random(f"{order}/{span}/{seed}")
        candidates = [
            a_candidate(i, chance.randint(1, 3), value=chance.randint(1, 2), start=chance.randrange(span))
            for i in range(1, 8)
        ]
        target = a_target(chance.randint(4, 8), candidates)
        problem = a_problem(target, order=order)
        found = [_key(problem, target, one) for one in _sufficient(target)]

        if (answer := select(problem)) is not None:
            assert _key(problem, *_chosen(problem, answer)) == min(found)


@pytest.mark.parametrize("scale", [1, 1 << 55], ids=["small sums", "beyond 64 bits"])
def test_a_start_time_that_two_share_does_not_decide_which_of_them_is_taken_first(scale):
    sizes = {4: (1, 2, 99), 8: (3, 4, 96), 11: (2, 3, 99), 12: (2, 3, 98)}
    candidates = [
        a_candidate(i, give, value=scale * value, start=start) for i, (give, value, start) in sizes.items()
    ]

    answer = select(a_problem(a_target(4, candidates), order=entities.PreemptionOrder.NEWEST))

    assert sorted(answer.victim_ids) == [11, 12]


@pytest.mark.parametrize("steps", [0, 3, 20, 100])
def test_whatever_the_budget_what_is_said_to_be_proved_is_true_and_the_answer_irreducible(steps):
    for seed in range(150):
        problem = dataclasses.replace(_at_random(seed), steps=steps)
        sets = [(len(one), target) for target in problem.targets for one in _sufficient(target)]
        simple = [
            len(found) for target in problem.targets for rule in greedy.RULES if (found := rule(target))
        ]

        if (answer := select(problem)) is None:
            continue

        target, victims = _chosen(problem, answer)
        assert answer.proof.fewest <= min(size for size, _ in sets) <= len(victims) <= min(simple)
        assert answer.steps <= steps
        assert not any(
            greedy.suffices(target.need, rest) for rest in itertools.combinations(victims, len(victims) - 1)
        )


def test_nodes_and_candidates_in_any_order_give_the_same_answer():
    for seed in range(60):
        problem, chance = _at_random(seed), random.Random(seed)
        shuffled = [
            dataclasses.replace(t, candidates=tuple(chance.sample(t.candidates, len(t.candidates))))
            for t in chance.sample(problem.targets, len(problem.targets))
        ]

        assert select(problem) == select(dataclasses.replace(problem, targets=tuple(shuffled)))


def test_where_slurm_stops_four_of_1_1_2_4_8_for_a_need_of_8_one_is_enough():
    sizes = (1, 1, 2, 4, 8)
    target = a_target(8, [a_candidate(i, size, value=1) for i, size in enumerate(sizes, start=1)])

    assert select(a_problem(target)).victim_ids == (5,)


def test_where_slurm_stops_three_of_5_5_3_2_1_for_a_need_of_6_two_are_enough():
    sizes = (5, 5, 3, 2, 1)
    target = a_target(6, [a_candidate(i, size, value=1) for i, size in enumerate(sizes, start=1)])

    answer = select(a_problem(target))

    assert len(answer.victim_ids) == 2
    assert answer.proof.sets_by_bound == 5


@pytest.mark.parametrize("scale", [1 << 40, 1 << 61], ids=["tebibytes", "beyond 64 bits"])
def test_amounts_and_shares_of_any_size_are_compared_exactly(scale):
    for seed in range(100):
        problem = _at_random(seed)
        large = dataclasses.replace(
            problem,
            targets=tuple(_scaled(target, scale) for target in problem.targets),
            scale=problem.scale * scale**2,
        )

        assert _but_for_steps(select(large)) == _but_for_steps(select(problem))


def _but_for_steps(answer):
    return answer and dataclasses.replace(answer, steps=0)


def _scaled(target, scale):
    candidates = [
        dataclasses.replace(c, gives=tuple(g * scale for g in c.gives), share=c.share * scale**2)
        for c in target.candidates
    ]
    return dataclasses.replace(
        target, need=tuple(n * scale for n in target.need), candidates=tuple(candidates)
    )


def test_a_proof_counts_the_smaller_sets_and_who_ruled_them_out():
    pairs = a_target(
        (4, 4, 4), [a_candidate(i, (2, 1, 4) if i % 2 else (1, 2, 4)) for i in range(6)], node_id=1
    )
    far = a_target((9, 1, 1), [a_candidate(i, (1, 1, 1)) for i in range(10, 19)], node_id=2)

    answer = select(a_problem(pairs, far))

    assert len(answer.victim_ids) == 3
    together = proofs.Bound.TOGETHER
    assert answer.proof == proofs.Proof(3, True, 3, together, 2, 1, 6 + 15 + 9 + 36, 0)


def test_what_a_bound_leaves_open_the_search_rules_out():
    gives = [(6, 0), (6, 0), (0, 6), (0, 6)]
    answer = select(a_problem(a_target((9, 9), [a_candidate(i, given) for i, given in enumerate(gives)])))

    assert (len(answer.victim_ids), answer.proof.bound) == (4, 3)
    assert (answer.proof.sets_by_bound, answer.proof.sets_by_search) == (4 + 6, 4)
