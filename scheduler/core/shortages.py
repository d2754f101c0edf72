"""
What is short for one request, node by node, when free and releasing are counted.

Equal requests share one answer while the ledger does not change. Source: DESIGN 5.1.
"""

from __future__ import annotations

import dataclasses
import functools

from scheduler.core import context, entities, limits, placement, rooms

#: Why preemption and wait do not consider a node.
LABELS, NOT_READY, TOO_SMALL, BACKOFF = "labels", "not-ready", "too-small", "backoff"
#: (scope, kind): scope is "node", "owner" or "queue".
Dimension = tuple[str, str]


@dataclasses.dataclass(frozen=True, slots=True)
class Spot:
    """One node that preemption and wait consider, and what is short there of slots and session places."""

    node: entities.Node
    need: tuple[tuple[Dimension, int], ...]  #: scope "node", amounts >= 1, by kind


def note(ctx: context.Context, session: entities.Session, node: entities.Node) -> str:
    """Return why preemption and wait do not consider the node, "" when they do."""
    if not placement.has_labels(session, node):
        return LABELS
    if node.state is not entities.NodeState.READY:
        return NOT_READY
    if not placement.could_ever_hold(session, node):
        return TOO_SMALL
    if session.backoff.get(node.id, 0) > ctx.now:
        return BACKOFF
    return ""


def shape(session: entities.Session) -> tuple[object, ...]:
    """Return a key: sessions with the same key find the same nodes and the same shortage."""
    backoff = tuple(sorted(session.backoff.items())) if session.backoff else ()
    return *placement.shape(session), backoff


def spots(ctx: context.Context, session: entities.Session) -> tuple[Spot, ...]:
    """Return the nodes that preemption and wait consider for the session, by name."""
    key = ("spots", shape(session))
    return ctx.while_unchanged(key, lambda: _spots(ctx, session, key))


def _spots(ctx: context.Context, session: entities.Session, key: tuple[object, ...]) -> tuple[Spot, ...]:
    rooms = ctx.all_round(("open", key), lambda: _open_rooms(ctx, session))
    found = ctx.while_room_unchanged
    return tuple([found(room, key, functools.partial(_spot, session, room)) for room in rooms])


def _open_rooms(ctx: context.Context, session: entities.Session) -> list[rooms.Room]:
    return [ctx.ledger.rooms[node.id] for node in ctx.nodes if not note(ctx, session, node)]


def _spot(session: entities.Session, room: rooms.Room) -> Spot:
    short = room.short(room.wants(session.request))
    return Spot(room.node, tuple((("node", kind), amount) for kind, amount in sorted(short.items())))


def of_limits(ctx: context.Context, session: entities.Session) -> tuple[tuple[Dimension, int], ...]:
    """Return what the limits of owner and queue do not leave, even after what is being stopped."""
    wanted = limits.wanted(session.request)
    accounts = zip(("owner", "queue"), ctx.ledger.accounts(session), strict=True)
    return tuple(
        ((scope, kind), amount)
        for scope, account in accounts
        for kind, amount in sorted(account.short(wanted, with_leaving=True).items())
    )
