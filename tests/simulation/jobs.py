"""What a cluster on virtual time remembers: sessions, the room kept for them, and how each decision turned out."""

from __future__ import annotations

import dataclasses
from typing import Any

from scheduler.core import decisions, entities, resources

SECOND = 1_000_000


class Fault(AssertionError):
    """The cluster is in a state that must not be; says which, and after how many rounds."""


@dataclasses.dataclass
class Job:
    """One session, and what only the machine that runs it would know."""

    session: entities.Session
    work: int  #: microseconds that it still has to run
    runs_since: int = 0
    token: int = 0  #: an answer of the fleet that carries another one comes too late
    decision: int | None = None  #: the decision under way that stops it

    def change(self, **fields: Any) -> None:
        """Replace fields of the session; answers that are under way no longer count."""
        self.session = dataclasses.replace(self.session, **fields)
        self.token += 1


@dataclasses.dataclass
class Kept:
    """A reservation."""

    id: int
    holder: int
    node_id: int
    slots: resources.ResourceVector
    drawn: resources.ResourceVector
    waits_for: set[int]
    deadline: int
    decision: int
    is_wait: bool
    inherits: frozenset[int] = frozenset()  #: decisions taken over with their stops


@dataclasses.dataclass
class Told:
    """A decision, its victims' fates and its outcome."""

    id: int
    preemptor: int
    at: int
    orders: dict[int, decisions.VictimOrder]
    fates: dict[int, str] = dataclasses.field(default_factory=dict)  #: victim -> stopped, finished, undone
    outcome: str = ""
    cause: str = ""
    given_up: str = ""  #: ended while the fate of a victim is open: the cause
    heirs: dict[int, int] = dataclasses.field(
        default_factory=dict
    )  #: victim -> decision that goes on with it

    def of(self, heir: int | None = None) -> list[int]:
        """Return the victims that this decision, or the one that goes on with their stop, answers for."""
        return [victim for victim in self.orders if self.heirs.get(victim) == heir]

    def has_lost(self, heir: int | None = None) -> bool:
        """Say whether a victim lost work that nobody gives back."""
        return any(self._is_kill(victim) and self.fates.get(victim) == "stopped" for victim in self.of(heir))

    def has_begun_to_kill(self, now: int, heir: int | None = None) -> bool:
        """Say whether a kill has begun, by proof or by the clock of its grace."""
        return any(
            self.fates.get(victim) in ("stopped", "finished")
            or (victim not in self.fates and self.at + self.orders[victim].grace_s * SECOND <= now)
            for victim in self.of(heir)
            if self._is_kill(victim)
        )

    def _is_kill(self, victim: int) -> bool:
        order = self.orders[victim]
        is_suspend = order.mode is entities.PreemptionMode.SUSPEND
        return not is_suspend and order.action is not decisions.Action.CANCEL_DISPATCH

    def close(self, outcome: str, cause: str = "") -> None:
        """Write the outcome, once."""
        if not self.outcome:
            self.outcome, self.cause = outcome, cause
