"""
The holder of a reservation: it starts when its room is there, and triggers nothing while the reservation
stands.

Its own node is tried first, with what the reservation has drawn. Elsewhere it may start only before anything
irreversible was done for it; then the reservation is left to be withdrawn, and counts as held for the rest of
the round. Source: DESIGN 5.6.
"""

from __future__ import annotations

from scheduler.core import checks, context, decisions, entities, placement, release, rooms, views

_REASON = decisions.PendReason


def decide_holder(
    ctx: context.Context, session: entities.Session, reservation: entities.Reservation
) -> decisions.Dispatch | decisions.Pend:
    """Return the start of a holder, or what it waits for."""
    return (
        _start_at_home(ctx, session, reservation)
        or _start_elsewhere(ctx, session, reservation)
        or _limit(ctx, session, reservation)
        or _await(ctx, session, reservation)
    )


def _start_at_home(
    ctx: context.Context, session: entities.Session, reservation: entities.Reservation
) -> decisions.Dispatch | None:
    node = ctx.node_by_id.get(reservation.node_id)
    if node is None or node.state is not entities.NodeState.READY or not placement.has_labels(session, node):
        return None
    book = ctx.ledger
    if not _is_there(ctx, session, reservation):
        return None
    mark = book.savepoint()
    book.end_reservation(session, reservation, _still_held(ctx, reservation))
    if checks.used_up(ctx, session, placement.amounts(session)) is not None:
        book.rollback(mark)
        return None
    grant = placement.grant_on(ctx, session.request, node.id)
    placement.commit(ctx, session, (grant,))
    return decisions.Dispatch(session.id, (grant,), reservation_id=reservation.id)


def _is_there(ctx: context.Context, session: entities.Session, reservation: entities.Reservation) -> bool:
    """Say whether what it has drawn, and what is free to it beside that, covers its request."""
    room = ctx.ledger.rooms[reservation.node_id]
    claims = sum(holder_id not in ctx.lifted for holder_id in room.kept)
    if room.free.get(rooms.PLACES, 0) + claims < 0:
        return False
    return all(
        reservation.drawn.get(kind) + max(0, room.free.get(kind, 0)) >= amount
        for kind, amount in session.request
    )


def _still_held(ctx: context.Context, reservation: entities.Reservation) -> list[entities.Session]:
    victims = (ctx.session_by_id.get(victim_id) for victim_id in reservation.victim_ids)
    return [v for v in victims if v is not None and release.is_held_back(v)]


def _start_elsewhere(
    ctx: context.Context, session: entities.Session, reservation: entities.Reservation
) -> decisions.Dispatch | None:
    if reservation.is_binding:
        return None
    grants = placement.find(ctx, session)
    if grants is None:
        return None
    mark = ctx.ledger.savepoint()
    ctx.ledger.uncount(session, reservation, _still_held(ctx, reservation))  # it ends with this start
    if checks.used_up(ctx, session, placement.amounts(session)) is not None:
        ctx.ledger.rollback(mark)
        return None
    placement.commit(ctx, session, grants)
    return decisions.Dispatch(session.id, grants)


def _limit(
    ctx: context.Context, session: entities.Session, reservation: entities.Reservation
) -> decisions.Pend | None:
    """Return the limit in the way when nobody has to stop any more."""
    held = _still_held(ctx, reservation)
    if held:
        return None
    mark = ctx.ledger.savepoint()
    ctx.ledger.end_reservation(session, reservation, held)
    used_up = checks.used_up(ctx, session, placement.amounts(session))
    ctx.ledger.rollback(mark)
    return decisions.Pend(session.id, *used_up) if used_up is not None else None


def _await(
    ctx: context.Context, session: entities.Session, reservation: entities.Reservation
) -> decisions.Pend:
    reason = _REASON.AWAITING_RELEASE if reservation.is_wait else _REASON.AWAITING_VICTIMS
    node = ctx.node_by_id.get(reservation.node_id)
    facts: dict[str, int | str] = {"node": node.name if node else "", "until": reservation.deadline}
    facts["sessions"] = len(reservation.victim_ids)
    return decisions.Pend(session.id, reason, facts, views.of_nodes(ctx, session))
