"""How entries of a trace become sessions: scaled time, group, queues, and a program in place of the work."""

from __future__ import annotations

import dataclasses
import fractions
from collections.abc import Iterable, Mapping

from scheduler.demo import commands
from scheduler.services import actors, submission
from scheduler.traces import entries


@dataclasses.dataclass(frozen=True, slots=True)
class Plan:
    """What is the same for every session of a replay."""

    group: str  #: slug
    queues: Mapping[str, str]  #: service class -> queue's slug
    other_queue: str  #: for classes that the map does not name
    speed: fractions.Fraction = fractions.Fraction(1)  #: seconds of the trace in one second here, > 0
    min_life_ms: int = 0

    def with_queues(self, queues: Mapping[str, str]) -> Plan:
        """Return this plan with other queues for some service classes."""
        return dataclasses.replace(self, queues={**self.queues, **queues})

    def offset_ms(self, entry: entries.Entry) -> int:
        """Return when the entry is to be submitted, in milliseconds after the first."""
        return int(entry.submit_ms / self.speed)

    def life_ms(self, entry: entries.Entry) -> int:
        """Return how long its process lives."""
        return max(int(entry.life_ms / self.speed), self.min_life_ms)

    def request(self, entry: entries.Entry) -> submission.SubmitRequest:
        """Return what is submitted for an entry."""
        return submission.SubmitRequest(
            name=entry.name,
            group=self.group,
            queue=self.queues.get(entry.service_class, self.other_queue),
            argv=commands.occupy(self.life_ms(entry)),
            slots=dict(entry.slots),
            node_count=entry.node_count,
        )


def find_refused(actor: actors.Actor, plan: Plan, chosen: Iterable[entries.Entry]) -> list[str]:
    """
    Ask the submission's own check about each kind of request in the trace; nothing is written.

    Returns:
        One line for each problem, with the first line of the trace that has it; empty = all can be submitted.
    """
    last_first = sorted(chosen, key=lambda entry: entry.line, reverse=True)
    firsts = {_shape(plan, entry): entry for entry in last_first}
    found = []
    for entry in sorted(firsts.values(), key=lambda entry: entry.line):
        found += [f"line {entry.line}: {problem}" for problem in _problems(actor, plan.request(entry))]
    return found


def _shape(plan: Plan, entry: entries.Entry) -> tuple[object, ...]:
    """Return what a refusal can depend on; amounts that fit nowhere are no refusal, such sessions pend."""
    return plan.queues.get(entry.service_class), frozenset(entry.slots), entry.node_count > 1


def _problems(actor: actors.Actor, request: submission.SubmitRequest) -> list[str]:
    found = submission.check_request(actor, request)
    return [f"{field}: {fault}" if field else fault for field, fault in found.items()]
