"""
What is short for one request, node by node, when free and releasing are counted.

Equal requests share one answer while the ledger does not change. Source: DESIGN 5.1.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from scheduler.core import boards, context, entities, limits, placement

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
    return note_at(ctx.now, session, node)


def note_at(now: int, session: entities.Session, node: entities.Node) -> str:
    """Return the note of a node at a time."""
    if not placement.has_labels(session, node):
        return LABELS
    if node.state is not entities.NodeState.READY:
        return NOT_READY
    if not placement.could_ever_hold(session, node):
        return TOO_SMALL
    if session.backoff.get(node.id, 0) > now:
        return BACKOFF
    return ""


def shape(session: entities.Session) -> tuple[object, ...]:
    """Return a key: sessions with the same key find the same nodes and the same shortage."""
    backoff = tuple(sorted(session.backoff.items())) if session.backoff else ()
    return *placement.shape(session), backoff


def open_places(ctx: context.Context, session: entities.Session) -> boards.Array:
    """Return the rows of the nodes that preemption and wait consider for the session, by name."""
    return ctx.all_round(("open", shape(session)), lambda: _open_places(ctx, session))


def acceptable_places(ctx: context.Context, session: entities.Session) -> boards.Array:
    """Return the rows of the nodes that are ready and have the labels, however small they are."""
    key = ("acceptable places", placement.shape(session))
    return ctx.all_round(key, lambda: np.flatnonzero(placement.are_acceptable(ctx, session)))


def usable_places(ctx: context.Context, session: entities.Session) -> boards.Array:
    """Return the rows of the nodes that are ready, have the labels, and would hold the session when empty."""
    key = ("usable", placement.shape(session))
    return ctx.all_round(key, lambda: np.flatnonzero(_is_usable(ctx, session)))


def _is_usable(ctx: context.Context, session: entities.Session) -> boards.Array:
    found: boards.Array = placement.are_acceptable(ctx, session) & ctx.board().holding(session.request)
    return found


def _open_places(ctx: context.Context, session: entities.Session) -> boards.Array:
    board, is_open = ctx.board(), _is_usable(ctx, session)
    for node_id, until in session.backoff.items():
        if until > ctx.now and node_id in board.place_of:
            is_open[board.place_of[node_id]] = False
    return np.flatnonzero(is_open)


def short(ctx: context.Context, session: entities.Session) -> boards.Array:
    """Return what is short on each of ``open_places``: (places, kinds of the board)."""
    key = ("short", shape(session))
    return ctx.while_unchanged(key, lambda: ctx.board().short(session.request, open_places(ctx, session)))


def ready(ctx: context.Context, session: entities.Session) -> tuple[entities.Node, ...]:
    """Return the nodes on which nothing is short once what is leaving has left, by name."""
    return ctx.while_unchanged(("ready", shape(session)), lambda: _ready(ctx, session))


def _ready(ctx: context.Context, session: entities.Session) -> tuple[entities.Node, ...]:
    places = open_places(ctx, session)
    if not len(places):
        return ()
    enough = places[~short(ctx, session).any(axis=1)]
    return tuple(ctx.nodes[place] for place in enough.tolist())


def spots(ctx: context.Context, session: entities.Session) -> tuple[Spot, ...]:
    """Return the nodes that preemption and wait consider for the session, by name."""
    return tuple(_spot(ctx, session, ctx.nodes[place]) for place in open_places(ctx, session).tolist())


def _spot(ctx: context.Context, session: entities.Session, node: entities.Node) -> Spot:
    room = ctx.ledger.rooms[node.id]
    missing = room.short(room.wants(session.request))
    return Spot(node, tuple((("node", kind), amount) for kind, amount in sorted(missing.items())))


def of_limits(ctx: context.Context, session: entities.Session) -> tuple[tuple[Dimension, int], ...]:
    """Return what the limits of owner and queue do not leave, even after what is being stopped."""
    wanted = limits.wanted(session.request)
    accounts = zip(("owner", "queue"), ctx.ledger.accounts(session), strict=True)
    return tuple(
        ((scope, kind), amount)
        for scope, account in accounts
        for kind, amount in sorted(account.short(wanted, with_leaving=True).items())
    )
