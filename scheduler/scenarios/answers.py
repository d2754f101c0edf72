"""What a case came to: the answer for each waiting session, and the result of the case."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Mapping
from typing import Any

from scheduler.core import decisions, entities


class Outcome(enum.StrEnum):
    """What became of one waiting session."""

    PLACE = "place"
    WAIT = "wait"  #: what is already being stopped suffices
    PREEMPT = "preempt"
    PEND = "pend"


class Rule(enum.StrEnum):
    """Which rule chose the victims, in the words of the format."""

    NONE = ""  #: nobody was stopped
    LOWEST_FIRST = "lowest-first"  #: owner_job_priority by start time
    EXACT = "exact"  #: lowest_priority_first, and owner_job_priority with fewest-sessions
    NORMALISED_SMALLEST = "normalised-smallest"  #: owner_job_priority with smallest-resources
    MINIMAL = "minimal"  #: a plug-in: no member could be left out, and no more is promised


@dataclasses.dataclass(frozen=True)
class Answer:
    """The answer for one waiting session."""

    outcome: Outcome
    victims: tuple[str, ...] = ()  #: names, sorted
    target: str = ""  #: the node where it starts, or where room is made
    rule: Rule = Rule.NONE
    reason: str = ""  #: the headline reason of a wait, "" when it starts

    def plain(self) -> dict[str, Any]:
        """Return the answer as JSON has it."""
        return {
            "outcome": str(self.outcome),
            "victims": list(self.victims),
            "target": self.target,
            "rule": str(self.rule),
            "reason": self.reason,
        }


def headlines(code: str) -> frozenset[str]:
    """Return the headlines that an expected code stands for: no-resources for every shortage, others for themselves."""
    is_any = code == decisions.PendReason.NO_RESOURCES
    return frozenset(decisions.SHORT_OF_SLOTS) if is_any else frozenset({code})


class Verdict(enum.StrEnum):
    """The result of a case."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclasses.dataclass(frozen=True)
class Result:
    """One case's result, why, and the answers where there are any."""

    id: str
    verdict: Verdict
    why: str = ""
    pending: Mapping[str, Answer] = dataclasses.field(default_factory=dict)

    def plain(self) -> dict[str, Any]:
        """Return the result as JSON has it."""
        return {
            "id": self.id,
            "result": str(self.verdict),
            "why": self.why,
            "pending": {name: answer.plain() for name, answer in self.pending.items()},
        }


def rule_in_force(axis: entities.Axis, order: entities.PreemptionOrder, policy_name: str) -> Rule:
    """Return the rule by which victims of an axis are chosen."""
    if axis is entities.Axis.QUEUE:
        return Rule.EXACT if policy_name in ("", "lowest_priority_first") else Rule.MINIMAL
    by_order = {
        entities.PreemptionOrder.FEWEST_SESSIONS: Rule.EXACT,
        entities.PreemptionOrder.SMALLEST_RESOURCES: Rule.NORMALISED_SMALLEST,
    }
    return by_order.get(order, Rule.LOWEST_FIRST)
