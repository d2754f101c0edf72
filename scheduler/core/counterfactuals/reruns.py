"""
Running a round again on a changed snapshot, within a budget.

The budget counts rounds; a caller with a clock may end it earlier. Source: DESIGN 4 ("the same core call").
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

from scheduler.core import decisions, preview, snapshot
from scheduler.core.counterfactuals import answers, changes
from scheduler.core.preemption import policy, shipped

#: Rounds that one explanation may run.
MOST_ROUNDS = 400


class BudgetEnded(Exception):
    """No further round may be run."""


def _always() -> bool:
    return True


class Rounds:
    """Runs rounds until its budget has ended."""

    def __init__(
        self,
        *,
        most: int = MOST_ROUNDS,
        may_go_on: Callable[[], bool] = _always,
        policies: policy.Policies = shipped.FOR_QUEUES,
    ) -> None:
        self.left = most
        self._may_go_on = may_go_on
        self._policies = policies

    def run(self, view: snapshot.Snapshot) -> list[decisions.Decision]:
        """
        Return the decisions of one round.

        Raises:
            BudgetEnded: this would be one round too many.
        """
        if self.left < 1 or not self._may_go_on():
            raise BudgetEnded
        self.left -= 1
        return preview.collect(view, policies=self._policies, records_all=True)

    def of_waiting(self, view: snapshot.Snapshot, session_id: int) -> Fate:
        """Return what a round does for one waiting session."""
        found = self.run(changes.without_those_behind(view, session_id))
        return fate_of(found, session_id)

    def stops_of(self, view: snapshot.Snapshot, session_id: int) -> list[decisions.Preempt]:
        """Return the stops of a round that have one session among their victims."""
        return stops(self.run(view), session_id)


def stops(found: list[decisions.Decision], session_id: int) -> list[decisions.Preempt]:
    """Return those stops (shadow ones included) that have one session among their victims."""
    return [d for d in found if isinstance(d, decisions.Preempt) and session_id in d.victim_jobids]


@dataclasses.dataclass(frozen=True, slots=True)
class Fate:
    """What one round decided for one waiting session."""

    outcome: answers.Outcome
    victims: tuple[int, ...] = ()
    reason: decisions.PendReason | None = None
    candidates: Sequence[decisions.CandidateView] = ()

    @property
    def has_room(self) -> bool:
        """Say whether it starts, or room is made or kept for it."""
        return self.outcome is not answers.Outcome.WAITS


_KEPT = frozenset({decisions.PendReason.AWAITING_RELEASE, decisions.PendReason.AWAITING_VICTIMS})


def fate_of(found: list[decisions.Decision], session_id: int) -> Fate:
    """Return what was decided for one waiting session; what shadow plans for it is no fate."""
    for one in found:
        if isinstance(one, decisions.Preempt):
            if one.preempting_jobid == session_id and not one.is_shadow:
                return Fate(answers.Outcome.STOPS, one.victim_jobids, None, one.candidates)
        elif one.session_id == session_id:
            if isinstance(one, decisions.Dispatch):
                return Fate(answers.Outcome.STARTS)
            kept = one.reason in _KEPT
            outcome = answers.Outcome.KEPT if kept else answers.Outcome.WAITS
            return Fate(outcome, (), one.reason, one.candidates)
    return Fate(answers.Outcome.WAITS)
