"""Submit a trace at its scaled times, and follow what became of it."""

from __future__ import annotations

import collections
import dataclasses
import time
from collections.abc import Callable, Collection, Sequence

from django.db.models import Count

from scheduler import models
from scheduler.core import decisions, states
from scheduler.services import actors, submission
from scheduler.traces import entries, plans

_GOOD = frozenset({states.Result.SUCCESS, states.Result.PREEMPTED})


@dataclasses.dataclass(frozen=True, slots=True)
class Standing:
    """Where the sessions of a replay stand."""

    results: collections.Counter[str]  #: ended ones by result
    never: int  #: can never run as asked
    alive: int  #: all others

    @property
    def is_settled(self) -> bool:
        """Say whether nothing more will happen by itself."""
        return self.alive == 0

    @property
    def is_good(self) -> bool:
        """Say whether all that could run ran to their ends."""
        return self.is_settled and _GOOD.issuperset(self.results)

    def __str__(self) -> str:
        ended = [f"{count} {result}" for result, count in sorted(self.results.items())]
        return ", ".join([*ended, f"{self.never} can never run as asked", f"{self.alive} alive"])


def submit_all(
    actor: actors.Actor,
    plan: plans.Plan,
    chosen: Sequence[entries.Entry],
    *,
    on_submitted: Callable[[int], None],
    rest: Callable[[float], None] = time.sleep,
) -> None:
    """
    Submit each entry when its scaled time has come; one that is late goes at once.

    Args:
        actor: the owner of the sessions.
        plan: scales and names.
        chosen: in order of arrival.
        on_submitted: called with the session's database id.
        rest: waits for so many seconds.

    Raises:
        Refusal: one was refused; those before it are submitted.
    """
    began = time.monotonic()
    for entry in chosen:
        early_s = began + plan.offset_ms(entry) / 1000 - time.monotonic()
        if early_s > 0:
            rest(early_s)
        on_submitted(submission.submit_session(actor, plan.request(entry)).pk)


def standing(session_ids: Collection[int]) -> Standing:
    """Count how the sessions stand now. One query."""
    rows = models.Session.objects.filter(pk__in=session_ids).values("state", "result", "pend_reason__reason")
    results: collections.Counter[str] = collections.Counter()
    never = alive = 0
    for row in rows.annotate(count=Count("pk")).order_by():
        if row["state"] == states.SessionState.TERMINATED:
            results[row["result"]] += row["count"]
        elif (
            row["state"] == states.SessionState.PENDING
            and row["pend_reason__reason"] in decisions.NEVER_STARTS
        ):
            never += row["count"]
        else:
            alive += row["count"]
    return Standing(results, never, alive)


def follow(
    session_ids: Collection[int],
    *,
    limit_s: float,
    on_look: Callable[[Standing], None],
    rest: Callable[[float], None] = time.sleep,
) -> Standing:
    """Look once a second until all are settled or the limit is over; returns the last standing."""
    until = time.monotonic() + limit_s
    while True:
        now = standing(session_ids)
        on_look(now)
        if now.is_settled or time.monotonic() >= until:
            return now
        rest(1)
