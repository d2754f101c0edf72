"""
From a plan to the decision that is recorded: victims with their stop, every node, every candidate with one
verdict.

Source: DESIGN 7.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence

from scheduler.core import context, decisions, entities, lazies, ledger, views
from scheduler.core.preemption import eligibility, outlooks, planning, problems, rosters, takeover

_VERDICT = decisions.Verdict
#: Verdicts of legal ones that were not chosen; of two axes the later one in this order is said.
_LEGAL = (
    _VERDICT.NODE_RULED_OUT,
    _VERDICT.FREES_NOTHING_SHORT,
    _VERDICT.INSUFFICIENT,
    _VERDICT.LIMIT,
    _VERDICT.POLICY_CHOSE_NOBODY,
    _VERDICT.POLICY_GAVE_NO_ANSWER,
)
#: Verdicts of legal ones for which their rank plays no part.
_NOT_COMPARED = frozenset({_VERDICT.NODE_RULED_OUT, _VERDICT.FREES_NOTHING_SHORT})
NO_FACTS = eligibility.NO_FACTS

#: Verdicts that the pends of one round may carry; beyond it a page asks for one session by running the round
#: again.
MOST_RECORDED = 50_000


def preempt(
    ctx: context.Context, session: entities.Session, plan: planning.Plan, *, is_shadow: bool
) -> decisions.Preempt:
    """Return the record of a stop, as the ledger stood before it; what is taken over counts as given up already."""
    reserve = plan.reserve
    assert reserve is not None
    stopped = {victim.id for victim in plan.victims}
    return decisions.Preempt(
        preempting_jobid=session.id,
        victims=_orders(ctx, plan),
        axis=plan.axis,
        policy_name=plan.policy_name,
        node_id=reserve.node_id,
        slots=reserve.slots,
        draw=reserve.draw,
        draw_indices=reserve.draw_indices,
        releasing_ids=tuple(s.id for s in reserve.leaving if s.id not in stopped),
        preemptor_value=eligibility.value(plan.axis, session),
        nodes=_nodes(ctx, session, plan),
        candidates=_candidates_with_set(ctx, plan, stopped),
        is_shadow=is_shadow,
        is_fewest_proved=plan.is_fewest,
        search_steps=plan.steps,
        proof=plan.proof,
        takes_over=plan.takes_over.reservation.id if plan.takes_over else None,
    )


def _orders(ctx: context.Context, plan: planning.Plan) -> tuple[decisions.VictimOrder, ...]:
    """Return what happens to each victim, in the order in which they are stopped."""
    assert plan.reserve is not None
    found = []
    for victim in plan.victims:
        stop, own = ctx.stop_plan(victim), eligibility.value(plan.axis, victim)
        here = stop.on(plan.reserve.node_id)
        order = decisions.VictimOrder(victim.id, stop.action, stop.mode, stop.signal, stop.grace_s, own, here)
        found.append(order)
    return tuple(found)


def _nodes(
    ctx: context.Context, session: entities.Session, plan: planning.Plan
) -> Sequence[decisions.NodeView]:
    """Return the nodes as the victims were chosen on them, so that these free what is short."""
    if plan.takes_over is None:
        return views.of_nodes(ctx, session)
    with takeover.released(ctx, plan.takes_over):
        return views.of_nodes(ctx, session)


def wait(ctx: context.Context, session: entities.Session, reserve: ledger.Reserve) -> decisions.Pend:
    """Return the Pend that reserves what is already being stopped."""
    node = ctx.node_by_id[reserve.node_id]
    leaving = tuple(s.id for s in reserve.leaving)
    facts: dict[str, int | str] = {"node": node.name, "sessions": len(leaving)}
    made = decisions.Wait(node.id, reserve.slots, reserve.draw, reserve.draw_indices, leaving)
    nodes = views.of_nodes(ctx, session)
    return decisions.Pend(session.id, decisions.PendReason.AWAITING_RELEASE, facts, nodes, wait=made)


def awaiting_facts(ctx: context.Context, plan: planning.Plan) -> dict[str, int | str]:
    """Return the numbers of a Pend(AWAITING_VICTIMS)."""
    assert plan.reserve is not None
    node = ctx.node_by_id[plan.reserve.node_id]
    return {"node": node.name, "sessions": len(plan.victims) or len(plan.reserve.leaving)}


def _candidates_with_set(
    ctx: context.Context, plan: planning.Plan, stopped: set[int]
) -> Sequence[decisions.CandidateView]:
    judged = plan.judged[-1]

    def verdict(session: entities.Session) -> decisions.Verdict:
        if session.id in stopped:
            return _VERDICT.SELECTED
        if session.id in judged.ruled_out:
            return _VERDICT.NODE_RULED_OUT
        return _VERDICT.NOT_NEEDED if session.id in judged.helpful else _VERDICT.FREES_NOTHING_SHORT

    return _overlaid(ctx, judged, verdict)


def has_space(ctx: context.Context) -> bool:
    """Say whether the pends of this round may carry the verdicts of all sessions once more."""
    return ctx.records_all or ctx.recorded + len(ctx.running) <= MOST_RECORDED


def candidates_without_set(
    ctx: context.Context, session: entities.Session, plan: planning.Plan
) -> Sequence[decisions.CandidateView]:
    """
    Return every candidate when no axis had a set.

    One's own sessions are shown with the verdict of the owner axis, others with that of the queue axis; a
    session that is legal on any axis tried is shown as such. Equal preemptors share one answer while nothing
    changes.
    """
    if not has_space(ctx):
        return ()
    said = tuple(_why_not(plan, judged.axis) for judged in plan.judged)
    asked = tuple((eligibility.kind_of(judged.question), judged.legal) for judged in plan.judged)
    key = ("without set", asked, said, session.owner_id, len(ctx.claimed), len(ctx.resumed))
    return ctx.all_round(key, lambda: _without_set(ctx, session, plan, said))


#: Who has a verdict, the best outlook first; nobody has two.
Said = tuple[tuple[decisions.Verdict, frozenset[int]], ...]


def _why_not(plan: planning.Plan, axis: entities.Axis) -> Said:
    """Return what kept each legal session from being chosen; of those that are missing, that nothing short is freed."""
    tried = [judged for judged in (*plan.judged, *plan.over) if judged.axis is axis]
    unanswered = [judged for judged in tried if judged.is_unanswered]
    answered = [judged for judged in tried if not judged.is_unanswered]
    found: list[tuple[decisions.Verdict, frozenset[int]]] = []
    told: frozenset[int] = frozenset()
    for verdict, asked, outlook in (
        (_VERDICT.POLICY_GAVE_NO_ANSWER, unanswered, outlooks.Outlook.ENOUGH),
        (_VERDICT.POLICY_CHOSE_NOBODY, answered, outlooks.Outlook.ENOUGH),
        (_VERDICT.LIMIT, tried, outlooks.Outlook.LIMITED),
        (_VERDICT.INSUFFICIENT, tried, outlooks.Outlook.TOO_LITTLE),
    ):
        ids = frozenset().union(*(judged.outlooks[outlook] for judged in asked)) - told
        found.append((verdict, ids))
        told |= ids
    found.append((_VERDICT.NODE_RULED_OUT, frozenset().union(*(judged.ruled_out for judged in tried)) - told))
    return tuple(found)


def _without_set(
    ctx: context.Context, session: entities.Session, plan: planning.Plan, said: tuple[Said, ...]
) -> Sequence[decisions.CandidateView]:
    ctx.recorded += len(ctx.running)
    by_axis = {
        judged.axis: _overlaid(ctx, judged, functools.partial(_verdict_of, own))
        for judged, own in zip(plan.judged, said, strict=True)
    }
    if len(by_axis) == 1:
        return next(iter(by_axis.values()))
    own, others = by_axis[entities.Axis.OWNER], by_axis[entities.Axis.QUEUE]
    running = ctx.running

    def make(place: int) -> decisions.CandidateView:
        is_own = running[place].owner_id == session.owner_id
        return _of_both(own[place], others[place]) if is_own else others[place]

    return lazies.Lazy(len(running), make)


def _of_both(own: decisions.CandidateView, other: decisions.CandidateView) -> decisions.CandidateView:
    """Return the view of the axis on which an own session is legal: the owner's where it is on none."""
    if other.verdict not in _LEGAL:
        return own
    is_nearer = own.verdict in _LEGAL and _LEGAL.index(own.verdict) > _LEGAL.index(other.verdict)
    return own if is_nearer else other


def _verdict_of(said: Said, session: entities.Session) -> decisions.Verdict:
    return next((verdict for verdict, ids in said if session.id in ids), _VERDICT.FREES_NOTHING_SHORT)


def _overlaid(
    ctx: context.Context,
    judged: problems.Judged,
    of_legal: Callable[[entities.Session], decisions.Verdict],
) -> Sequence[decisions.CandidateView]:
    """Return the verdict of every session: claimed in this round, else by the axis, else what a legal one gets."""
    question, claimed, running = judged.question, frozenset(ctx.claimed), ctx.running
    resumed = frozenset(ctx.resumed)
    codes, tests = judged.codes.tolist(), eligibility.TESTS[judged.axis]

    def make(place: int) -> decisions.CandidateView:
        session, code = running[place], codes[place]
        facts: Mapping[str, int] = NO_FACTS
        if session.id in claimed:
            verdict = _VERDICT.IN_ANOTHER_DECISION
        elif session.id in resumed:
            verdict = _VERDICT.NOT_RUNNING
        elif code == rosters.LEGAL:
            verdict = of_legal(session)
            if verdict not in _NOT_COMPARED:
                facts = {"own": eligibility.value(question.axis, session)}
        else:
            verdict = tests[code - 1][0]
            facts = eligibility.facts(question, session, verdict)
        node_ids = tuple(sorted({held.node_id for held in session.allocations}))
        return decisions.CandidateView(session.id, node_ids, verdict, facts)

    return lazies.Lazy(len(running), make)
