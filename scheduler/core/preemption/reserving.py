"""
What is reserved for one session on one node: of what is free, of what is leaving, of its victims.

Source: DESIGN 5.1 (wait), 5.6.
"""

from __future__ import annotations

import dataclasses
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
    places = 1 - room.free.get(rooms.PLACES, 1) - sum(ctx.stop_plan(victim).frees_place for victim in victims)
    others = _leaving(ctx, room, rest, places)
    return ledger.Reserve(node_id, session.request, free, room.take_indices(free), (*victims, *others))


def _leaving(
    ctx: context.Context, room: rooms.Room, rest: resources.ResourceVector, places: int
) -> list[entities.Session]:
    """
    Return the sessions being stopped on whose slots (or places) the reservation counts, by id.

    Those that others count on already come last, and only where they free more than was promised of them: a stop that
    nobody needs any more must not go on for one who never needed it. Source: DESIGN 5.5, 5.6.
    """
    lacking = rest.as_dict() | {rooms.PLACES: places}
    chosen: list[set[int]] = []
    groups = sorted(_by_promise(ctx, room), key=lambda group: (bool(group.promised), min(group.ids)))
    for group in groups:
        spare = {kind: min(amount, group.spare(kind)) for kind, amount in lacking.items() if amount > 0}
        if any(amount > 0 for amount in spare.values()):
            lacking = {kind: amount - max(0, spare.get(kind, 0)) for kind, amount in lacking.items()}
            chosen.append({i for i in group.ids if spare.keys() & room.leaving[i].keys()})
    return [ctx.session_by_id[i] for i in sorted(set().union(*chosen))]


@dataclasses.dataclass(frozen=True, slots=True)
class _Group:
    """Sessions that leave a node and that the same reservations count on."""

    ids: frozenset[int]
    coming: rooms.Amounts
    promised: rooms.Amounts

    def spare(self, kind: str) -> int:
        return self.coming.get(kind, 0) - self.promised.get(kind, 0)


def _by_promise(ctx: context.Context, room: rooms.Room) -> list[_Group]:
    """Return the sessions that leave a node; those that some reservation counts on together stand together."""
    leaving = {i: amounts for i, amounts in room.leaving.items() if amounts}
    groups: list[tuple[set[int], rooms.Amounts]] = [({i}, {}) for i in leaving]
    for counted, promised in _promises(ctx, room.node.id):
        joined = [group for group in groups if group[0] & counted]
        if not joined:
            continue
        others = [group for group in groups if not group[0] & counted]
        amounts = rooms.total([promised, *(own for _, own in joined)])
        groups = [*others, (set().union(*(ids for ids, _ in joined)), amounts)]
    return [_Group(frozenset(ids), rooms.total(leaving[i] for i in ids), own) for ids, own in groups]


def _promises(ctx: context.Context, node_id: int) -> list[tuple[frozenset[int], rooms.Amounts]]:
    """Return for each reservation on a node whom it counts on, and what it was promised of them."""
    found = list(ctx.promises.get(node_id, ()))
    for one in ctx.reservation_by_session.values():
        if one.node_id == node_id and one.id not in ctx.set_aside:
            found.append((frozenset(one.victim_ids), one.slots.minus_clamped(one.drawn).as_dict()))
    return found
