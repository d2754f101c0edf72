"""
From a plan to the decision that is recorded: victims with their stop, every node, every candidate with one
verdict.

Source: DESIGN 7.
"""

from __future__ import annotations

from collections.abc import Mapping

from scheduler.core import context, decisions, entities, ledger, views
from scheduler.core.preemption import eligibility, planning, problems

_VERDICT = decisions.Verdict
_Judgement = tuple[decisions.Verdict, Mapping[str, int]]


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
        is_fewest_proved=plan.is_proved,
        search_steps=plan.steps,
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
    return {"node": node.name, "sessions": len(plan.victims)}


def _candidates_with_set(
    ctx: context.Context, plan: planning.Plan, stopped: set[int]
) -> tuple[decisions.CandidateView, ...]:
    judged = plan.judged[-1]
    found = []
    for session in ctx.running:
        verdict, facts = judged.verdicts.get(session.id, (_VERDICT.NOT_NEEDED, eligibility.NO_FACTS))
        if session.id in stopped:
            verdict, facts = _VERDICT.SELECTED, {"own": eligibility.value(judged.axis, session)}
        elif verdict is _VERDICT.NOT_NEEDED:
            facts = {"own": eligibility.value(judged.axis, session)}
        found.append(_view(session, (verdict, facts)))
    return tuple(found)


def candidates_without_set(
    ctx: context.Context, session: entities.Session, plan: planning.Plan
) -> tuple[decisions.CandidateView, ...]:
    """
    Return every candidate when no axis had a set.

    One's own sessions are shown with the verdict of the owner axis, others with that of the queue axis; a
    session that is legal on any axis tried is shown as such.
    """
    return tuple(_view(one, _without_set(ctx, session, one, plan)) for one in ctx.running)


def _without_set(
    ctx: context.Context, session: entities.Session, one: entities.Session, plan: planning.Plan
) -> _Judgement:
    found = [(judged.axis, judged.verdicts.get(one.id)) for judged in plan.judged]
    for axis, verdict in found:
        if verdict is None:
            return _legal_but_no_set(ctx, session, one, axis)
    is_own = one.owner_id == session.owner_id
    wanted = entities.Axis.OWNER if is_own else entities.Axis.QUEUE
    by_axis = {axis: verdict for axis, verdict in found if verdict is not None}
    return by_axis.get(wanted) or next(iter(by_axis.values()))


def _legal_but_no_set(
    ctx: context.Context, session: entities.Session, one: entities.Session, axis: entities.Axis
) -> _Judgement:
    facts = {"own": eligibility.value(axis, one)}
    short = [
        problems.shortage(ctx, session, held.node_id)
        for held in one.allocations
        if held.node_id in ctx.node_by_id
    ]
    is_limit = any(scope != "node" for need in short for scope, _ in need)
    return (_VERDICT.LIMIT if is_limit else _VERDICT.INSUFFICIENT), facts


def _view(session: entities.Session, judgement: _Judgement) -> decisions.CandidateView:
    verdict, facts = judgement
    node_ids = tuple(sorted({held.node_id for held in session.allocations}))
    return decisions.CandidateView(session.id, node_ids, verdict, facts)
