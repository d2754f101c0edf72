"""
What the record shows of every node for one request: free, releasing, short, and why a node was not
considered.

Computed from the round's ledger as it stands when the session is looked at; equal requests share one answer
while the ledger does not change. Source: DESIGN 7.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from scheduler.core import (
    boards,
    context,
    decisions,
    entities,
    lazies,
    placement,
    resources,
    rooms,
    shortages,
)

Facts = dict[str, int | str]
#: In how many parts of a request a shortage is compared.
_PARTS = 1_000_000
_REASON = decisions.PendReason
#: Nodes that a shortage names.
_NAMED = 3


def of_nodes(ctx: context.Context, session: entities.Session) -> Sequence[decisions.NodeView]:
    """Return every node of the group as one request finds it, by name."""
    key = ("views", shortages.shape(session))
    return ctx.while_unchanged(key, lambda: _of_nodes(ctx, session))


def _of_nodes(ctx: context.Context, session: entities.Session) -> Sequence[decisions.NodeView]:
    nodes, now, states = ctx.nodes, ctx.now, ctx.board().states()
    return lazies.Lazy(len(nodes), lambda place: _view(session, nodes[place], states[place], now))


def _view(
    session: entities.Session, node: entities.Node, state: boards.State, now: int
) -> decisions.NodeView:
    free, releasing = state
    wanted = session.request.as_dict()
    if node.max_sessions is not None:
        wanted[rooms.PLACES] = 1
    missing = {kind: amount - free.get(kind, 0) - releasing.get(kind, 0) for kind, amount in wanted.items()}
    short = resources.ResourceVector({k: a for k, a in missing.items() if a > 0 and k != rooms.PLACES})
    places = max(0, missing.get(rooms.PLACES, 0))
    note = shortages.note_at(now, session, node)
    return decisions.NodeView(node.id, _positive(free), _positive(releasing), short, places, note)


def _positive(amounts: Mapping[str, int]) -> resources.ResourceVector:
    return resources.ResourceVector({k: a for k, a in amounts.items() if a > 0 and k != rooms.PLACES})


def shortage(ctx: context.Context, session: entities.Session) -> tuple[decisions.PendReason, Facts]:
    """
    Return which shortage keeps a session waiting, and its numbers.

    Returns:
        One of ``decisions.SHORT_OF_SLOTS``, and per kind asked: ``asked.KIND`` (on each node), ``free.KIND`` (all ready
        nodes with the labels together), ``most.KIND`` (on one of them), and for the nearest node its name ``nearest``
        and ``short.KIND``; ``nodes`` for a multi-node session, and ``nodes.free``, those that have its slots free now;
        ``reserved`` where enough is free but reserved for others: the nodes. Of a resume: ``resume`` 1, and asked
        and short on its own node alone.
    """
    if placement.is_resume(session):
        return _REASON.NO_RESOURCES, _resume_facts(ctx, session)
    key = ("shortage", shortages.shape(session))
    return ctx.while_unchanged(key, lambda: _shortage(ctx, session))


def _shortage(ctx: context.Context, session: entities.Session) -> tuple[decisions.PendReason, Facts]:
    usable = shortages.usable_places(ctx, session)
    facts, is_scattered = _facts(ctx, session, usable)
    places = _reserved_for_others(ctx, session, usable)
    if len(places):
        names = ", ".join(ctx.nodes[place].name for place in places[:_NAMED].tolist())
        more = f" and {len(places) - _NAMED} more" if len(places) > _NAMED else ""
        return _REASON.BEHIND_OTHERS, facts | {"reserved": names + more}
    return (_REASON.FRAGMENTED if is_scattered else _REASON.NO_RESOURCES), facts


def _reserved_for_others(
    ctx: context.Context, session: entities.Session, usable: boards.Array
) -> boards.Array:
    """Return the nodes where a share would be free if nothing were reserved; none where that is still too little."""
    board = ctx.board()
    reserved = usable[board.fitting_unreserved(session.request)[usable]]
    fitting = int(board.fitting(session.request)[usable].sum()) if len(reserved) else 0
    return reserved if fitting + len(reserved) >= session.node_count else reserved[:0]


def _facts(ctx: context.Context, session: entities.Session, usable: boards.Array) -> tuple[Facts, bool]:
    """Return the numbers, and whether enough of every kind is free, but scattered over nodes."""
    facts: Facts = {f"asked.{kind}": amount for kind, amount in session.request}
    if session.labels:
        facts["labels"] = 1
    places = shortages.acceptable_places(ctx, session)
    free = _free(ctx, session, places)
    is_enough = len(usable) > 0
    for place, (kind, amount) in enumerate(session.request):
        own = free[:, place]
        total = facts[f"free.{kind}"] = int(own.sum())
        facts[f"most.{kind}"] = int(own.max(initial=0))
        is_enough = is_enough and total >= amount * session.node_count
    covering = int((free >= _asked(session)).all(axis=1).sum()) if is_enough else 0
    if session.node_count > 1:
        facts["nodes"] = session.node_count
        if is_enough:
            facts["nodes.free"] = covering
    elif len(usable):
        facts.update(_nearest(ctx, session, usable, free[np.isin(places, usable)]))
    return facts, is_enough and covering < session.node_count


def _free(ctx: context.Context, session: entities.Session, places: boards.Array) -> boards.Array:
    """Return what is free of each kind asked on some nodes: (nodes, kinds); none where no node has a kind at all."""
    board, kinds = ctx.board(), session.request.kinds()
    if not set(kinds) <= set(board.kinds):
        return np.zeros((0, len(kinds)), dtype=np.int64)
    return _exact(np.maximum(board.free[places][:, board.columns(kinds)], 0), _asked(session))


def _asked(session: entities.Session) -> boards.Array:
    return np.array([amount for _, amount in session.request], dtype=object)


def _exact(free: boards.Array, asked: boards.Array) -> boards.Array:
    """Return the amounts so that sums, and millionths of what is asked, are exact: in 64 bits where those suffice."""
    largest = max(int(free.max(initial=0)) * len(free), max(asked, default=0) * _PARTS)
    return free if largest < boards.PLENTY else free.astype(object)


def _nearest(
    ctx: context.Context, session: entities.Session, usable: boards.Array, free: boards.Array
) -> Facts:
    """
    Return the node where least is missing now: first fewest kinds, then least in millionths of the request.
    """
    asked = _asked(session).astype(free.dtype)
    short = np.maximum(asked - free, 0)
    kinds, parts = (short > 0).sum(axis=1), (short * _PARTS // asked).sum(axis=1)
    fewest = np.flatnonzero(kinds == kinds.min())
    row = int(fewest[parts[fewest].argmin()])
    node = ctx.nodes[int(usable[row])]
    facts: Facts = {"nearest": node.name}
    missing = zip(session.request.kinds(), short[row].tolist(), strict=True)
    facts.update({f"short.{kind}": amount for kind, amount in missing if amount})
    if not kinds[row]:
        room = ctx.ledger.rooms[node.id]
        facts["short.sessions"] = max(1, room.short(room.wants(session.request)).get(rooms.PLACES, 0))
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
