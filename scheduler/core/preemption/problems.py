"""
From a round's state to the covering problem that a policy solves.

For one preemptor on one axis: the legal victims, per node what is short, and both in plain integers. Limits
of owner and queue are dimensions beside the slots, so that they hold after the stop; a session that frees a
limit only, and nothing short on the node, is no candidate there. Source: DESIGN 5.1, 5.2.
"""

from __future__ import annotations

import fractions
import functools
from collections.abc import Mapping, Sequence

import numpy as np

from scheduler.core import context, decisions, entities, limits, placement, release, rooms, shortages
from scheduler.core.preemption import eligibility, rosters, shares, tables

Gains = Mapping[shortages.Dimension, int]


class Judged:
    """Who may be stopped for one preemptor on one axis, and the nodes that can be made free."""

    def __init__(self, question: eligibility.Question, codes: tables.Array, targets: tables.Table) -> None:
        self.question, self.targets = question, targets
        self.codes = codes  #: of ``roster.codes``; sessions that this round already stops aside
        self.claimed = frozenset(question.context.claimed)

    @property
    def axis(self) -> entities.Axis:
        """Return the axis that was asked about."""
        return self.question.axis

    @functools.cached_property
    def legal(self) -> frozenset[int]:
        """Return the sessions that may be stopped."""
        ids = rosters.of(self.question.context).ids[self.codes == rosters.LEGAL]
        return frozenset(ids.tolist()) - self.claimed

    @functools.cached_property
    def helpful(self) -> frozenset[int]:
        """Return the legal ones that free something short on some node."""
        return frozenset(self.targets.columns.ids.tolist())

    @functools.cached_property
    def scale(self) -> int:
        """Return more than the share of any set, so that ``value * scale + share`` compares both in order."""
        return 1 + int(self.targets.columns.share.sum())


def judge(
    ctx: context.Context, preemptor: entities.Session, axis: entities.Axis, *, only: int | None = None
) -> Judged:
    """
    Find the legal victims and build the targets: on all nodes, or on one alone.

    Cost: O(sessions on nodes x kinds), in columns.
    """
    question, roster = eligibility.ask(ctx, preemptor, axis), rosters.of(ctx)
    codes = roster.codes(question)
    is_legal = (codes == rosters.LEGAL) & ~roster.among(ctx.claimed)
    if not is_legal.any():
        return Judged(question, codes, tables.EMPTY)
    return Judged(question, codes, _Built(question, roster, is_legal, only).table())


class _Built:
    """The table of one preemptor: nodes by name, what is short on each, who gives what of it."""

    def __init__(
        self, question: eligibility.Question, roster: rosters.Roster, is_legal: tables.Array, only: int | None
    ) -> None:
        ctx, preemptor = question.context, question.preemptor
        self.question, self.roster, self.ctx, self.is_legal = question, roster, ctx, is_legal
        board = ctx.board()
        opened, short = shortages.open_places(ctx, preemptor), shortages.short(ctx, preemptor)
        if only is not None:
            is_asked = opened == board.place_of.get(only, -1)
            opened, short = opened[is_asked], short[is_asked]
        columns = np.flatnonzero(short.any(axis=0))
        need: tables.Array = np.zeros((len(columns), len(ctx.nodes)), dtype=board.free.dtype)
        need[:, opened] = short.T[columns]
        lacks: tables.Array = np.asarray((need > 0).any(axis=0))
        rows = np.flatnonzero(is_legal[roster.session] & lacks[roster.node])
        gives = np.minimum(roster.frees[columns][:, rows], need[:, roster.node[rows]])
        helps = np.flatnonzero((gives > 0).any(axis=0))
        self.rows, self.gives, self.need = rows[helps], gives[:, helps].T, need.T
        self._add_limits()

    def _add_limits(self) -> None:
        """Let what the limits of owner and queue do not leave stand beside what is short on the nodes."""
        if not len(self.rows):
            return
        extra = shortages.of_limits(self.ctx, self.question.preemptor)
        if not extra:
            return
        running, nodes = self.ctx.running, self.ctx.nodes
        found = []
        for session, node in zip(self.roster.session[self.rows], self.roster.node[self.rows], strict=True):
            gains = gives(self.ctx, self.question.preemptor, running[session], nodes[node].id)
            found.append([min(gains.get(dimension, 0), amount) for dimension, amount in extra])
        need = np.tile(_column([amount for _, amount in extra]), (len(self.need), 1))
        need[~self.need.any(axis=1)] = 0
        self.need = np.concatenate((self.need, need), axis=1)
        self.gives = np.concatenate((self.gives, np.array(found, dtype=need.dtype)), axis=1)

    def table(self) -> tables.Table:
        """Return the nodes on which somebody helps."""
        roster, ctx = self.roster, self.ctx
        session, node = roster.session[self.rows], roster.node[self.rows]
        places, sizes = np.unique(node, return_counts=True)
        nodes = [ctx.nodes[place] for place in places.tolist()]
        limited = self.question.policy.max_suspended_per_node is not None
        heads = tables.Heads(
            ctx.board().ids[places],
            places,
            lambda place: nodes[place].name,
            functools.partial(self._ranks, nodes),
            [self._most(one.id) for one in nodes] if limited else None,
        )
        value = roster.job_priority if self.question.axis is entities.Axis.OWNER else roster.priority
        share, total = self._shares(session, node)
        columns = tables.Columns(
            roster.ids[session], value[session], self.gives, roster.start[session], share, total
        )
        first = np.concatenate(([0], np.cumsum(sizes)))
        return tables.Table(heads, self.need[places], first, columns)

    def _ranks(self, nodes: Sequence[entities.Node]) -> list[int]:
        """Return the places of some nodes in the order of the placement, as the ledger stands now."""
        in_order = placement.in_order(self.ctx, self._considered())
        ranks = {node.id: rank for rank, node in enumerate(in_order)}
        return [ranks[node.id] for node in nodes]

    def _considered(self) -> list[entities.Node]:
        """Return the nodes on which something is short and somebody may be stopped."""
        roster = self.roster
        is_there = np.zeros(len(self.need), dtype=bool)
        is_there[roster.node[self.is_legal[roster.session]]] = True
        is_there &= self.need.any(axis=1)
        return [self.ctx.nodes[place] for place in np.flatnonzero(is_there).tolist()]

    def _most(self, node_id: int) -> int | None:
        """Return how many may be stopped on a node where suspended sessions per node are limited."""
        most = self.question.policy.max_suspended_per_node
        assert most is not None
        roster, running = self.roster, self.ctx.running
        there = roster.session[roster.node == self.ctx.board().place_of[node_id]]
        legal = (running[place] for place in there[self.is_legal[there]].tolist())
        places = [
            most - self.question.suspended.get(held.node_id, 0)
            for session in legal
            if self.ctx.stop_plan(session).action is decisions.Action.SUSPEND
            for held in session.allocations
        ]
        return min(places, default=None)

    def _shares(self, session: tables.Array, node: tables.Array) -> tuple[tables.Array, tables.Array]:
        """Return what each frees on other nodes and on all, in one common fraction; zeros where nothing compares it."""
        compares_total = self.question.policy.order is entities.PreemptionOrder.SMALLEST_RESOURCES
        none = np.zeros(len(session), dtype=np.int64)
        wanted = session if compares_total else session[self.roster.is_shared[session]]
        if not len(wanted):
            return none, none
        found = _Shares(self.ctx, {int(place) for place in wanted})
        both = [
            found.of(int(one), self.ctx.nodes[place].id) for one, place in zip(session, node, strict=True)
        ]
        return tables.integers(share for share, _ in both), tables.integers(total for _, total in both)


def _column(amounts: Sequence[int]) -> tables.Array:
    return tables.integers(amounts)


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


class _Shares:
    """Shares of what some sessions free, as integers of one common fraction."""

    def __init__(self, ctx: context.Context, sessions: set[int]) -> None:
        plans = {place: ctx.stop_plan(ctx.running[place]) for place in sessions}
        self.parts = {place: shares.by_node(ctx.node_by_id, plan.frees) for place, plan in plans.items()}
        self.scale = shares.common(part for parts in self.parts.values() for part in parts.values())

    def of(self, session: int, node_id: int) -> tuple[int, int]:
        """Return (share on other nodes, share on all nodes)."""
        parts = self.parts.get(session)
        if parts is None:
            return 0, 0
        total = sum(parts.values(), fractions.Fraction(0)) * self.scale
        return int(total - parts.get(node_id, 0) * self.scale), int(total)
