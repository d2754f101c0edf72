"""
What is allowed but dangerous about a group's rules, in words, for whoever is about to put them into force.

Internal to pages, API and command: the caller has asked whether the viewer may see the group.
Source: DESIGN 6.3; ECOSYSTEM D.2 (guard rails).
"""

from __future__ import annotations

import dataclasses
import enum

from scheduler import models
from scheduler.core import entities
from scheduler.core.preemption import queue_graph

_SUSPEND = entities.PreemptionMode.SUSPEND.value
#: Kinds that a stopped process keeps.
_KEPT = ("cuda.device", "mem")
_WORDS = {"mem": "memory", "cuda.device": "device memory"}


class Code(enum.StrEnum):
    """Why somebody should think twice."""

    KEEPS_MEMORY = "keeps-memory"
    NO_MINIMUM_RUNTIME = "no-minimum-runtime"
    MUTUAL_QUEUES = "mutual-queues"
    QUEUE_CYCLE = "queue-cycle"
    ENDS_FOR_GOOD = "ends-for-good"


@dataclasses.dataclass(frozen=True, slots=True)
class Caution:
    """One thing to think about; ``**`` marks what a page prints bold."""

    code: Code
    text: str


def of(group: models.ResourceGroup, rules: models.PolicyVersion) -> list[Caution]:
    """Return what is dangerous about these rules, in force or not, once they are switched on. Two queries."""
    queues = list(group.queues.prefetch_related("preemptible_queues").order_by("slug"))
    found = [_keeps_memory(rules, queues), _no_minimum_runtime(rules, queues), _ends_for_good(rules)]
    return [*filter(None, found), *_mutual(rules, queues)]


def _keeps_memory(rules: models.PolicyVersion, queues: list[models.Queue]) -> Caution | None:
    modes = {rules.preemption_mode, *(queue.preemption_mode for queue in queues if queue.preemptible)}
    released = [kind for kind in _KEPT if rules.suspend_releases is None or kind in rules.suspend_releases]
    if _SUSPEND not in modes or not released:
        return None
    kept = " and ".join(_WORDS[kind] for kind in reversed(released))
    text = (
        f"A suspended process **keeps its {kept}**, but these rules give {'it' if len(released) == 1 else 'both'}"
        f" to others. Leave {' and '.join(reversed(released))} out of what a suspend releases, unless the programs"
        " free them."
    )
    return Caution(Code.KEEPS_MEMORY, text)


def _no_minimum_runtime(rules: models.PolicyVersion, queues: list[models.Queue]) -> Caution | None:
    is_by_queue = rules.preemption_scope != entities.PreemptionScope.OWNER.value
    takers = any(queue.preemptible_queues.all() for queue in queues)
    if not is_by_queue or rules.preemption_min_runtime or not takers:
        return None
    text = (
        "**No protected time**: a session can be stopped by another queue's the moment it has started. 60 s or more"
        " spare it from being started and stopped again and again."
    )
    return Caution(Code.NO_MINIMUM_RUNTIME, text)


def _ends_for_good(rules: models.PolicyVersion) -> Caution | None:
    if rules.preemption_mode != entities.PreemptionMode.TERMINATE.value:
        return None
    return Caution(Code.ENDS_FOR_GOOD, "Victims **end** and do not start again by themselves.")


def _mutual(rules: models.PolicyVersion, queues: list[models.Queue]) -> list[Caution]:
    if rules.preemption_scope == entities.PreemptionScope.OWNER.value:
        return []
    preemptible = {queue.slug for queue in queues if queue.preemptible}
    takes = {
        queue.slug: preemptible & {other.slug for other in queue.preemptible_queues.all()} for queue in queues
    }
    return [of_cycle(cycle) for cycle in queue_graph.cycles(takes)]


def of_cycle(cycle: queue_graph.Cycle) -> Caution:
    """Return what is to be said of queues that may preempt each other, directly or over others."""
    names = f"{', '.join(cycle[:-1])} and {cycle[-1]}"
    if len(cycle) == 2:
        text = f"Queues **{names}** may stop each other's sessions: the higher priority wins, in either direction."
        return Caution(Code.MUTUAL_QUEUES, text)
    steps = ", ".join(
        f"{taker} stops {giver}" for taker, giver in zip(cycle, (*cycle[1:], cycle[0]), strict=True)
    )
    text = (
        f"Queues **{names}** may stop each other's sessions in a cycle: {steps}."
        " The higher priority wins, at each step."
    )
    return Caution(Code.QUEUE_CYCLE, text)
