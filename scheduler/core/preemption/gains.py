"""What a stop gives of each dimension: slots and places of one node, and what the limits of owner and queue count."""

from __future__ import annotations

from collections.abc import Mapping

from scheduler.core import context, entities, limits, release, rooms, shortages

Gains = Mapping[shortages.Dimension, int]


def of(ctx: context.Context, preemptor: entities.Session, victim: entities.Session, node_id: int) -> Gains:
    """
    Return what the stop of ``victim`` gives of each dimension, for a start of the preemptor on one node.
    """
    is_own, is_same_queue = victim.owner_id == preemptor.owner_id, victim.queue_id == preemptor.queue_id
    key = ("gives", victim.id, node_id, is_own, is_same_queue)
    return ctx.all_round(key, lambda: _of(ctx.stop_plan(victim), node_id, is_own, is_same_queue))


def _of(plan: release.StopPlan, node_id: int, is_own: bool, is_same_queue: bool) -> Gains:
    gains: dict[shortages.Dimension, int] = {("node", kind): amount for kind, amount in plan.on(node_id)}
    total = plan.total()
    if plan.frees_place:
        gains["node", rooms.PLACES] = 1
        total[limits.SESSIONS] = 1
    for scope, is_same in (("owner", is_own), ("queue", is_same_queue)):
        if is_same:
            gains.update({(scope, kind): amount for kind, amount in total.items()})
    return gains
