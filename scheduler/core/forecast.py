"""
When a share of a session could start on a node, as far as wall-time limits and ordered stops tell.

Whatever ends at a known moment counts from then on; what has no wall-time limit never does. Reservations and
claims of others, and what this round started, are held for ever here: a later moment is the careful answer.
Source: DESIGN 4 (the node where it would start soonest; no wall times known: the least unknown share).
"""

from __future__ import annotations

import dataclasses
import fractions
from collections.abc import Iterable, Mapping

from scheduler.core import context, entities, release, rooms, states

_SECOND = 1_000_000
_NOTHING = fractions.Fraction(0)
Ends = list[tuple[int, rooms.Amounts]]


@dataclasses.dataclass(frozen=True, slots=True)
class Start:
    """When one share could start on one node."""

    moment: int | None  #: microseconds; None = unknown
    unknown: (
        fractions.Fraction
    )  #: share of the node's slots of which nobody knows when they become free; 0 = none

    @property
    def key(self) -> tuple[bool, int, fractions.Fraction]:
        """Return the key by which nodes are compared; less is sooner."""
        return self.moment is None, self.moment or 0, self.unknown


def soonest(ctx: context.Context, share: entities.Allocation) -> Start:
    """
    Return when ``share`` could start on its node.

    Args:
        share: slots, and where the very devices matter (a resume) their indices.

    Cost: O(sessions on the node, sorted).
    """
    room = ctx.ledger.rooms[share.node_id]
    wanted = room.wants(share.slots) | _as_kinds(share.indices)
    free = room.free | _as_kinds(room.indices)
    if all(free.get(kind, 0) >= amount for kind, amount in wanted.items()):
        return Start(ctx.now, _NOTHING)
    have = {kind: free.get(kind, 0) - room.promised.get(kind, 0) for kind in wanted}
    for moment, amounts in _ends(ctx, room):
        for kind in have:
            have[kind] += amounts.get(kind, 0)
        if all(have[kind] >= amount for kind, amount in wanted.items()):
            return Start(moment, _NOTHING)
    missing = {kind: amount - have[kind] for kind, amount in wanted.items() if amount > have[kind]}
    return Start(None, sum((_share(room, kind, number) for kind, number in missing.items()), _NOTHING))


def _share(room: rooms.Room, kind: str, amount: int) -> fractions.Fraction:
    whole = room.node.max_sessions if kind == rooms.PLACES else room.node.capacity.get(kind)
    return fractions.Fraction(amount, whole or 1)


def _ends(ctx: context.Context, room: rooms.Room) -> Ends:
    """Return what becomes free on the node at known moments, the earliest first."""
    found: Ends = []
    for session in _on_node(ctx, room.node.id):
        moment = _end_of(ctx, session)
        if moment is not None:
            amounts = dict(room.leaving.get(session.id) or _held(session, room))
            devices = next(a.indices for a in session.allocations if a.node_id == room.node.id)
            found.append((max(moment, ctx.now), amounts | _as_kinds(devices)))
    return sorted(found, key=lambda end: end[0])


def _on_node(ctx: context.Context, node_id: int) -> Iterable[entities.Session]:
    def by_node() -> dict[int, list[entities.Session]]:
        found: dict[int, list[entities.Session]] = {}
        for session in ctx.running:
            for held in session.allocations:
                found.setdefault(held.node_id, []).append(session)
        return found

    return ctx.all_round("sessions by node", by_node).get(node_id, ())


def _held(session: entities.Session, room: rooms.Room) -> rooms.Amounts:
    slots = next(a.slots for a in session.allocations if a.node_id == room.node.id)
    return room.wants(slots) if release.holds_place(session) else slots.as_dict()


def _end_of(ctx: context.Context, session: entities.Session) -> int | None:
    """Return the moment at which what it holds becomes free at the latest, None when nobody knows."""
    if session.id in ctx.claimed:
        return ctx.now + ctx.stop_plan(session).grace_s * _SECOND
    if release.is_releasing(session, ctx.now):
        return session.stop_deadline or ctx.now
    if release.is_stuck(session, ctx.now) or session.state is states.SessionState.SUSPENDED:
        return None
    if session.wall_limit_s is None:
        return None
    start = ctx.now if session.state is states.SessionState.SCHEDULED else session.started_at
    return None if start is None else start + session.wall_limit_s * _SECOND


def _as_kinds(indices: Mapping[str, tuple[int, ...]]) -> rooms.Amounts:
    """Return every device as a kind of its own, of which there is one."""
    return {f"{kind}#{number}": 1 for kind, numbers in indices.items() for number in numbers}
