"""
What a round would do under other rules: the same call, with a callback that collects.

There is no special path for a preview; what it shows is what the next round would decide on the same
snapshot.
Source: DESIGN 4 ("preview, shadow, dry-run submit, re-run and trace replay are the same core call").
"""

from __future__ import annotations

import dataclasses

from scheduler.core import decisions, entities, rounds, snapshot
from scheduler.core.preemption import policy, shipped


def would_preempt(
    view: snapshot.Snapshot, rules: entities.Policy, *, policies: policy.Policies = shipped.FOR_QUEUES
) -> list[decisions.Decision]:
    """Return what a round would decide now if these rules were in force and preemption were on."""
    switched = dataclasses.replace(rules, state=entities.PreemptionState.ON)
    return collect(dataclasses.replace(view, policy=switched), policies=policies)


def collect(
    view: snapshot.Snapshot, *, policies: policy.Policies = shipped.FOR_QUEUES, records_all: bool = False
) -> list[decisions.Decision]:
    """Return the decisions of one round, in order; ``records_all`` as of ``rounds.run_round``."""
    found: list[decisions.Decision] = []
    rounds.run_round(view, found.append, policies=policies, records_all=records_all)
    return found
