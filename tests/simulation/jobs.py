"""What a cluster on virtual time remembers: sessions, the room kept for them, and how each decision turned out."""

from __future__ import annotations

import dataclasses
from typing import Any

from scheduler.core import decisions, entities, resources

SECOND = 1_000_000


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

    @property
    def has_lost(self) -> bool:
        """Say whether a victim lost work that nobody gives back."""
        return any(
            fate == "stopped"
            and self.orders[victim].mode is not entities.PreemptionMode.SUSPEND
            and self.orders[victim].action is not decisions.Action.CANCEL_DISPATCH
            for victim, fate in self.fates.items()
        )

    def has_begun_to_kill(self, now: int) -> bool:
        """Say whether a kill has begun, by proof or by the clock of its grace."""
        kills = (
            victim
            for victim, order in self.orders.items()
            if order.mode is not entities.PreemptionMode.SUSPEND
            and order.action is not decisions.Action.CANCEL_DISPATCH
        )
        return any(
            self.fates.get(victim) in ("stopped", "finished")
            or (victim not in self.fates and self.at + self.orders[victim].grace_s * SECOND <= now)
            for victim in kills
        )

    def close(self, outcome: str, cause: str = "") -> None:
        """Write the outcome, once."""
        if not self.outcome:
            self.outcome, self.cause = outcome, cause
