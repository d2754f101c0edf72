"""
What the record shows of every node for one request: free, releasing, short, and why a node was not
considered.

Computed from the round's ledger as it stands when the session is looked at; equal requests share one answer
while the ledger does not change. Source: DESIGN 7.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping

from scheduler.core import context, decisions, entities, placement, resources, rooms, shortages

Facts = dict[str, int | str]


def of_nodes(ctx: context.Context, session: entities.Session) -> tuple[decisions.NodeView, ...]:
    """Return every node of the group as one request finds it, by name."""
    key = ("views", shortages.shape(session))
    return ctx.while_unchanged(key, lambda: _of_nodes(ctx, session, key))


def _of_nodes(
    ctx: context.Context, session: entities.Session, key: tuple[object, ...]
) -> tuple[decisions.NodeView, ...]:
    found, rooms = ctx.while_room_unchanged, ctx.ledger.rooms
    return tuple(
        [found(rooms[n.id], key, functools.partial(_view, ctx, session, rooms[n.id])) for n in ctx.nodes]
    )


def _view(ctx: context.Context, session: entities.Session, room: rooms.Room) -> decisions.NodeView:
    short = room.short(room.wants(session.request))
    sessions_short = short.pop(rooms.PLACES, 0)
    releasing = {kind: room.net_releasing(kind) for kind in room.releasing}
    note = shortages.note(ctx, session, room.node)
    vector = resources.ResourceVector(short)
    return decisions.NodeView(
        room.node.id, _positive(room.free), _positive(releasing), vector, sessions_short, note
    )


def _positive(amounts: Mapping[str, int]) -> resources.ResourceVector:
    return resources.ResourceVector({k: a for k, a in amounts.items() if a > 0 and k != rooms.PLACES})


def shortage_facts(ctx: context.Context, session: entities.Session) -> Facts:
    """
    Return the numbers of a shortage.

    Returns:
        Per kind asked: ``asked.KIND`` (on each node), ``free.KIND`` (all usable nodes together),
        ``most.KIND`` (on one node), and for the nearest node its name ``nearest`` and ``short.KIND``;
        ``nodes`` for a multi-node session. Of a resume: ``resume`` 1, and asked and short on its own node
        alone.
    """
    if placement.is_resume(session):
        return _resume_facts(ctx, session)
    key = ("facts", shortages.shape(session))
    return ctx.while_unchanged(key, lambda: _facts(ctx, session))


def _facts(ctx: context.Context, session: entities.Session) -> Facts:
    facts: Facts = {f"asked.{kind}": amount for kind, amount in session.request}
    usable = [view for view in of_nodes(ctx, session) if view.note in ("", shortages.BACKOFF)]
    for kind in session.request.kinds():
        free = [view.free.get(kind) for view in usable]
        facts[f"free.{kind}"] = sum(free)
        facts[f"most.{kind}"] = max(free, default=0)
    if session.node_count > 1:
        facts["nodes"] = session.node_count
    elif usable:
        facts.update(_nearest(ctx, session, usable))
    return facts


def _nearest(ctx: context.Context, session: entities.Session, usable: list[decisions.NodeView]) -> Facts:
    """
    Return the node where least is missing now: first fewest kinds, then least in millionths of the request.
    """

    def distance(pair: tuple[resources.ResourceVector, decisions.NodeView]) -> tuple[int, int, str]:
        short, view = pair
        parts = sum(amount * 1_000_000 // session.request.get(kind) for kind, amount in short)
        return len(short.kinds()), parts, ctx.node_by_id[view.node_id].name

    short, view = min(((session.request.shortfall(view.free), view) for view in usable), key=distance)
    facts: Facts = {"nearest": ctx.node_by_id[view.node_id].name}
    facts.update({f"short.{kind}": amount for kind, amount in short})
    if not short:
        facts["short.sessions"] = max(1, view.sessions_short)
    return facts


def _resume_facts(ctx: context.Context, session: entities.Session) -> Facts:
    facts: Facts = {"resume": 1}
    for missing in placement.missing_on_resume(session):
        room = ctx.ledger.rooms[missing.node_id]
        facts["nearest"] = room.node.name
        facts.update({f"asked.{kind}": amount for kind, amount in missing.slots})
        short = room.lacks(room.wants(missing.slots))
        for kind, numbers in missing.indices.items():
            taken = len(set(numbers) - set(room.indices.get(kind, ())))
            short[kind] = max(short.get(kind, 0), taken)
        if any(short.values()):
            places = {"sessions" if k == rooms.PLACES else k: a for k, a in short.items() if a}
            return facts | {f"short.{kind}": amount for kind, amount in places.items()}
    return facts
