"""
From a plan to the decision that is recorded: victims with their stop, every node, every candidate with one
verdict.

Source: DESIGN 7.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from scheduler.core import context, decisions, entities, lazies, ledger, shortages, views
from scheduler.core.preemption import eligibility, planning, problems, rosters

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
) -> Sequence[decisions.CandidateView]:
    judged = plan.judged[-1]

    def verdict(session: entities.Session) -> decisions.Verdict:
        if session.id in stopped:
            return _VERDICT.SELECTED
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
    verdict = _VERDICT.LIMIT if shortages.of_limits(ctx, session) else _VERDICT.INSUFFICIENT
    asked = tuple(
        (eligibility.kind_of(judged.question), judged.legal, judged.helpful) for judged in plan.judged
    )
    key = ("without set", asked, verdict, session.owner_id, len(ctx.claimed))
    return ctx.all_round(key, lambda: _without_set(ctx, session, plan, verdict))


def _without_set(
    ctx: context.Context, session: entities.Session, plan: planning.Plan, verdict: decisions.Verdict
) -> Sequence[decisions.CandidateView]:
    ctx.recorded += len(ctx.running)
    by_axis = {judged.axis: _one_axis_without_set(ctx, judged, verdict) for judged in plan.judged}
    if len(by_axis) == 1:
        return next(iter(by_axis.values()))
    own, others = by_axis[entities.Axis.OWNER], by_axis[entities.Axis.QUEUE]
    running = ctx.running

    def make(place: int) -> decisions.CandidateView:
        is_own = running[place].owner_id == session.owner_id
        return own[place] if is_own and others[place].verdict not in _LEGAL else others[place]

    return lazies.Lazy(len(running), make)


def _one_axis_without_set(
    ctx: context.Context, judged: problems.Judged, verdict: decisions.Verdict
) -> Sequence[decisions.CandidateView]:
    def said(session: entities.Session) -> decisions.Verdict:
        return verdict if session.id in judged.helpful else _VERDICT.FREES_NOTHING_SHORT

    return _overlaid(ctx, judged, said)


def _overlaid(
    ctx: context.Context,
    judged: problems.Judged,
    of_legal: Callable[[entities.Session], decisions.Verdict],
) -> Sequence[decisions.CandidateView]:
    """Return the verdict of every session: claimed in this round, else by the axis, else what a legal one gets."""
    question, claimed, running = judged.question, frozenset(ctx.claimed), ctx.running
    codes, tests = judged.codes.tolist(), eligibility.TESTS[judged.axis]

    def make(place: int) -> decisions.CandidateView:
        session, code = running[place], codes[place]
        facts: Mapping[str, int] = NO_FACTS
        if session.id in claimed:
            verdict = _VERDICT.IN_ANOTHER_DECISION
        elif code == rosters.LEGAL:
            verdict = of_legal(session)
            if verdict is not _VERDICT.FREES_NOTHING_SHORT:
                facts = {"own": eligibility.value(question.axis, session)}
        else:
            verdict = tests[code - 1][0]
            facts = eligibility.facts(question, session, verdict)
        node_ids = tuple(sorted({held.node_id for held in session.allocations}))
        return decisions.CandidateView(session.id, node_ids, verdict, facts)

    return lazies.Lazy(len(running), make)
