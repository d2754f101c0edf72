"""
What is short for one request, node by node, when free and releasing are counted.

Equal requests share one answer while the ledger does not change. Source: DESIGN 5.1.
"""

from __future__ import annotations

import dataclasses

from scheduler.core import context, entities, limits, placement

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
    labels = tuple(sorted((label, tuple(sorted(accepted))) for label, accepted in session.labels.items()))
    return session.request, labels, tuple(sorted(session.backoff.items())), session.node_count


def spots(ctx: context.Context, session: entities.Session) -> tuple[Spot, ...]:
    """Return the nodes that preemption and wait consider for the session, by name."""
    nodes = ctx.all_round(("open", shape(session)), lambda: _open_nodes(ctx, session))
    return ctx.while_unchanged(
        ("spots", shape(session)), lambda: tuple(_spot(ctx, session, node) for node in nodes)
    )


def _open_nodes(ctx: context.Context, session: entities.Session) -> list[entities.Node]:
    return [node for node in ctx.nodes if not note(ctx, session, node)]


def _spot(ctx: context.Context, session: entities.Session, node: entities.Node) -> Spot:
    room = ctx.ledger.rooms[node.id]
    short = room.short(room.wants(session.request))
    return Spot(node, tuple((("node", kind), amount) for kind, amount in sorted(short.items())))


def of_limits(ctx: context.Context, session: entities.Session) -> tuple[tuple[Dimension, int], ...]:
    """Return what the limits of owner and queue do not leave, even after what is being stopped."""
    wanted = limits.wanted(session.request)
    accounts = zip(("owner", "queue"), ctx.ledger.accounts(session), strict=True)
    return tuple(
        ((scope, kind), amount)
        for scope, account in accounts
        for kind, amount in sorted(account.short(wanted, with_leaving=True).items())
    )
