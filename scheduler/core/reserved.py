"""
The holder of a reservation: it starts when its room is there, and triggers nothing while the reservation
stands.

Its own node is tried first, with what the reservation has drawn. Elsewhere it may start only before anything
irreversible was done for it; then the reservation is left to be withdrawn, and counts as held for the rest of
the round. Source: DESIGN 5.6.
"""

from __future__ import annotations

from scheduler.core import checks, context, decisions, entities, limits, placement, release, views

_REASON = decisions.PendReason


def decide_holder(
    ctx: context.Context, session: entities.Session, reservation: entities.Reservation
) -> decisions.Decision:
    """Return the start of a holder, or what it waits for."""
    return (
        _start_at_home(ctx, session, reservation)
        or _start_elsewhere(ctx, session, reservation)
        or _await(ctx, session, reservation)
    )


def _start_at_home(
    ctx: context.Context, session: entities.Session, reservation: entities.Reservation
) -> decisions.Dispatch | None:
    node = ctx.node_by_id.get(reservation.node_id)
    if node is None or node.state is not entities.NodeState.READY or not placement.has_labels(session, node):
        return None
    book = ctx.ledger
    mark = book.savepoint()
    book.give_back(node.id, reservation.drawn, reservation.indices)
    book.charge(session, {kind: -a for kind, a in counted(ctx, session, reservation).items()})
    is_within = checks.used_up(ctx, session, placement.amounts(session)) is None
    if not is_within or not placement.fits_now(ctx, session, node):
        book.rollback(mark)
        return None
    grant = placement.grant_on(ctx, session.request, node.id)
    placement.commit(ctx, session, (grant,))
    return decisions.Dispatch(session.id, (grant,), reservation_id=reservation.id)


def counted(
    ctx: context.Context, session: entities.Session, reservation: entities.Reservation
) -> dict[str, int]:
    """
    Return what the reservation already counts in its owner's account, net of victims that are still held.
    """
    victims = [ctx.session_by_id[i] for i in reservation.victim_ids if i in ctx.session_by_id]
    held = [
        slots
        for victim in victims
        if victim.owner_id == session.owner_id and release.is_being_stopped(victim)
        for _, slots in release.releases_by_node(victim, ctx.policy)
    ]
    slots, sessions = limits.counted(reservation.slots, held)
    return limits.wanted(slots, sessions=sessions)


def _start_elsewhere(
    ctx: context.Context, session: entities.Session, reservation: entities.Reservation
) -> decisions.Dispatch | None:
    if reservation.is_binding:
        return None
    grants = placement.find(ctx, session)
    if grants is None or checks.used_up(ctx, session, placement.amounts(session)) is not None:
        return None
    placement.commit(ctx, session, grants)
    return decisions.Dispatch(session.id, grants)


def _await(
    ctx: context.Context, session: entities.Session, reservation: entities.Reservation
) -> decisions.Pend:
    reason = _REASON.AWAITING_RELEASE if reservation.is_wait else _REASON.AWAITING_VICTIMS
    node = ctx.node_by_id.get(reservation.node_id)
    facts: dict[str, int | str] = {"node": node.name if node else "", "until": reservation.deadline}
    facts["sessions"] = len(reservation.victim_ids)
    return decisions.Pend(session.id, reason, facts, views.of_nodes(ctx, session))
