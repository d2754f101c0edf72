"""
From a round's state to the covering problem that a policy solves.

For one preemptor on one axis: the legal victims, per node what is short, and both in plain integers. Limits
of owner and queue are dimensions beside the slots, so that they hold after the stop; a session that frees a
limit only, and nothing short on the node, is no candidate there. Source: DESIGN 5.1, 5.2.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence

import numpy as np

from scheduler.core import context, decisions, entities, shortages
from scheduler.core.preemption import eligibility, offers, outlooks, policy, rosters, tables


class Judged:
    """Who may be stopped for one preemptor on one axis, and the nodes that can be made free."""

    def __init__(
        self, question: eligibility.Question, codes: tables.Array, offer: offers.Offer | None
    ) -> None:
        self.question, self.offer = question, offer
        self.codes = codes  #: of ``roster.codes``; sessions that this round already stops aside
        self.claimed = frozenset(question.context.claimed)
        self.is_unanswered = False  #: the policy failed, or its answer could not be used
        self.is_held_by_limit = False  #: sets suffice, but each suspends more sessions than a node may hold

    @property
    def axis(self) -> entities.Axis:
        """Return the axis that was asked about."""
        return self.question.axis

    @property
    def targets(self) -> Sequence[policy.Target]:
        """Return the nodes on which somebody helps, by name."""
        return () if self.offer is None else self.offer

    @functools.cached_property
    def legal(self) -> frozenset[int]:
        """Return the sessions that may be stopped."""
        ids = rosters.of(self.question.context).ids[self.codes == rosters.LEGAL]
        return frozenset(ids.tolist()) - self.claimed

    @functools.cached_property
    def ruled_out(self) -> frozenset[int]:
        """Return the legal ones that hold nothing on any node on which room can be made."""
        ctx = self.question.context
        roster = rosters.of(ctx)
        is_open = np.zeros(len(ctx.nodes), dtype=bool)
        is_open[shortages.open_places(ctx, self.question.preemptor)] = True
        is_reached = np.zeros(len(roster.ids), dtype=bool)
        is_reached[roster.session[is_open[roster.node]]] = True
        ids = roster.ids[(self.codes == rosters.LEGAL) & ~is_reached]
        return frozenset(ids.tolist()) - self.claimed

    @functools.cached_property
    def helpful(self) -> frozenset[int]:
        """Return the legal ones that free something short on some node."""
        return frozenset() if self.offer is None else frozenset(self.offer.session_ids())

    @functools.cached_property
    def outlooks(self) -> Mapping[outlooks.Outlook, frozenset[int]]:
        """Return the helpful ones by what all of them together would come to on their nodes."""
        if not self.helpful or self.offer is None:
            return dict.fromkeys(outlooks.Outlook, frozenset())
        offer = self.offer.narrowed(is_strict=True) if self.is_held_by_limit else self.offer
        return outlooks.of_sessions(offer.whole(), len(offer.columns))

    def part(self, *, spared: frozenset[int] = frozenset(), is_strict: bool = False) -> Judged:
        """Return the same question without some of the candidates, or with the strict limit of ``Offer``."""
        assert self.offer is not None
        offer = self.offer.narrowed(spared=spared, is_strict=is_strict)
        return Judged(self.question, self.codes, offer)

    def suspendable(self) -> frozenset[int]:
        """Return the helpful ones whose stop is a suspend."""
        ctx = self.question.context
        return frozenset(
            one
            for one in self.helpful
            if ctx.stop_plan(ctx.session_by_id[one]).action is decisions.Action.SUSPEND
        )

    @functools.cached_property
    def scale(self) -> int:
        """Return more than the share of any set, so that ``value * scale + share`` compares both in order."""
        if self.offer is None or self.offer.kept is not None:
            return 1
        return 1 + int(self.offer.whole().columns.share.sum())


def judge(
    ctx: context.Context, preemptor: entities.Session, axis: entities.Axis, *, only: int | None = None
) -> Judged:
    """
    Find the legal victims and build the targets: on all nodes, or on one alone.

    Cost: O(sessions on nodes x kinds), in columns; where preemptors of this kind asked before, of the nodes that
    changed since.
    """
    question, roster = eligibility.ask(ctx, preemptor, axis), rosters.of(ctx)
    codes = roster.codes(question)
    is_legal = (codes == rosters.LEGAL) & ~roster.among(ctx.claimed | ctx.resumed)
    return Judged(question, codes, offers.Offer(question, is_legal, only) if is_legal.any() else None)
