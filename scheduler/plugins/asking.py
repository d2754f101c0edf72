"""
The mapping from name to policy that a round gets: those of the core, and foreign ones that its queues name.

Source: DESIGN 5.2, 5.3: the core checks every answer again.
"""

from __future__ import annotations

from scheduler.core import snapshot
from scheduler.core.preemption import policy, shipped
from scheduler.plugins import catalog, pool


def policies_for(view: snapshot.Snapshot, workers: pool.Pool = pool.SHARED) -> policy.Policies:
    """
    Return what the queues of a snapshot may name, for one round.

    A name that is not installed is not in the mapping: the core says so, and stops nobody for that queue. Cost: none
    where no queue names a foreign policy.
    """
    named = {queue.preempt_policy for queue in view.queues if queue.preempt_policy}
    foreign = named - set(shipped.FOR_QUEUES)
    if not foreign:
        return shipped.FOR_QUEUES
    found, budget = catalog.foreign(), pool.Budget(workers.limits)
    asked = {name: _policy(found[name], workers, budget) for name in foreign & set(found)}
    return {**shipped.FOR_QUEUES, **asked}


def _policy(found: catalog.Found, workers: pool.Pool, budget: pool.Budget) -> policy.PreemptPolicy:
    if found.fault:
        return _refusing(found.fault)
    return lambda problem: workers.ask(found, problem, budget)


def _refusing(fault: str) -> policy.PreemptPolicy:
    def refuse(problem: policy.Problem) -> policy.Answer | None:
        raise policy.PolicyFailed(fault)

    return refuse
