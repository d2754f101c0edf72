"""
The order ``smallest-resources``: least total share of slots released, then fewest victims. Exact.

A share is the sum over kinds of slots / capacity, as one integer in the problem's common fraction. Branch and
bound, depth first: what the rest must still cost is bounded for each amount by the cheapest rate among the candidates
left, and for all amounts together by prices at which no candidate gives more than its share is worth. Of two
candidates of which one is better in everything, the other is taken only together with it. Source: DESIGN 5.3.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from scheduler.core import entities
from scheduler.core.preemption import greedy, minimal_set, orders, policy

#: Steps of the budget for one candidate that is looked at here: it takes as long as so many of the search by columns.
_EACH = 30
#: Prices are raised in so many rounds.
_ROUNDS = 16
#: Price of one share, so that whole numbers are fine enough.
_PRICE = 1 << 20
#: Candidates of one node beyond which only neighbours in the line are compared.
_MANY = 400
#: Better ones that are asked for before one is taken; more would rule out little more.
_BETTER = 3

_Key = tuple[int, int, int, tuple[int, ...], int, str, tuple[int, ...]]


def select_victims(problem: policy.Problem) -> policy.Answer | None:
    """
    Return the set that releases least, or None when no node can be made free.

    Cost: bounded by ``problem.steps``; at the budget the best irreducible set so far, unproved.
    """
    budget = minimal_set.Budget(problem.steps, problem.meter)
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
        node = _Node(target, self.problem.order)
        if not self._may_win(node, 0, target.need, 0):
            return
        node.prepare()
        for chosen in self._sufficient(node):
            self.budget.spend(_EACH * len(chosen))
            self.offer(target, greedy.give_back(target.need, tuple(chosen)))

    def _sufficient(self, node: _Node) -> Iterator[list[policy.Candidate]]:
        """Yield, depth first, sets that suffice with their last member and may be better than the best."""
        chosen: list[policy.Candidate] = []
        taken = [False] * len(node.line)
        frames: list[tuple[int, tuple[int, ...], int]] = [(0, node.need, 0)]  # next place, rest, cost
        while frames:
            place, rest, cost = frames.pop()
            if place >= len(node.line) or not self._may_win(node, cost, rest, place):
                if (
                    frames
                ):  # the member that opened this frame stands just before the next place of the one below
                    chosen.pop()
                    taken[frames[-1][0] - 1] = False
                continue
            frames.append((place + 1, rest, cost))
            self.budget.spend()
            one = node.line[place]
            if not all(taken[i] for i in node.better[place]) or not _helps(one, rest):
                continue
            self.budget.spend(_EACH)
            left = tuple(r - g for r, g in zip(rest, one.gives, strict=True))
            if max(left) <= 0:
                yield [*chosen, one]
                continue
            chosen.append(one)
            taken[place] = True
            frames.append((place + 1, left, cost + one.total_share))

    def _may_win(self, node: _Node, cost: int, rest: Sequence[int], place: int) -> bool:
        """Say whether a set with what is left from a place on can suffice and cost no more than the best."""
        best = None if self.best is None else self.best[0][0]
        if best is not None and cost + node.line[place].total_share > best:
            return False
        for amount, rate in zip(rest, node.rates[place], strict=True):
            if amount > 0:
                if rate is None:
                    return False
                share, given = rate
                if best is not None and amount * share > (best - cost) * given:
                    return False
        if best is None or node.prices is None:
            return True
        worth = sum(amount * price for amount, price in zip(rest, node.prices, strict=True) if amount > 0)
        return worth <= (best - cost) * _PRICE


def _helps(one: policy.Candidate, rest: Sequence[int]) -> bool:
    return any(r > 0 and g > 0 for r, g in zip(rest, one.gives, strict=True))


#: (share, amount): what an amount costs at least; None where nobody gives any.
_Rate = tuple[int, int] | None


class _Node:
    """The candidates of one node in the order in which they are tried, with what bounds sets of them."""

    def __init__(self, target: policy.Target, order: entities.PreemptionOrder) -> None:
        sign = -1 if order is entities.PreemptionOrder.NEWEST else 1
        self.need = target.need
        self.line = sorted(
            target.candidates, key=lambda c: (c.total_share, c.value, sign * c.start, c.session_id)
        )
        self.rates = _cheapest_rates(self.line)
        self.prices: tuple[int, ...] | None = None
        self.better: list[tuple[int, ...]] = []
        self._sign = sign

    def prepare(self) -> None:
        """Find prices, and who is better than whom: what only a search needs."""
        self.prices = _prices(self.need, self.line)
        self.better = _better(self.line, self._sign)


def _cheapest_rates(line: Sequence[policy.Candidate]) -> list[list[_Rate]]:
    """Return, for every suffix and amount, the least share for what is given."""
    best: list[_Rate] = [None] * len(line[0].gives)
    table = []
    for candidate in reversed(line):
        share = candidate.total_share
        for place, given in enumerate(candidate.gives):
            before = best[place]
            if given and (before is None or share * before[1] < before[0] * given):
                best[place] = share, given
        table.append(list(best))
    return table[::-1]


def _prices(need: Sequence[int], line: Sequence[policy.Candidate]) -> tuple[int, ...]:
    """
    Return a price for each amount such that no candidate gives more than its share is worth.

    Whatever set covers the need costs at least the need at these prices. All are raised together, in rounds, as far as
    the candidates let them.
    """
    slack = [one.total_share * _PRICE for one in line]
    prices = [0] * len(need)
    for left in range(_ROUNDS, 0, -1):
        for place in range(len(need)):
            givers = [(i, one.gives[place]) for i, one in enumerate(line) if one.gives[place]]
            if not givers:
                continue
            most = min(slack[i] // given for i, given in givers)
            more = -(-most // (left * len(need))) if left > 1 else most
            prices[place] += more
            for i, given in givers:
                slack[i] -= more * given
    return tuple(prices)


def _better(line: Sequence[policy.Candidate], sign: int) -> list[tuple[int, ...]]:
    """
    Return for each candidate the places of some that are better in everything, or equal and of a lower id.

    A set with one of them missing is not the best: putting it in the other's place makes the set better.
    """
    if len(line) > _MANY:
        near = ((i - 1,) if i and _is_better(line[i - 1], one, sign) else () for i, one in enumerate(line))
        return list(near)
    columns = [_ranks([c.total_share for c in line]), _ranks([c.value for c in line])]
    columns += [_ranks([sign * c.start for c in line]), _ranks([c.session_id for c in line])]
    columns += [_ranks([-c.gives[k] for c in line]) for k in range(len(line[0].gives))]
    is_better = np.triu(np.ones((len(line), len(line)), dtype=bool), 1)
    for column in columns:
        is_better &= column[:, None] <= column[None, :]
    return [tuple(np.flatnonzero(is_better[:, place])[-_BETTER:].tolist()) for place in range(len(line))]


def _ranks(numbers: Sequence[int]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Return numbers in the same order that fit 64 bits."""
    rank = {number: place for place, number in enumerate(sorted(set(numbers)))}
    return np.array([rank[number] for number in numbers], dtype=np.int64)


def _is_better(a: policy.Candidate, b: policy.Candidate, sign: int) -> bool:
    pairs = [(a.total_share, b.total_share), (a.value, b.value), (sign * a.start, sign * b.start)]
    pairs += [(a.session_id, b.session_id), *((y, x) for x, y in zip(a.gives, b.gives, strict=True))]
    return all(mine <= theirs for mine, theirs in pairs)
