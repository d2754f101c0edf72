"""
The default policy of the queue axis: the fewest victims over all nodes, then the lowest summed priority.
Exact.

Ties: least share of slots freed on other nodes, start times, node name, sorted ids. At the budget of steps the
best of what was found and of the simple rules' answers is taken; then the answer is irreducible and unproved.
Source: XCE spec AC3; DESIGN 5.3.
"""

from __future__ import annotations

from scheduler.core.preemption import fewest, keeping, policy, tables

NAME = "lowest_priority_first"


def select_victims(problem: policy.Problem) -> policy.Answer | None:
    """
    Return the best set over all nodes, or None when no node can be made free.

    Cost: bounded by ``problem.steps``.
    """
    targets = problem.targets
    if isinstance(targets, tables.Source) and targets.kept is not None:
        return keeping.select(targets, targets.kept, problem)
    table = tables.of(targets)
    own = table.columns
    weight = own.value
    if own.share.any():
        weight = tables.exact(own.value.astype(object) * problem.scale + own.share, times=len(own.share) + 1)
    return fewest.select(table, problem, weight, table.heads.line)
