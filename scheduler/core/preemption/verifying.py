"""
Whether a policy's answer holds: asked of the ledger itself, not of the problem that the policy was given.

Legal, on one node, sufficient within all limits, nobody superfluous. Source: DESIGN 5.2, 5.3 (P07).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from scheduler.core import context, entities, limits
from scheduler.core.preemption import policy, problems

Victims = Sequence[entities.Session]


def verified(
    ctx: context.Context, session: entities.Session, judged: problems.Judged, answer: policy.Answer
) -> tuple[entities.Session, ...]:
    """
    Return the victims of an answer that holds.

    Cost: O(n log n) stops in the ledger for n victims.

    Raises:
        PolicyFailed: an unknown node or victim, a victim twice, more suspends than a node may hold, not sufficient,
            or one that could be left out.
    """
    offer = judged.offer
    table = None if offer is None else offer.of_node(answer.node_id)
    if offer is None or table is None:
        raise policy.PolicyFailed("chose a node that was not offered")
    ids = answer.victim_ids
    if not ids or len(set(ids)) != len(ids) or not set(ids) <= set(table.ids_at(0)):
        raise policy.PolicyFailed("chose a session that may not be stopped, or none, or one twice")
    if offer.beyond_limit(ids):
        raise policy.PolicyFailed("suspends more sessions than one node may hold")
    victims = tuple(ctx.session_by_id[i] for i in ids)
    if not suffices(ctx, session, answer.node_id, victims):
        raise policy.PolicyFailed("chose victims that do not free enough")
    if _is_one_superfluous(ctx, victims, lambda: _fits(ctx, session, answer.node_id)):
        raise policy.PolicyFailed("chose a victim that is not needed")
    return victims


def suffices(ctx: context.Context, session: entities.Session, node_id: int, victims: Victims) -> bool:
    """Say whether the session fits on the node, within all limits, once these victims have stopped."""
    mark = ctx.ledger.savepoint()
    _stop(ctx, victims)
    fits = _fits(ctx, session, node_id)
    ctx.ledger.rollback(mark)
    return fits


def _is_one_superfluous(ctx: context.Context, victims: Victims, fits: Callable[[], bool]) -> bool:
    """Say whether all but one would do: either half stops for good while the other is looked at by halves."""
    if len(victims) == 1:
        return fits()
    half = len(victims) // 2
    for stopped, asked in ((victims[:half], victims[half:]), (victims[half:], victims[:half])):
        mark = ctx.ledger.savepoint()
        _stop(ctx, stopped)
        found = _is_one_superfluous(ctx, asked, fits)
        ctx.ledger.rollback(mark)
        if found:
            return True
    return False


def _stop(ctx: context.Context, victims: Victims) -> None:
    for victim in victims:
        stop = ctx.stop_plan(victim)
        ctx.ledger.add_leaving(victim, stop.frees, place=stop.frees_place)


def _fits(ctx: context.Context, session: entities.Session, node_id: int) -> bool:
    book = ctx.ledger
    room, wanted = book.rooms[node_id], limits.wanted(session.request)
    return not room.short(room.wants(session.request)) and not any(
        account.short(wanted, with_leaving=True) for account in book.accounts(session)
    )
