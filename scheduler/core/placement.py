"""
Where a session starts on what is free now. Nobody is stopped here.

A node is acceptable when it is ready and has the labels; the group's strategy orders the acceptable ones, and
every one is tried. A multi-node session gets all its nodes or nothing. A suspended session goes back to its
own nodes and device indices, also when they drain. Source: DESIGN 3 (resume), 4 step 2, 5.7.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from scheduler.core import boards, context, decisions, entities, limits, resources, states

_RESUMES_ON = frozenset({entities.NodeState.READY, entities.NodeState.DRAINING})


def has_labels(session: entities.Session, node: entities.Node) -> bool:
    """Say whether the node carries every label that the session requires, with one of the accepted values."""
    return all(node.labels.get(label) in accepted for label, accepted in session.labels.items())


def could_ever_hold(session: entities.Session, node: entities.Node) -> bool:
    """Say whether the node, empty and ready, would hold one share of the session."""
    return (node.max_sessions is None or node.max_sessions >= 1) and node.capacity.covers(session.request)


def shape(session: entities.Session) -> tuple[object, ...]:
    """Return a key: pending sessions with the same key fit in the same places."""
    if not session.labels:
        return session.request, (), session.node_count
    labels = tuple(sorted((label, tuple(sorted(accepted))) for label, accepted in session.labels.items()))
    return session.request, labels, session.node_count


def acceptable(ctx: context.Context, session: entities.Session) -> list[entities.Node]:
    """Return the nodes that are ready and have the labels, by name."""
    return [ctx.nodes[place] for place in np.flatnonzero(are_acceptable(ctx, session)).tolist()]


def are_acceptable(ctx: context.Context, session: entities.Session) -> boards.Array:
    """Say which nodes are ready and have the labels: (nodes,), by name."""
    return ctx.all_round(("acceptable", shape(session)), lambda: _are_acceptable(ctx, session))


def _are_acceptable(ctx: context.Context, session: entities.Session) -> boards.Array:
    is_ready = ctx.board().is_ready
    if not session.labels:
        return is_ready
    found: boards.Array = is_ready & np.array([has_labels(session, node) for node in ctx.nodes], dtype=bool)
    return found


def in_order(ctx: context.Context, nodes: Iterable[entities.Node]) -> list[entities.Node]:
    """
    Return the nodes in the order in which the group's strategy tries them.

    ``concentrated``: least free first; ``dispersed``: most free first; ``round_robin``: by name, beginning
    one further at every start and every round. Free is compared as the exact sum over kinds of free /
    capacity; then the name.
    """
    by_name = sorted(nodes, key=lambda node: (node.name, node.id))
    strategy = ctx.policy.placement
    if strategy is entities.Placement.ROUND_ROBIN:
        first = (ctx.view.round_number + ctx.starts) % len(by_name) if by_name else 0
        return by_name[first:] + by_name[:first]
    sign = 1 if strategy is entities.Placement.CONCENTRATED else -1
    board = ctx.board()
    return sorted(by_name, key=lambda node: sign * board.free_share(node.id))


def is_resume(session: entities.Session) -> bool:
    """Say whether a start of the session is a resume."""
    return session.state is states.SessionState.SUSPENDED


def home(session: entities.Session) -> tuple[entities.Allocation, ...]:
    """Return all that a suspended session will hold once it runs again."""
    return session.resume_slots or session.allocations


def find(ctx: context.Context, session: entities.Session) -> tuple[decisions.NodeGrant, ...] | None:
    """
    Return where the session starts now, or None.

    Returns:
        One grant per node; for a suspended session all that it will hold on its nodes once it runs again.
    """
    if is_resume(session):
        return _find_resume(ctx, session)
    key = (ctx.ledger.growths, ctx.lifted, shape(session))
    if key in ctx.without_room:
        return None
    is_fitting = are_acceptable(ctx, session) & ctx.board().fitting(session.request)
    fitting = [ctx.nodes[place] for place in np.flatnonzero(is_fitting).tolist()]
    if len(fitting) < session.node_count:
        ctx.without_room.add(key)
        return None
    chosen = in_order(ctx, fitting)[: session.node_count]
    return tuple(grant_on(ctx, session.request, node.id) for node in chosen)


def fits_now(ctx: context.Context, session: entities.Session, node: entities.Node) -> bool:
    """Say whether one share of the session is free on the node, its session place included."""
    room = ctx.ledger.rooms[node.id]
    return room.fits(room.wants(session.request))


def grant_on(ctx: context.Context, slots: resources.ResourceVector, node_id: int) -> decisions.NodeGrant:
    """Return the slots with the lowest free device indices of the node."""
    return decisions.NodeGrant(node_id, slots, ctx.ledger.rooms[node_id].take_indices(slots))


def missing_on_resume(session: entities.Session) -> list[entities.Allocation]:
    """Return what a suspended session must get back on each node beyond what it still holds."""
    held = {a.node_id: a for a in session.allocations}
    empty = entities.Allocation(0, resources.EMPTY)
    missing = []
    for wanted in home(session):
        own = held.get(wanted.node_id, empty)
        indices = {
            kind: tuple(i for i in numbers if i not in own.indices.get(kind, ()))
            for kind, numbers in wanted.indices.items()
        }
        slots = wanted.slots.minus_clamped(own.slots)
        missing.append(entities.Allocation(wanted.node_id, slots, indices))
    return missing


def down_node(ctx: context.Context, session: entities.Session) -> int | None:
    """Return a node that a suspended session needs and that cannot resume anything now; None when all can."""
    for wanted in home(session):
        node = ctx.node_by_id.get(wanted.node_id)
        if node is None or node.state not in _RESUMES_ON:
            return wanted.node_id
    return None


def _find_resume(ctx: context.Context, session: entities.Session) -> tuple[decisions.NodeGrant, ...] | None:
    if down_node(ctx, session) is not None:
        return None
    if not all(_can_resume_on(ctx, missing) for missing in missing_on_resume(session)):
        return None
    return tuple(decisions.NodeGrant(a.node_id, a.slots, a.indices) for a in home(session))


def _can_resume_on(ctx: context.Context, missing: entities.Allocation) -> bool:
    room = ctx.ledger.rooms[missing.node_id]
    if not room.fits(room.wants(missing.slots)):
        return False
    return all(set(numbers) <= set(room.indices.get(kind, ())) for kind, numbers in missing.indices.items())


def amounts(session: entities.Session) -> dict[str, int]:
    """Return what a start takes from the accounts of owner and queue."""
    if not is_resume(session):
        return limits.wanted(session.request, times=session.node_count)
    total: dict[str, int] = {}
    for missing in missing_on_resume(session):
        for kind, amount in missing.slots:
            total[kind] = total.get(kind, 0) + amount
    return limits.wanted(total.items())


def commit(ctx: context.Context, session: entities.Session, grants: Sequence[decisions.NodeGrant]) -> None:
    """Take the grants out of the round's ledger: nodes, owner and queue."""
    takes = missing_on_resume(session) if is_resume(session) else grants
    for part in takes:
        ctx.ledger.take(part.node_id, part.slots, part.indices)
    ctx.ledger.charge(session, amounts(session))
    ctx.starts += 1
    if is_resume(session):
        ctx.resumed.add(session.id)
