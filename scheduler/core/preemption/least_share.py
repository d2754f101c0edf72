"""
The order ``smallest-resources``: least total share of slots released, then fewest victims. Exact.

A share is the sum over kinds of slots / capacity, as one integer in the problem's common fraction. Branch and
bound: what the rest must still cost is bounded per dimension by the cheapest rate among the candidates left.
Source: DESIGN 5.3.
"""

from __future__ import annotations

import fractions
from collections.abc import Sequence

from scheduler.core.preemption import greedy, minimal_set, orders, policy

_Key = tuple[int, int, int, tuple[int, ...], int, str, tuple[int, ...]]


def select_victims(problem: policy.Problem) -> policy.Answer | None:
    """
    Return the set that releases least, or None when no node can be made free.

    Cost: bounded by ``problem.steps``; at the budget the best irreducible set so far, unproved.
    """
    budget = minimal_set.Budget(problem.steps)
    search = _Search(problem, budget)
    is_proved = True
    for target in problem.targets:
        for rule in greedy.RULES:
            search.offer(target, rule(target))
    try:
        for target in problem.targets:
            search.improve(target)
    except minimal_set.BudgetSpent:
        is_proved = False
    if search.best is None:
        return None
    _, target, victims = search.best
    return policy.Answer(target.node_id, orders.stop_order(victims), is_proved, budget.used)


class _Search:
    """The best set so far, and the depth-first search that improves it node by node."""

    def __init__(self, problem: policy.Problem, budget: minimal_set.Budget) -> None:
        self.problem, self.budget = problem, budget
        self.best: tuple[_Key, policy.Target, greedy.Victims] | None = None

    def offer(self, target: policy.Target, victims: greedy.Victims | None) -> None:
        """Keep a sufficient set when it is better than the best."""
        if victims is None or (target.most is not None and len(victims) > target.most):
            return
        key: _Key = (
            sum(victim.total_share for victim in victims),
            len(victims),
            sum(victim.value for victim in victims),
            orders.starts_key(self.problem.order, victims),
            target.rank,
            target.name,
            orders.ids_key(victims),
        )
        if self.best is None or key < self.best[0]:
            self.best = key, target, victims

    def improve(self, target: policy.Target) -> None:
        """Look at every set on one node that could be better than the best."""
        line = sorted(target.candidates, key=lambda c: (c.total_share, c.session_id))
        self._descend(target, (line, _cheapest_rates(line)), 0, target.need, ())

    def _descend(
        self,
        target: policy.Target,
        table: tuple[Sequence[policy.Candidate], Sequence[Sequence[fractions.Fraction | None]]],
        start: int,
        rest: tuple[int, ...],
        chosen: greedy.Victims,
    ) -> None:
        if max(rest) <= 0:
            self.offer(target, greedy.give_back(target.need, chosen))
            return
        line, rates = table
        cost = sum(victim.total_share for victim in chosen)
        for place in range(start, len(line)):
            if not self._may_win(cost, rest, rates[place]):
                return
            candidate = line[place]
            if not any(r > 0 and g > 0 for r, g in zip(rest, candidate.gives, strict=True)):
                continue
            self.budget.spend()
            left = tuple(r - g for r, g in zip(rest, candidate.gives, strict=True))
            self._descend(target, table, place + 1, left, (*chosen, candidate))

    def _may_win(self, cost: int, rest: Sequence[int], rates: Sequence[fractions.Fraction | None]) -> bool:
        for amount, rate in zip(rest, rates, strict=True):
            if amount > 0:
                if rate is None:
                    return False
                if self.best is not None and cost + amount * rate > self.best[0][0]:
                    return False
        return True


def _cheapest_rates(line: Sequence[policy.Candidate]) -> list[list[fractions.Fraction | None]]:
    """
    Return, for every suffix and dimension, the least share per amount given; None when nobody gives any.
    """
    size = len(line[0].gives)
    best: list[fractions.Fraction | None] = [None] * size
    table = []
    for candidate in reversed(line):
        for place, given in enumerate(candidate.gives):
            if given:
                rate = fractions.Fraction(candidate.total_share, given)
                before = best[place]
                best[place] = rate if before is None else min(before, rate)
        table.append(list(best))
    return table[::-1]
