"""
From a plan to the decision that is recorded: victims with their stop, every node, every candidate with one
verdict.

Source: DESIGN 7.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from scheduler.core import context, decisions, entities, ledger, shortages, views
from scheduler.core.preemption import eligibility, planning, problems

_VERDICT = decisions.Verdict
_LEGAL = frozenset({_VERDICT.LIMIT, _VERDICT.INSUFFICIENT, _VERDICT.FREES_NOTHING_SHORT})
NO_FACTS = eligibility.NO_FACTS

#: Verdicts that the pends of one round may carry; beyond it a page asks for one session by running the round
#: again.
MOST_RECORDED = 50_000


def preempt(
    ctx: context.Context, session: entities.Session, plan: planning.Plan, *, is_shadow: bool
) -> decisions.Preempt:
    """Return the record of a stop, as the ledger stood before it."""
    reserve = plan.reserve
    assert reserve is not None
    stopped = {victim.id for victim in plan.victims}
    return decisions.Preempt(
        preempting_jobid=session.id,
        victims=planning.orders_for(ctx, plan, [eligibility.value(plan.axis, v) for v in plan.victims]),
        axis=plan.axis,
        policy_name=plan.policy_name,
        node_id=reserve.node_id,
        slots=reserve.slots,
        draw=reserve.draw,
        draw_indices=reserve.draw_indices,
        releasing_ids=tuple(s.id for s in reserve.leaving if s.id not in stopped),
        preemptor_value=eligibility.value(plan.axis, session),
        nodes=views.of_nodes(ctx, session),
        candidates=_candidates_with_set(ctx, plan, stopped),
        is_shadow=is_shadow,
        is_fewest_proved=plan.is_fewest,
        search_steps=plan.steps,
        proof=plan.proof,
        takes_over=plan.takes_over.reservation.id if plan.takes_over else None,
    )


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
) -> tuple[decisions.CandidateView, ...]:
    judged = plan.judged[-1]
    helpful = judged.helpful()

    def judgement(session: entities.Session, base: decisions.CandidateView) -> decisions.CandidateView:
        if session.id in stopped:
            return _with(base, _VERDICT.SELECTED, base.facts)
        if session.id in judged.legal and session.id not in helpful:
            return _with(base, _VERDICT.FREES_NOTHING_SHORT, NO_FACTS)
        return base

    return _overlaid(ctx, judged.question, judgement)


def candidates_without_set(
    ctx: context.Context, session: entities.Session, plan: planning.Plan
) -> tuple[decisions.CandidateView, ...]:
    """
    Return every candidate when no axis had a set.

    One's own sessions are shown with the verdict of the owner axis, others with that of the queue axis; a
    session that is legal on any axis tried is shown as such. Equal preemptors share one answer while nothing
    changes.
    """
    if ctx.recorded + len(ctx.running) > MOST_RECORDED:
        return ()
    verdict = _VERDICT.LIMIT if shortages.of_limits(ctx, session) else _VERDICT.INSUFFICIENT
    asked = tuple(
        (eligibility.kind_of(judged.question), judged.legal, judged.helpful()) for judged in plan.judged
    )
    key = ("without set", asked, verdict, session.owner_id, len(ctx.claimed))
    return ctx.all_round(key, lambda: _without_set(ctx, session, plan, verdict))


def _without_set(
    ctx: context.Context, session: entities.Session, plan: planning.Plan, verdict: decisions.Verdict
) -> tuple[decisions.CandidateView, ...]:
    ctx.recorded += len(ctx.running)
    by_axis = {judged.axis: _one_axis_without_set(ctx, judged, verdict) for judged in plan.judged}
    if len(by_axis) == 1:
        return next(iter(by_axis.values()))
    owner_axis, queue_axis = by_axis[entities.Axis.OWNER], by_axis[entities.Axis.QUEUE]
    return tuple(
        own if one.owner_id == session.owner_id and other.verdict not in _LEGAL else other
        for one, own, other in zip(ctx.running, owner_axis, queue_axis, strict=True)
    )


def _one_axis_without_set(
    ctx: context.Context, judged: problems.Judged, verdict: decisions.Verdict
) -> tuple[decisions.CandidateView, ...]:
    helpful = judged.helpful()

    def judgement(session: entities.Session, base: decisions.CandidateView) -> decisions.CandidateView:
        if session.id not in judged.legal:
            return base
        if session.id in helpful:
            return _with(base, verdict, base.facts)
        return _with(base, _VERDICT.FREES_NOTHING_SHORT, NO_FACTS)

    return _overlaid(ctx, judged.question, judgement)


_Judge = Callable[[entities.Session, decisions.CandidateView], decisions.CandidateView]


def _overlaid(
    ctx: context.Context, question: eligibility.Question, judgement: _Judge
) -> tuple[decisions.CandidateView, ...]:
    """Return the verdict of every session: claimed in this round, else by the axis, else by ``judgement``."""
    base = ctx.all_round(("verdicts", eligibility.kind_of(question)), lambda: _base(ctx, question))
    found = list(base)
    for place, session in enumerate(ctx.running):
        if session.id in ctx.claimed:
            found[place] = _with(base[place], _VERDICT.IN_ANOTHER_DECISION, NO_FACTS)
        elif base[place].verdict is _VERDICT.NOT_NEEDED:
            found[place] = judgement(session, base[place])
    return tuple(found)


def _with(
    base: decisions.CandidateView, verdict: decisions.Verdict, facts: Mapping[str, int]
) -> decisions.CandidateView:
    return decisions.CandidateView(base.session_id, base.node_ids, verdict, facts)


def _base(ctx: context.Context, question: eligibility.Question) -> tuple[decisions.CandidateView, ...]:
    """Return the axis' verdict of every session; a legal one stands as not needed."""
    return tuple(_view(question, session) for session in ctx.running)


def _view(question: eligibility.Question, session: entities.Session) -> decisions.CandidateView:
    verdict, facts = eligibility.judge(question, session)
    if verdict is None:
        verdict, facts = _VERDICT.NOT_NEEDED, {"own": eligibility.value(question.axis, session)}
    node_ids = tuple(sorted({held.node_id for held in session.allocations}))
    return decisions.CandidateView(session.id, node_ids, verdict, facts)
