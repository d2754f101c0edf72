"""
From a round's state to the covering problem that a policy solves.

For one preemptor on one axis: judge every session on the group's nodes, see per node what is short, and put
both into plain integers. Limits of owner and queue are dimensions beside the slots, so that they hold after
the stop; a session that frees a limit only, and nothing short on the node, is no candidate there. Source:
DESIGN 5.1, 5.2.
"""

from __future__ import annotations

import dataclasses
import fractions
from collections.abc import Mapping, Sequence

from scheduler.core import context, decisions, entities, ledger, limits, placement, release
from scheduler.core.preemption import eligibility, policy, shares

_VERDICT = decisions.Verdict
#: (scope, kind): scope is "node", "owner" or "queue".
Dimension = tuple[str, str]


@dataclasses.dataclass(frozen=True, slots=True)
class Judged:
    """What was thought of every session that could be stopped, and the nodes that can be made free."""

    axis: entities.Axis
    verdicts: Mapping[int, tuple[decisions.Verdict, Mapping[str, int]]]  #: of sessions that are out
    legal: tuple[entities.Session, ...]
    targets: tuple[policy.Target, ...]


def judge(
    ctx: context.Context, preemptor: entities.Session, axis: entities.Axis, nodes: Sequence[entities.Node]
) -> Judged:
    """
    Judge every session on the group's nodes and build the targets.

    Args:
        nodes: where the preemptor could start: ready, with its labels, large enough, not closed to it.

    Cost: O(sessions on nodes + candidates x dimensions).
    """
    question = eligibility.ask(ctx, preemptor, axis)
    verdicts: dict[int, tuple[decisions.Verdict, Mapping[str, int]]] = {}
    legal = []
    for session in ctx.running:
        verdict, facts = eligibility.judge(question, session)
        if verdict is None:
            legal.append(session)
        else:
            verdicts[session.id] = verdict, facts
    by_node: dict[int, list[entities.Session]] = {}
    for session in legal:
        for held in session.allocations:
            by_node.setdefault(held.node_id, []).append(session)
    raw = [
        _Raw(ctx, question, node, by_node[node.id], rank)
        for rank, node in enumerate(placement.in_order(ctx, nodes))
        if node.id in by_node
    ]
    targets = _to_targets(ctx, axis, [one for one in raw if one.is_useful])
    helpful = {candidate.session_id for target in targets for candidate in target.candidates}
    for session in legal:
        if session.id not in helpful:
            verdicts[session.id] = _VERDICT.FREES_NOTHING_SHORT, eligibility.NO_FACTS
    rest = tuple(session for session in legal if session.id in helpful)
    return Judged(axis, verdicts, rest, targets)


class _Raw:
    """One node: what is short there, and what each legal candidate gives of it."""

    def __init__(
        self,
        ctx: context.Context,
        question: eligibility.Question,
        node: entities.Node,
        legal: Sequence[entities.Session],
        rank: int,
    ) -> None:
        self.node, self.rank = node, rank
        need = shortage(ctx, question.preemptor, node.id)
        self.is_useful = any(scope == "node" for scope, _ in need)
        self.dimensions = tuple(need)
        self.need = tuple(need.values())
        self.gives: dict[int, tuple[int, ...]] = {}
        if self.is_useful:
            for session in legal:
                gains = gives(ctx, question.preemptor, session, node.id)
                if any(scope == "node" and gains.get((scope, kind), 0) > 0 for scope, kind in need):
                    capped = (min(gains.get(d, 0), amount) for d, amount in need.items())
                    self.gives[session.id] = tuple(capped)
        self.is_useful = bool(self.gives)
        self.most = _most(question, [s for s in legal if s.id in self.gives])


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


def shortage(ctx: context.Context, preemptor: entities.Session, node_id: int) -> dict[Dimension, int]:
    """
    Return everything that is short for the preemptor on one node when releasing counts, in a fixed order.

    Returns:
        (scope, kind) -> amount >= 1: slots and session places of the node, then limits of owner and queue.
    """
    room = ctx.ledger.rooms[node_id]
    need: dict[Dimension, int] = {
        ("node", kind): amount for kind, amount in sorted(room.short(room.wants(preemptor.request)).items())
    }
    wanted = limits.wanted(preemptor.request)
    for scope, account in zip(("owner", "queue"), ctx.ledger.accounts(preemptor), strict=True):
        for kind, amount in sorted(account.short(wanted, with_leaving=True).items()):
            need[scope, kind] = amount
    return need


def gives(
    ctx: context.Context, preemptor: entities.Session, victim: entities.Session, node_id: int
) -> dict[Dimension, int]:
    """
    Return what the stop of ``victim`` gives of each dimension, for a start of the preemptor on one node.
    """
    plan = ctx.stop_plan(victim)
    gains: dict[Dimension, int] = {}
    total: dict[str, int] = {limits.SESSIONS: 1} if plan.frees_place else {}
    for held_id, slots in plan.frees:
        for kind, amount in slots:
            total[kind] = total.get(kind, 0) + amount
            if held_id == node_id:
                gains["node", kind] = gains.get(("node", kind), 0) + amount
    if plan.frees_place:
        gains["node", ledger.PLACES] = 1
    for scope, is_same in (
        ("owner", victim.owner_id == preemptor.owner_id),
        ("queue", victim.queue_id == preemptor.queue_id),
    ):
        if is_same:
            gains.update({(scope, kind): amount for kind, amount in total.items()})
    return gains


def _to_targets(ctx: context.Context, axis: entities.Axis, raw: Sequence[_Raw]) -> tuple[policy.Target, ...]:
    plans = {i: ctx.stop_plan(ctx.session_by_id[i]) for one in raw for i in one.gives}
    totals = {i: shares.share(ctx.node_by_id, plan.frees) for i, plan in plans.items()}
    here = {
        (one.node.id, i): shares.share(ctx.node_by_id, _on(plans[i], one.node.id))
        for one in raw
        for i in one.gives
    }
    scale = shares.common((*totals.values(), *here.values()))
    return tuple(
        policy.Target(
            one.node.id,
            one.node.name,
            one.rank,
            one.need,
            tuple(
                _candidate(ctx.session_by_id[i], axis, one, (totals[i], here[one.node.id, i], scale))
                for i in sorted(one.gives)
            ),
            one.most,
        )
        for one in sorted(raw, key=lambda one: (one.node.name, one.node.id))
    )


def _on(plan: release.StopPlan, node_id: int) -> list:  # type: ignore[type-arg]
    return [(held_id, slots) for held_id, slots in plan.frees if held_id == node_id]


def _candidate(
    session: entities.Session,
    axis: entities.Axis,
    one: _Raw,
    share: tuple[fractions.Fraction, fractions.Fraction, int],
) -> policy.Candidate:
    total, here, scale = share
    return policy.Candidate(
        session.id,
        eligibility.value(axis, session),
        one.gives[session.id],
        session.started_at or 0,
        int((total - here) * scale),
        int(total * scale),
    )
