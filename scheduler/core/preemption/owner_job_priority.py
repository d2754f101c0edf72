"""
The policy of the owner axis: no session goes where one of lower ``job_priority`` would do.

First the lowest possible ceiling of ``job_priority`` over all nodes; under it by the group's
``preemption_order``. Not selectable for queues. Source: BEP-1055 3(b) ("job_priority ascending, then
preemption_order"); DESIGN 5.3, 11.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable

from scheduler.core import entities
from scheduler.core.preemption import fewest, greedy, least_share, orders, policy, tables

NAME = "owner_job_priority"
_ORDER = entities.PreemptionOrder


def select_victims(problem: policy.Problem) -> policy.Answer | None:
    """
    Return the best set under the lowest ceiling, or None when no node can be made free.

    Where looking for the ceiling takes all the steps, it is the lowest that was found, and nothing is proved.
    """
    if problem.meter is None:
        problem = dataclasses.replace(problem, meter=policy.Meter())
    capped = _under_lowest_ceiling(problem)
    answer = _BY_ORDER[problem.order](capped) if capped.targets else None
    if answer is None or problem.meter is None or problem.meter.spent < problem.steps:
        return answer
    return dataclasses.replace(answer, is_proved=False, proof=None)


def _under_lowest_ceiling(problem: policy.Problem) -> policy.Problem:
    """Keep the nodes that the lowest ceiling suffices for, and only candidates at or below it."""
    ceilings = {target.node_id: _ceiling(problem, target) for target in problem.targets}
    reachable = [ceiling for ceiling in ceilings.values() if ceiling is not None]
    if not reachable:
        return dataclasses.replace(problem, targets=())
    lowest = min(reachable)
    return _capped(problem, (t for t in problem.targets if ceilings[t.node_id] == lowest), lowest)


def _ceiling(problem: policy.Problem, target: policy.Target) -> int | None:
    """
    Return the lowest value such that of the candidates at or below it as many as may be stopped suffice, or None.
    """
    taken = greedy.take_until(target.need, sorted(target.candidates, key=lambda c: (c.value, c.session_id)))
    if taken is None or target.most is None or len(greedy.give_back(target.need, taken)) <= target.most:
        return None if taken is None else taken[-1].value
    values = sorted({c.value for c in target.candidates if c.value >= taken[-1].value})
    return next((one for one in values if _fewest(_capped(problem, [target], one))), None)


def _capped(problem: policy.Problem, targets: Iterable[policy.Target], ceiling: int) -> policy.Problem:
    """Keep some nodes, and only candidates at or below the ceiling."""
    kept = (
        dataclasses.replace(t, candidates=tuple(c for c in t.candidates if c.value <= ceiling))
        for t in targets
    )
    return dataclasses.replace(problem, targets=tuple(kept))


def _in_order(problem: policy.Problem) -> policy.Answer | None:
    """
    Take by job_priority, start time, id until it suffices; give back what is not needed, last taken first.

    Where that is more on every node than may be stopped there, the fewest are taken.
    """
    found = []
    for target in problem.targets:
        line = sorted(
            target.candidates,
            key=lambda c: (c.value, orders.start_key(problem.order, c.start), c.session_id),
        )
        taken = greedy.take_until(target.need, line)
        victims = None if taken is None else greedy.give_back(target.need, taken)
        if victims is not None and (target.most is None or len(victims) <= target.most):
            found.append((_in_order_key(problem, target, victims), target.node_id, victims))
    if not found:
        return _fewest(problem)
    _, node_id, victims = min(found, key=lambda one: one[0])
    return policy.Answer(node_id, tuple(victim.session_id for victim in victims), True, 0)


def _in_order_key(
    problem: policy.Problem, target: policy.Target, victims: greedy.Victims
) -> tuple[object, ...]:
    total = sum(victim.value for victim in victims)
    return len(victims), total, orders.starts_key(problem.order, victims), target.rank, target.name


def _fewest(problem: policy.Problem) -> policy.Answer | None:
    """
    Take the fewest, then the lowest sum; shares elsewhere do not count, and placement goes before the name.
    """
    table = tables.of(problem.targets)
    line = tables.integers(table.ranks) * len(table) + table.heads.line
    return fewest.select(table, problem, table.columns.value, line)


_BY_ORDER: dict[entities.PreemptionOrder, Callable[[policy.Problem], policy.Answer | None]] = {
    _ORDER.OLDEST: _in_order,
    _ORDER.NEWEST: _in_order,
    _ORDER.FEWEST_SESSIONS: _fewest,
    _ORDER.SMALLEST_RESOURCES: least_share.select_victims,
}
