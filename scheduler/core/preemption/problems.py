"""
From a round's state to the covering problem that a policy solves.

For one preemptor on one axis: the legal victims, per node what is short, and both in plain integers. Limits
of owner and queue are dimensions beside the slots, so that they hold after the stop; a session that frees a
limit only, and nothing short on the node, is no candidate there. Source: DESIGN 5.1, 5.2.
"""

from __future__ import annotations

import dataclasses
import fractions
from collections.abc import Mapping, Sequence

from scheduler.core import context, decisions, entities, limits, placement, release, rooms, shortages
from scheduler.core.preemption import eligibility, policy, shares

Gains = Mapping[shortages.Dimension, int]


@dataclasses.dataclass(frozen=True, slots=True)
class Judged:
    """Who may be stopped for one preemptor on one axis, and the nodes that can be made free."""

    question: eligibility.Question
    legal: frozenset[int]  #: sessions that may be stopped
    targets: tuple[policy.Target, ...]

    @property
    def axis(self) -> entities.Axis:
        """Return the axis that was asked about."""
        return self.question.axis

    def helpful(self) -> frozenset[int]:
        """Return the legal ones that free something short on some node."""
        return frozenset(c.session_id for target in self.targets for c in target.candidates)


def judge(
    ctx: context.Context, preemptor: entities.Session, axis: entities.Axis, *, only: int | None = None
) -> Judged:
    """
    Find the legal victims and build the targets: on all nodes, or on one alone.

    Cost: O(legal victims x dimensions + nodes).
    """
    question = eligibility.ask(ctx, preemptor, axis)
    legal = eligibility.legal(question)
    by_node: dict[int, list[entities.Session]] = {}
    for session in legal:
        for held in session.allocations:
            by_node.setdefault(held.node_id, []).append(session)
    wanted = by_node if only is None else {only} & by_node.keys()
    places = [spot for spot in shortages.spots(ctx, preemptor) if spot.node.id in wanted and spot.need]
    extra = shortages.of_limits(ctx, preemptor) if places else ()
    ranked = {node.id: rank for rank, node in enumerate(placement.in_order(ctx, [s.node for s in places]))}
    raw = [
        _Raw(question, spot.node, (*spot.need, *extra), by_node[spot.node.id], ranked[spot.node.id])
        for spot in places
    ]
    targets = _to_targets(question, [one for one in raw if one.gives])
    return Judged(question, frozenset(session.id for session in legal), targets)


class _Raw:
    """One node: what is short there, and what each legal candidate gives of it."""

    __slots__ = ("gives", "most", "need", "node", "rank")

    def __init__(
        self,
        question: eligibility.Question,
        node: entities.Node,
        need: Sequence[tuple[shortages.Dimension, int]],
        legal: Sequence[entities.Session],
        rank: int,
    ) -> None:
        self.node, self.rank = node, rank
        self.need = tuple(amount for _, amount in need)
        self.gives: dict[int, tuple[int, ...]] = {}
        for session in legal:
            gains = gives(question.context, question.preemptor, session, node.id)
            if any(dimension[0] == "node" and gains.get(dimension, 0) > 0 for dimension, _ in need):
                self.gives[session.id] = tuple([min(gains.get(d, 0), amount) for d, amount in need])
        self.most = _most(question, legal)


def _most(question: eligibility.Question, legal: Sequence[entities.Session]) -> int | None:
    """Return how many of them may be stopped where suspended sessions per node are limited."""
    most = question.policy.max_suspended_per_node
    if most is None:
        return None
    places = [
        most - question.suspended.get(held.node_id, 0)
        for session in legal
        if question.context.stop_plan(session).action is decisions.Action.SUSPEND
        for held in session.allocations
    ]
    return min(places, default=None)


def gives(ctx: context.Context, preemptor: entities.Session, victim: entities.Session, node_id: int) -> Gains:
    """
    Return what the stop of ``victim`` gives of each dimension, for a start of the preemptor on one node.
    """
    is_own, is_same_queue = victim.owner_id == preemptor.owner_id, victim.queue_id == preemptor.queue_id
    key = ("gives", victim.id, node_id, is_own, is_same_queue)
    return ctx.all_round(key, lambda: _gives(ctx.stop_plan(victim), node_id, is_own, is_same_queue))


def _gives(plan: release.StopPlan, node_id: int, is_own: bool, is_same_queue: bool) -> Gains:
    gains: dict[shortages.Dimension, int] = {("node", kind): amount for kind, amount in plan.on(node_id)}
    total = plan.total()
    if plan.frees_place:
        gains["node", rooms.PLACES] = 1
        total[limits.SESSIONS] = 1
    for scope, is_same in (("owner", is_own), ("queue", is_same_queue)):
        if is_same:
            gains.update({(scope, kind): amount for kind, amount in total.items()})
    return gains


def _to_targets(question: eligibility.Question, raw: Sequence[_Raw]) -> tuple[policy.Target, ...]:
    found = _Shares(question, raw)
    return tuple(
        policy.Target(
            one.node.id,
            one.node.name,
            one.rank,
            one.need,
            tuple(_candidate(question, one, session_id, found) for session_id in sorted(one.gives)),
            one.most,
        )
        for one in raw
    )


class _Shares:
    """
    Shares of what each candidate frees, as integers of one common fraction; zeros where nothing compares
    them.
    """

    def __init__(self, question: eligibility.Question, raw: Sequence[_Raw]) -> None:
        ctx = question.context
        self.ctx = ctx
        compares_total = question.policy.order is entities.PreemptionOrder.SMALLEST_RESOURCES
        plans = {i: ctx.stop_plan(ctx.session_by_id[i]) for one in raw for i in one.gives}
        self.wanted = {i: plan for i, plan in plans.items() if compares_total or len(plan.frees) > 1}
        self.parts = {i: shares.by_node(ctx.node_by_id, plan.frees) for i, plan in self.wanted.items()}
        self.scale = shares.common(part for parts in self.parts.values() for part in parts.values())

    def of(self, session_id: int, node_id: int) -> tuple[int, int]:
        """Return (share on other nodes, share on all nodes)."""
        parts = self.parts.get(session_id)
        if parts is None:
            return 0, 0
        total = sum(parts.values(), fractions.Fraction(0)) * self.scale
        return int(total - parts.get(node_id, 0) * self.scale), int(total)


def _candidate(
    question: eligibility.Question, one: _Raw, session_id: int, found: _Shares
) -> policy.Candidate:
    session = question.context.session_by_id[session_id]
    elsewhere, total = found.of(session_id, one.node.id)
    value = eligibility.value(question.axis, session)
    return policy.Candidate(
        session_id, value, one.gives[session_id], session.started_at or 0, elsewhere, total
    )
