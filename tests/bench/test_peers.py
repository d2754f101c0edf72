"""The models of other schedulers' rules answer as the real ones were seen to; the exact search needs fewer."""

import os

import pytest

from bench import instances, peers
from scheduler.core.preemption import greedy, lowest_priority_first, policy

SEEDS = 400 if os.environ.get("XCE_NIGHT") else 30


def a_problem(sizes, need):
    candidates = tuple(
        policy.Candidate(number, 1, (min(size, need),), number, 0, size)
        for number, size in enumerate(sizes, 1)
    )
    return instances.problem([policy.Target(1, "n1", 1, (need,), candidates)])


@pytest.mark.parametrize(
    ("sizes", "need", "slurm", "fewest"), [((1, 1, 2, 4, 8), 8, 4, 1), ((5, 5, 3, 2, 1), 6, 3, 2)]
)
def test_where_a_real_slurm_stops_too_many_the_exact_search_stops_one_and_two(sizes, need, slurm, fewest):
    problem = a_problem(sizes, need)
    answer = lowest_priority_first.select_victims(problem)

    assert peers.slurm(problem).count == slurm
    assert (len(answer.victim_ids), answer.is_proved) == (fewest, True)


def test_kube_scheduler_reprieves_the_highest_first():
    choice = peers.kube_scheduler(a_problem((4, 2, 2, 8), 8))

    assert [victim.session_id for victim in choice.victims] == [4]


def test_kueue_gives_back_what_is_not_needed():
    assert peers.kueue(a_problem((1, 8), 8)).count == 1


@pytest.mark.parametrize("rule", peers.RULES)
def test_no_rule_answers_when_all_are_not_enough(rule):
    assert peers.RULES[rule](a_problem((1, 2), 8)) is None


def beside(family, seed):
    """Return a problem of 1 to 4 nodes with 8 to 32 candidates each, our answer, and each rule's."""
    problem = instances.cluster(family, 1 + seed % 4, 8 + seed % 25, 1 + seed % 5, seed=seed)
    answer = lowest_priority_first.select_victims(problem)
    return problem, answer, {name: rule(problem) for name, rule in peers.RULES.items()}


@pytest.mark.parametrize("family", instances.FAMILIES)
def test_no_rule_ever_stops_fewer_or_as_many_of_a_lower_sum(family):
    for seed in range(SEEDS):
        problem, answer, choices = beside(family, seed)
        if answer is None:
            assert set(choices.values()) == {None}, seed
            continue
        values = {c.session_id: c.value for target in problem.targets for c in target.candidates}
        own = (len(answer.victim_ids), sum(values[i] for i in answer.victim_ids))
        for name, choice in choices.items():
            need = next(target.need for target in problem.targets if target.name == choice.node)
            assert greedy.suffices(need, choice.victims), (name, seed)
            assert own[0] <= choice.count, (name, seed)
            assert not answer.is_proved or own <= (choice.count, choice.value), (name, seed)


@pytest.mark.parametrize("rule", peers.RULES)
def test_each_rule_stops_more_somewhere(rule):
    found = [beside("uniform", seed) for seed in range(20)]

    assert any(len(answer.victim_ids) < choices[rule].count for _, answer, choices in found if answer)
