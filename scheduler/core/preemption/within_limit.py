"""
The best set that suspends no more sessions on one node than the group allows.

Where each stop on a node is a suspend of a session of that node alone, the limit is a number of victims, and the
policies keep it themselves. Where some are ended instead, or suspended on several nodes at once, it bounds a part of
the victims. Then a policy is asked without it, and its answer is the best there is if it happens to keep it; if not,
one of those beyond it has to stay, so each of them in turn is taken out and the policy is asked again, the best
answers first. What is found so is not called proved. Source: DESIGN 2 (``max_suspended_per_node``), 5.1, 5.3.
"""

from __future__ import annotations

import dataclasses
import heapq
from collections.abc import Callable

from scheduler.core import entities
from scheduler.core.preemption import eligibility, orders, policy, problems

#: How often one preemptor's policy is asked at most; after that the simple ways are taken.
MOST_ASKED = 64

Ask = Callable[[problems.Judged], policy.Answer | None]


def best(judged: problems.Judged, ask: Ask) -> policy.Answer | None:
    """
    Return the policy's best answer that keeps the limit of suspended sessions; None = no set does.

    Args:
        judged: the preemptor's question; ``is_held_by_limit`` is set when the limit alone stands in the way.
        ask: the policy, asked about the question or about a part of it.
    """
    first = ask(judged)
    if first is None or not _beyond(judged, first) or _is_against_its_number(judged, first):
        return first
    found = _searched(judged, ask, first)
    judged.is_held_by_limit = found is None
    return found and dataclasses.replace(found, is_proved=False, proof=None)


def _searched(judged: problems.Judged, ask: Ask, first: policy.Answer) -> policy.Answer | None:
    seen, asked = {frozenset[int]()}, 1
    waiting = [(_loss(judged, first), 0, frozenset[int](), first)]
    while waiting:
        _, _, spared, answer = heapq.heappop(waiting)
        beyond = _beyond(judged, answer)
        if not beyond:
            return answer
        for one in sorted(beyond):
            fewer = spared | {one}
            if fewer in seen:
                continue
            if asked >= MOST_ASKED:
                return _simple(judged, ask)
            seen.add(fewer)
            asked += 1
            other = _without(fewer, ask(judged.part(spared=fewer)))
            if other is not None:
                heapq.heappush(waiting, (_loss(judged, other), asked, fewer, other))
    return None


def _simple(judged: problems.Judged, ask: Ask) -> policy.Answer | None:
    """Return the better of two sets that keep the limit in any case: few stops in all, and no suspend at all."""
    ways = (judged.part(is_strict=True), judged.part(spared=judged.suspendable()))
    found = [answer for answer in map(ask, ways) if answer is not None and not _beyond(judged, answer)]
    return min(found, key=lambda answer: _loss(judged, answer), default=None)


def _beyond(judged: problems.Judged, answer: policy.Answer) -> frozenset[int]:
    return frozenset() if judged.offer is None else judged.offer.beyond_limit(answer.victim_ids)


def _is_against_its_number(judged: problems.Judged, answer: policy.Answer) -> bool:
    """Say whether a policy was told how many may be stopped on its node and takes more: no answer at all."""
    table = None if judged.offer is None else judged.offer.of_node(answer.node_id)
    return table is not None and len(answer.victim_ids) > table.mosts[0]


def _without(spared: frozenset[int], answer: policy.Answer | None) -> policy.Answer | None:
    if answer is not None and spared & set(answer.victim_ids):
        raise policy.PolicyFailed("chose a session that may not be stopped")
    return answer


def _loss(judged: problems.Judged, answer: policy.Answer) -> tuple[object, ...]:
    """Return what is compared of two sets: number, sum and ties; of one's own the highest of them before."""
    question = judged.question
    by_id, order = question.context.session_by_id, question.policy.order
    victims = [by_id[one] for one in answer.victim_ids if one in by_id]
    values = [eligibility.value(judged.axis, victim) for victim in victims]
    ceiling = max(values, default=0) if judged.axis is entities.Axis.OWNER else 0
    starts = sorted(orders.start_key(order, victim.started_at or 0) for victim in victims)
    node = question.context.node_by_id.get(answer.node_id)
    ids = sorted(answer.victim_ids)
    return ceiling, len(values), sum(values), tuple(starts), "" if node is None else node.name, tuple(ids)
