"""
Running a round again on a changed snapshot, within a budget.

The budget counts rounds; a caller with a clock may end it earlier. Source: DESIGN 4 ("the same core call").
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Sequence

from scheduler.core import decisions, preview, snapshot
from scheduler.core.counterfactuals import answers, changes
from scheduler.core.preemption import policy, shipped

#: Rounds that one explanation may run.
MOST_ROUNDS = 400


class BudgetEnded(Exception):
    """No further round may be run."""


class PolicyUnsure(Exception):
    """A policy that has no part in the core failed: what the round came to says nothing. Carries its name."""


#: Makes the mapping of policies for one round on a snapshot.
PoliciesFor = Callable[[snapshot.Snapshot], policy.Policies]


def _always() -> bool:
    return True


def _shipped(view: snapshot.Snapshot) -> policy.Policies:
    return shipped.FOR_QUEUES


class Rounds:
    """
    Runs rounds until its budget has ended.

    Args:
        most: rounds.
        may_go_on: whether the caller still wants one.
        policies_for: asked before each round.
        foreign: policies among these whose failure may be one of the moment: too slow, ended, a bad answer.
    """

    def __init__(
        self,
        *,
        most: int = MOST_ROUNDS,
        may_go_on: Callable[[], bool] = _always,
        policies_for: PoliciesFor = _shipped,
        foreign: Collection[str] = (),
    ) -> None:
        self.left = most
        self._may_go_on = may_go_on
        self._policies_for = policies_for
        self._foreign = foreign

    def run(self, view: snapshot.Snapshot) -> list[decisions.Decision]:
        """
        Return the decisions of one round.

        Raises:
            BudgetEnded: this would be one round too many.
            PolicyUnsure: one of the foreign policies failed in it.
        """
        if self.left < 1 or not self._may_go_on():
            raise BudgetEnded
        self.left -= 1
        found = preview.collect(view, policies=self._policies_for(view), records_all=True)
        self._doubt(found)
        return found

    def _doubt(self, found: list[decisions.Decision]) -> None:
        if not self._foreign:
            return
        for text in {str(one.facts.get("policy", "")) for one in found if isinstance(one, decisions.Pend)}:
            for name in self._foreign:
                if text.startswith(f"the preemption policy {name} "):
                    raise PolicyUnsure(name)

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
    nodes: Sequence[decisions.NodeView] = ()

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
            return Fate(outcome, (), one.reason, one.candidates, one.nodes)
    return Fate(answers.Outcome.WAITS)
