"""The models of other schedulers' rules answer as the real ones were seen to; the exact search needs fewer."""

import pytest

from bench import instances, peers
from scheduler.core.preemption import lowest_priority_first, policy


def a_problem(sizes, need):
    candidates = tuple(
        policy.Candidate(number, 1, (min(size, need),), number, 0, size)
        for number, size in enumerate(sizes, 1)
    )
    return instances.problem([policy.Target(1, "n1", 1, (need,), candidates)])


@pytest.mark.parametrize(
    ("sizes", "need", "slurm", "fewest"), [((1, 1, 2, 4, 8), 8, 4, 1), ((5, 5, 3, 2, 1), 6, 3, 2)]
)
def test_a_real_slurm_stops_too_many_and_the_exact_search_does_not(sizes, need, slurm, fewest):
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


@pytest.mark.parametrize("family", instances.FAMILIES)
@pytest.mark.parametrize("rule", peers.RULES)
def test_no_rule_ever_stops_fewer(family, rule):
    for seed in range(20):
        problem = instances.one_node(family, 12, 3, seed=seed)
        choice, answer = peers.RULES[rule](problem), lowest_priority_first.select_victims(problem)

        assert (choice is None) == (answer is None)
        assert choice is None or choice.count >= len(answer.victim_ids)
