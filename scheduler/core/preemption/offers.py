"""
What one preemptor is offered: the nodes on which somebody may be stopped and helps, as a table made when asked for.

Preemptors of one kind ask again and again of nodes that have hardly changed; ``kept`` carries what is known of each
node from one of their decisions to the next, and ``part`` makes a table of those nodes alone that have to be looked
at. Source: DESIGN 5.1; PERFORMANCE 8 (a full round).
"""

from __future__ import annotations

import fractions
import functools
from collections.abc import Iterable

import numpy as np

from scheduler.core import context, decisions, entities, placement, shortages
from scheduler.core.preemption import eligibility, gains, keeping, rosters, shares, tables

Array = tables.Array


class Offer(tables.Source):
    """
    The nodes by name, what is short on each, who gives what of it; as the ledger stands when it is made.

    Args:
        question: for whom and on which axis.
        is_legal: of the roster's sessions, who may be stopped.
        only: the one node that counts; None = all.
        is_strict: where suspended sessions per node are limited, so many may be stopped at all, whatever becomes of
            them; else that limit is left out on nodes where it says nothing of the number of victims.
    """

    def __init__(
        self,
        question: eligibility.Question,
        is_legal: Array,
        only: int | None = None,
        *,
        is_strict: bool = False,
    ) -> None:
        self.only, self.is_strict = only, is_strict
        self.question, self.is_legal, ctx = question, is_legal, question.context
        self.ctx, self.roster, self.board = ctx, rosters.of(ctx), ctx.board()
        self.limits = shortages.of_limits(ctx, question.preemptor)
        opened, short = (of(ctx, question.preemptor) for of in (shortages.open_places, shortages.short))
        if only is not None:
            is_asked = opened == self.board.place_of.get(only, -1)
            opened, short = opened[is_asked], short[is_asked]
        self.columns = np.flatnonzero(short.any(axis=0))
        self.need: Array = np.zeros((len(self.columns), len(ctx.nodes)), dtype=self.board.free.dtype)
        self.need[:, opened] = short.T[self.columns]
        self.lacks: Array = np.asarray((self.need > 0).any(axis=0))
        self.kept = None if only is not None else self._kept()
        found = self._helpful_of_all() if self.kept is None else self._helpful_again(self.kept)
        self.is_helpful, self._sizes = found

    # Who helps

    def _helpful_of_all(self) -> tuple[Array, Array]:
        """
        Say of what each session holds on each node whether its stop frees something short there; and how many do.

        Returns:
            (rows of the roster,) and (nodes,).
        """
        roster, found = self.roster, np.zeros(len(self.roster.node), dtype=bool)
        rows = np.flatnonzero(self.is_legal[roster.session] & self.lacks[roster.node])
        found[rows] = (self._given(rows) > 0).any(axis=0)
        return found, np.bincount(roster.node[found], minlength=len(self.lacks))

    def _helpful_again(self, kept: keeping.Kept) -> tuple[Array, Array]:
        """Ask again on the nodes that changed alone."""
        roster = self.roster
        places = np.flatnonzero(kept.follow(self.board.versions()))
        rows = roster.rows_on(places)
        kept.is_helpful[rows] = self.is_legal[roster.session[rows]] & (self._given(rows) > 0).any(axis=0)
        helping = roster.node[rows[kept.is_helpful[rows]]]
        kept.sizes[places] = np.bincount(helping, minlength=len(self.lacks))[places]
        return kept.is_helpful.copy(), kept.sizes.copy()

    def _given(self, rows: Array) -> Array:
        """Return what is freed of what is short: (amounts short, rows)."""
        frees, node = self.roster.frees, self.roster.node.take(rows)
        given: Array = np.empty((len(self.columns), len(rows)), dtype=np.result_type(frees, self.need))
        for place, column in enumerate(self.columns.tolist()):
            given[place] = np.minimum(frees[column].take(rows), self.need[place].take(node))
        return given

    def _kept(self) -> keeping.Kept | None:
        """Return what is kept for preemptors of this kind; None where more counts than the nodes' own state."""
        question, policy = self.question, self.question.policy
        is_one_by_one = policy.max_suspended_per_node is not None or self.limits
        is_by_share = policy.order is entities.PreemptionOrder.SMALLEST_RESOURCES
        if is_one_by_one or is_by_share or question.axis is not entities.Axis.QUEUE:
            return None
        if (self.roster.is_shared & self.is_legal).any():
            return None
        ctx, roster = self.ctx, self.roster
        key = ("kept", shortages.shape(question.preemptor), eligibility.kind_of(question), ctx.lifted)
        return ctx.all_round(key, lambda: keeping.Kept(len(ctx.nodes), len(roster.node)))

    @property
    def sizes(self) -> Array:
        """Return how many help on each node of the group, by name."""
        return self._sizes

    def session_ids(self) -> list[int]:
        """Return who helps somewhere."""
        found: list[int] = self.roster.ids[self.roster.session[self.is_helpful]].tolist()
        return found

    # Tables

    def whole(self) -> tables.Table:
        """Return all nodes on which somebody helps."""
        return self._whole

    @functools.cached_property
    def _whole(self) -> tables.Table:
        return self.part(np.flatnonzero(self.sizes))

    def of_node(self, node_id: int) -> tables.Table | None:
        """Return one node; None when it is not offered."""
        place = self.board.place_of.get(node_id)
        return None if place is None or not self.sizes[place] else self.part(np.array([place]))

    def part(self, places: Array) -> tables.Table:
        """Return some of the nodes on which somebody helps, by name."""
        is_asked = np.zeros(len(self.sizes), dtype=bool)
        is_asked[places] = True
        roster, places = self.roster, np.flatnonzero(is_asked & (self.sizes > 0))
        rows = roster.rows_on(places)
        rows = rows[self.is_helpful[rows]]
        session, node = roster.session[rows], roster.node[rows]
        need, given = self._with_limits(rows)
        share, total = self._shares(session, node)
        value = roster.job_priority if self.question.axis is entities.Axis.OWNER else roster.priority
        columns = tables.Columns(
            roster.ids[session], value[session], given.T, roster.start[session], share, total
        )
        first = np.concatenate(([0], np.cumsum(self.sizes[places])))
        return tables.Table(self._heads(places), need.T[places], first, columns)

    def _heads(self, places: Array) -> tables.Heads:
        nodes, ids = self.ctx.nodes, self.board.ids[places]
        is_limited = self.question.policy.max_suspended_per_node is not None
        return tables.Heads(
            ids,
            places,
            lambda place: nodes[int(places[place])].name,
            functools.partial(self._ranks, ids),
            [self._most(node_id) for node_id in ids.tolist()] if is_limited else None,
        )

    def _with_limits(self, rows: Array) -> tuple[Array, Array]:
        """
        Return what is short on each node and what each gives, the limits of owner and queue beside the slots.
        """
        given = self._given(rows)
        if not self.limits:
            return self.need, given
        running, nodes, roster = self.ctx.running, self.ctx.nodes, self.roster
        found = []
        for session, node in zip(roster.session[rows], roster.node[rows], strict=True):
            own = gains.of(self.ctx, self.question.preemptor, running[session], nodes[node].id)
            found.append([min(own.get(dimension, 0), amount) for dimension, amount in self.limits])
        amounts = tables.integers(amount for _, amount in self.limits)
        need = np.where(self.lacks, amounts[:, None], 0)
        more = tables.integers(amount for line in found for amount in line).reshape(len(found), len(amounts))
        return np.concatenate((self.need, need)), np.concatenate((given, more.T))

    def _ranks(self, ids: Array) -> list[int]:
        """Return the places of some nodes in the order of the placement, as the ledger stands now."""
        in_order = placement.in_order(self.ctx, self._considered())
        ranks = {node.id: rank for rank, node in enumerate(in_order)}
        return [ranks[node_id] for node_id in ids.tolist()]

    def _considered(self) -> list[entities.Node]:
        """Return the nodes on which something is short and somebody may be stopped."""
        roster = self.roster
        is_there = np.zeros(len(self.lacks), dtype=bool)
        is_there[roster.node[self.is_legal[roster.session]]] = True
        return [self.ctx.nodes[place] for place in np.flatnonzero(is_there & self.lacks).tolist()]

    def _most(self, node_id: int) -> int | None:
        """
        Return how many may be stopped on a node where suspended sessions per node are limited; None = all.

        Exactly as many as may be where all are suspended on this node alone; strictly, as if all were suspended.
        """
        legal = self._legal_on(node_id)
        held: dict[int, int] = {}
        for session in legal:
            if self._is_suspended(session):
                for one in session.allocations:
                    held[one.node_id] = held.get(one.node_id, 0) + 1
        if not self.is_strict and (held.keys() - {node_id} or held.get(node_id, 0) < len(legal)):
            return None
        left = {one: self._left(one) for one in held}
        return min((left[one] for one, count in held.items() if count > left[one]), default=None)

    def _legal_on(self, node_id: int) -> list[entities.Session]:
        roster = self.roster
        there = roster.session[roster.node == self.board.place_of[node_id]]
        return [self.ctx.running[place] for place in there[self.is_legal[there]].tolist()]

    def _is_suspended(self, session: entities.Session) -> bool:
        return self.ctx.stop_plan(session).action is decisions.Action.SUSPEND

    def _left(self, node_id: int) -> int:
        most = self.question.policy.max_suspended_per_node
        assert most is not None
        return most - self.question.suspended.get(node_id, 0)

    def beyond_limit(self, victim_ids: Iterable[int]) -> frozenset[int]:
        """Return those of some victims that would be suspended where more would be than may be."""
        if self.question.policy.max_suspended_per_node is None:
            return frozenset()
        held: dict[int, set[int]] = {}
        for victim in (self.ctx.session_by_id[one] for one in victim_ids if one in self.ctx.session_by_id):
            if self._is_suspended(victim):
                for one in victim.allocations:
                    held.setdefault(one.node_id, set()).add(victim.id)
        return frozenset().union(*(ids for node_id, ids in held.items() if len(ids) > self._left(node_id)))

    def narrowed(self, *, spared: frozenset[int] = frozenset(), is_strict: bool = False) -> Offer:
        """Return the same offer without some of the candidates, or strict."""
        is_legal = self.is_legal & ~self.roster.among(spared)
        return Offer(self.question, is_legal, self.only, is_strict=is_strict)

    def _shares(self, session: Array, node: Array) -> tuple[Array, Array]:
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
