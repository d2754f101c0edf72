"""The policies that come with the core, by the name a queue gives."""

from __future__ import annotations

from scheduler.core.preemption import lowest_priority_first, owner_job_priority, policy

#: What a queue may name in ``preempt_policy``.
FOR_QUEUES: policy.Policies = {lowest_priority_first.NAME: lowest_priority_first.select_victims}
#: What each of them does, for who chooses one.
DESCRIPTIONS = {
    lowest_priority_first.NAME: "The fewest sessions that make enough room; of equally few those with the lowest"
    " priorities, then those that free least elsewhere."
}
#: What a queue uses that names none.
DEFAULT = lowest_priority_first.NAME
#: The owner axis always uses this one.
FOR_OWNERS = owner_job_priority.NAME
#: The owner axis always uses this one.
owner_policy: policy.PreemptPolicy = owner_job_priority.select_victims
