"""
What the record shows of every node for one request: free, releasing, short, and why a node was not
considered.

Computed from the round's ledger as it stands when the session is looked at; equal requests share one answer
while the ledger does not change. Source: DESIGN 7.
"""

from __future__ import annotations

from collections.abc import Mapping

from scheduler.core import context, decisions, entities, ledger, placement, resources

LABELS, NOT_READY, TOO_SMALL, BACKOFF, NO_SET = "labels", "not-ready", "too-small", "backoff", "no-set"
RESERVED_NODE = "own-reservation"


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


def open_nodes(ctx: context.Context, session: entities.Session) -> list[entities.Node]:
    """Return the nodes that preemption and wait consider for the session, by name."""
    return [node for node in ctx.nodes if not note(ctx, session, node)]


def of_nodes(ctx: context.Context, session: entities.Session) -> tuple[decisions.NodeView, ...]:
    """Return every node of the group as one request finds it, by name."""
    key = (session.request, _labels_key(session), tuple(sorted(session.backoff.items())))
    return ctx.remembered(key, lambda: tuple(_view(ctx, session, node) for node in ctx.nodes))


def _labels_key(session: entities.Session) -> tuple[tuple[str, tuple[str, ...]], ...]:
    return tuple(sorted((label, tuple(sorted(accepted))) for label, accepted in session.labels.items()))


def _view(ctx: context.Context, session: entities.Session, node: entities.Node) -> decisions.NodeView:
    room = ctx.ledger.rooms[node.id]
    short = room.short(room.wants(session.request))
    sessions_short = short.pop(ledger.PLACES, 0)
    return decisions.NodeView(
        node.id,
        _positive(room.free),
        _positive({kind: room.net_releasing(kind) for kind in room.releasing}),
        resources.ResourceVector(short),
        sessions_short,
        note(ctx, session, node),
    )


def _positive(amounts: Mapping[str, int]) -> resources.ResourceVector:
    return resources.ResourceVector({k: a for k, a in amounts.items() if a > 0 and k != ledger.PLACES})


def shortage_facts(
    ctx: context.Context, session: entities.Session, nodes: tuple[decisions.NodeView, ...]
) -> dict[str, int | str]:
    """
    Return the numbers of a shortage.

    Returns:
        Per kind asked: ``asked.KIND`` (on each node), ``free.KIND`` (all acceptable nodes together),
        ``most.KIND`` (on one node), and for the nearest node its name ``nearest`` and ``short.KIND``;
        ``nodes`` for a multi-node session.
    """
    facts: dict[str, int | str] = {f"asked.{kind}": amount for kind, amount in session.request}
    usable = [view for view in nodes if view.note in ("", BACKOFF)]
    for kind in session.request.kinds():
        free = [view.free.get(kind) for view in usable]
        facts[f"free.{kind}"] = sum(free)
        facts[f"most.{kind}"] = max(free, default=0)
    if session.node_count > 1:
        facts["nodes"] = session.node_count
    elif usable:
        facts.update(_nearest(ctx, session, usable))
    return facts


def _nearest(
    ctx: context.Context, session: entities.Session, usable: list[decisions.NodeView]
) -> dict[str, int | str]:
    """
    Return the node where least is missing now: first fewest kinds, then least in millionths of the request.
    """
    missing = [(session.request.shortfall(view.free), view) for view in usable]

    def distance(pair: tuple[resources.ResourceVector, decisions.NodeView]) -> tuple[int, int, str]:
        short, view = pair
        parts = sum(amount * 1_000_000 // session.request.get(kind) for kind, amount in short)
        return len(short.kinds()), parts, ctx.node_by_id[view.node_id].name

    short, view = min(missing, key=distance)
    facts: dict[str, int | str] = {"nearest": ctx.node_by_id[view.node_id].name}
    facts.update({f"short.{kind}": amount for kind, amount in short})
    if not short:
        facts["short.sessions"] = max(1, view.sessions_short)
    return facts
