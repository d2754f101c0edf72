"""
The default policy of the queue axis: the fewest victims over all nodes, then the lowest summed priority.
Exact.

Ties: least share of slots freed on other nodes, start times, node name, sorted ids. The search starts from
the best answer of the simple rules and stops at its budget of steps; then the answer is irreducible and
unproved.
Source: XCE spec AC3; DESIGN 5.3.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from scheduler.core.preemption import greedy, minimal_set, orders, policy

NAME = "lowest_priority_first"


@dataclasses.dataclass(slots=True)
class _Best:
    """The best set so far, with the key by which sets are compared."""

    key: tuple[object, ...]
    target: policy.Target
    victims: tuple[policy.Candidate, ...]


def select_victims(problem: policy.Problem) -> policy.Answer | None:
    """
    Return the best set over all nodes, or None when no node can be made free.

    Cost: bounded by ``problem.steps``.
    """
    budget = minimal_set.Budget(problem.steps)
    line = _by_bound(problem)
    best: _Best | None = None
    is_proved = True
    try:
        for bound, target in line:
            if best is not None and bound > len(best.victims):
                break
            best = _improve(problem, target, bound, best, budget)
    except minimal_set.BudgetSpent:
        is_proved = False
        best = _simple(problem, line, best)
    if best is None:
        return None
    return policy.Answer(best.target.node_id, orders.stop_order(best.victims), is_proved, budget.used)


def _by_bound(problem: policy.Problem) -> list[tuple[int, policy.Target]]:
    """Return the nodes that can be made free, fewest possible victims first, then least possible weight."""
    found = []
    for target in problem.targets:
        bound = minimal_set.least_count(target.need, target.candidates)
        if bound is not None:
            found.append((bound, _least_weight(problem, target, bound), target.name, target))
    found.sort(key=lambda one: one[:3])
    return [(bound, target) for bound, _, _, target in found]


def _least_weight(problem: policy.Problem, target: policy.Target, count: int) -> int:
    """Return what ``count`` victims on this node weigh at least."""
    return sum(sorted(_weight(problem, candidate) for candidate in target.candidates)[:count])


def _simple(
    problem: policy.Problem, line: Sequence[tuple[int, policy.Target]], best: _Best | None
) -> _Best | None:
    """Return the best of what was found and of the simple rules' answers on every node."""
    for _, target in line:
        for rule in greedy.RULES:
            best = _better(problem, target, rule(target), best)
    return best


def _improve(
    problem: policy.Problem,
    target: policy.Target,
    bound: int,
    best: _Best | None,
    budget: minimal_set.Budget,
) -> _Best | None:
    most = len(target.candidates) if target.most is None else min(target.most, len(target.candidates))
    cap = None
    if best is not None:
        most, cap = min(most, len(best.victims)), sum(_weight(problem, victim) for victim in best.victims)
        if bound == len(best.victims) and _least_weight(problem, target, bound) > cap:
            return best
    items = _items(problem, target)
    by_id = {candidate.session_id: candidate for candidate in target.candidates}
    for count in range(bound, most + 1):
        is_equal = best is not None and count == len(best.victims)
        found = minimal_set.smallest(target.need, items, count, cap if is_equal else None, budget)
        if found is not None:
            return _better(problem, target, tuple(by_id[item.number] for item in found), best)
    return best


def _weight(problem: policy.Problem, candidate: policy.Candidate) -> int:
    """Return one number whose sum compares as (summed value, summed share)."""
    return candidate.value * problem.scale + candidate.share


def _items(problem: policy.Problem, target: policy.Target) -> list[minimal_set.Item]:
    return [
        minimal_set.Item(c.gives, _weight(problem, c), orders.start_key(problem.order, c.start), c.session_id)
        for c in target.candidates
    ]


def _better(
    problem: policy.Problem,
    target: policy.Target,
    victims: tuple[policy.Candidate, ...] | None,
    best: _Best | None,
) -> _Best | None:
    if victims is None or (target.most is not None and len(victims) > target.most):
        return best
    key = (
        len(victims),
        sum(victim.value for victim in victims),
        sum(victim.share for victim in victims),
        orders.starts_key(problem.order, victims),
        target.name,
        orders.ids_key(victims),
    )
    return _Best(key, target, victims) if best is None or key < best.key else best
