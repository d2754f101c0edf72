"""Every sufficient set on every node, and the best of them by the words of the rule: slow and plain."""

from __future__ import annotations

import fractions
import itertools
from typing import Any

from scheduler.core import context, decisions, entities, placement, shortages, snapshot
from scheduler.core.preemption import planning, problems

_ORDER = entities.PreemptionOrder
Found = tuple[int, tuple[entities.Session, ...]]


class Search:
    """All irreducible sets for one preemptor on one axis."""

    def __init__(self, view: snapshot.Snapshot, session_id: int, axis: entities.Axis) -> None:
        self.ctx = context.Context(view)
        self.session = self.ctx.session_by_id[session_id]
        self.axis = axis
        self.judged = problems.judge(self.ctx, self.session, axis)
        nodes = [spot.node for spot in shortages.spots(self.ctx, self.session)]
        self.ranks = {node.id: rank for rank, node in enumerate(placement.in_order(self.ctx, nodes))}

    def sets(self) -> list[Found]:
        """Return (node id, victims) for every sufficient set in which nobody could be left out."""
        queue = self.ctx.queue_by_id[self.session.queue_id]
        if self.axis is entities.Axis.QUEUE and not queue.preemptible_queues:
            return []
        return [
            (target.node_id, victims)
            for target in self.judged.targets
            for victims in _subsets([self.ctx.session_by_id[c.session_id] for c in target.candidates])
            if self._is_irreducible(target.node_id, victims)
        ]

    def _is_irreducible(self, node_id: int, victims: tuple[entities.Session, ...]) -> bool:
        def suffices(some: list[entities.Session]) -> bool:
            return planning.suffices(self.ctx, self.session, node_id, some)

        return suffices(list(victims)) and not any(
            suffices([v for v in victims if v is not one]) for one in victims
        )

    def best(self) -> tuple[int, tuple[int, ...]]:
        """Return (node id, sorted victim ids) of the best set by the axis' rule."""
        node_id, victims = min(self.sets(), key=self.key)
        return node_id, tuple(sorted(victim.id for victim in victims))

    def key(self, found: Found) -> tuple[Any, ...]:
        """Return what sets are compared by."""
        node_id, victims = found
        order, node = self.ctx.policy.order, self.ctx.node_by_id[node_id]
        sign = -1 if order is _ORDER.NEWEST else 1
        starts = sorted(sign * (victim.started_at or 0) for victim in victims)
        ids = sorted(victim.id for victim in victims)
        if self.axis is entities.Axis.QUEUE:
            total = sum(victim.priority for victim in victims)
            return len(victims), total, self._share(victims, elsewhere_than=node_id), starts, node.name, ids
        ceiling = max(victim.job_priority for victim in victims)
        total = sum(victim.job_priority for victim in victims)
        tail = (len(victims), total, starts, self.ranks[node_id], node.name, ids)
        if order is _ORDER.SMALLEST_RESOURCES:
            return ceiling, self._share(victims), *tail
        return ceiling, *tail

    def _share(
        self, victims: tuple[entities.Session, ...], *, elsewhere_than: int | None = None
    ) -> fractions.Fraction:
        return sum(
            (
                fractions.Fraction(amount, self.ctx.node_by_id[node_id].capacity.get(kind))
                for victim in victims
                for node_id, slots in self.ctx.stop_plan(victim).frees
                for kind, amount in slots
                if node_id != elsewhere_than
            ),
            fractions.Fraction(0),
        )


def _subsets(legal: list[entities.Session]) -> list[tuple[entities.Session, ...]]:
    sizes = range(1, len(legal) + 1)
    return [victims for size in sizes for victims in itertools.combinations(legal, size)]


def of(view: snapshot.Snapshot, stop: decisions.Preempt) -> Search:
    """Return the search for the preemptor of a decision, on its axis."""
    return Search(view, stop.preempting_jobid, stop.axis)
