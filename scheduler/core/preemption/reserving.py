"""
What is reserved for one session on one node: of what is free, of what is leaving, of its victims.

Source: DESIGN 5.1 (wait), 5.6.
"""

from __future__ import annotations

from collections.abc import Sequence

from scheduler.core import context, entities, ledger, placement, resources, rooms, shortages


def for_wait(ctx: context.Context, session: entities.Session) -> ledger.Reserve | None:
    """Return the reservation on the node where free and releasing suffice, the one that is through first."""
    ready = shortages.ready(ctx, session)
    if not ready or shortages.of_limits(ctx, session):
        return None
    found = [reserve(ctx, session, node.id, ()) for node in placement.in_order(ctx, ready)]
    return min(found, key=_last_deadline)


def _last_deadline(kept: ledger.Reserve) -> int:
    return max((session.stop_deadline or 0 for session in kept.leaving), default=0)


def reserve(
    ctx: context.Context,
    session: entities.Session,
    node_id: int,
    victims: Sequence[entities.Session],
) -> ledger.Reserve:
    """
    Return the reservation: the free part is drawn at once, the rest promised of victims and of what is
    leaving.
    """
    room = ctx.ledger.rooms[node_id]
    free = resources.ResourceVector(
        {
            kind: min(amount, room.free.get(kind, 0))
            for kind, amount in session.request
            if room.free.get(kind, 0) > 0
        }
    )
    rest = session.request.minus_clamped(free)
    for victim in victims:
        rest = rest.minus_clamped(ctx.stop_plan(victim).on(node_id))
    is_place_short = room.free.get(rooms.PLACES, 1) < 1 and not victims
    others = _leaving(ctx, room, rest, is_place_short)
    return ledger.Reserve(node_id, session.request, free, room.take_indices(free), (*victims, *others))


def _leaving(
    ctx: context.Context, room: rooms.Room, rest: resources.ResourceVector, is_place_short: bool
) -> list[entities.Session]:
    """Return the sessions being stopped on whose slots (or place) the reservation counts, by id."""
    wanted = set(rest.kinds()) | ({rooms.PLACES} if is_place_short else set())
    counted = (i for i, amounts in sorted(room.leaving.items()) if wanted & set(amounts))
    return [ctx.session_by_id[i] for i in counted]
