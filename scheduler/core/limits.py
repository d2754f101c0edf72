"""
What owners and queues may still take during a round.

An account counts kinds and, under the name ``sessions``, the number of sessions. Only limited kinds are
looked at. The usage of a snapshot is that of allocations alone; the round adds what the group's reservations
count (``counted``), net of victims that are still held, so that nobody else takes a limit that was promised.
Source: DESIGN 4 (step 2), 5.1, 5.6.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from scheduler.core import entities, resources

#: Name under which an account counts sessions.
SESSIONS = "sessions"


class Account:
    """
    One owner or one queue: what is left within its limits, and what its stopping sessions will give back.
    """

    __slots__ = ("leaving", "left", "limits")

    def __init__(self, usage: entities.Usage) -> None:
        self.limits: dict[str, int] = dict(usage.max_slots)
        self.left: dict[str, int] = {k: most - usage.used.get(k) for k, most in usage.max_slots.items()}
        if usage.max_sessions is not None:
            self.limits[SESSIONS] = usage.max_sessions
            self.left[SESSIONS] = usage.max_sessions - usage.sessions
        self.leaving: dict[str, int] = {}

    def beyond(self, wanted: Mapping[str, int]) -> dict[str, int]:
        """Return, by kind, by how much the request alone is above the limit; empty when it is within."""
        limits = self.limits
        return {k: a - limits[k] for k, a in wanted.items() if k in limits and a > limits[k]}

    def short(self, wanted: Mapping[str, int], *, with_leaving: bool = False) -> dict[str, int]:
        """
        Return, by kind, how much of ``wanted`` the limit does not leave; empty when all is left.

        Args:
            wanted: kind (or ``sessions``) -> amount, >= 0. A kind that is not wanted is never short.
            with_leaving: also count what sessions that are being stopped will give back.
        """
        left, leaving = self.left, self.leaving
        missing = {}
        for kind, amount in wanted.items():
            if kind in left and amount > 0:
                have = left[kind] + (max(0, leaving.get(kind, 0)) if with_leaving else 0)
                if amount > have:
                    missing[kind] = amount - have
        return missing


def wanted(slots: Iterable[tuple[str, int]], *, times: int = 1, sessions: int = 1) -> dict[str, int]:
    """Return what a start takes from an account: slots on each of ``times`` nodes, and a session."""
    amounts = {kind: amount * times for kind, amount in slots}
    amounts[SESSIONS] = sessions
    return amounts


def counted(
    slots: resources.ResourceVector, held: Iterable[resources.ResourceVector], *, sessions: int
) -> tuple[resources.ResourceVector, int]:
    """
    Return what a reservation counts in the ledger of its owner or queue: (slots, sessions).

    Args:
        slots: what is reserved.
        held: what each victim of the same owner (or queue) still holds and will free; a victim that has
            stopped is absent.

        sessions: how many of these victims hold a session place (a suspended one holds none).

    Returns:
        The reservation net of those victims, so that one room is never counted twice.

    Source: DESIGN 5.6.
    """
    total: dict[str, int] = {}
    for vector in held:
        for kind, amount in vector:
            total[kind] = total.get(kind, 0) + amount
    return slots.minus_clamped(resources.ResourceVector(total)), 0 if sessions else 1
