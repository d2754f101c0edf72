"""
One round over one group: the loop.

Every waiting session is looked at once, in order: checks, placement on what is free, then preemption or wait,
else pend, the first of these with a claim once it has waited too long.
Each answer goes to the one callback; the round knows nothing of its effect. Shadow decides as if
preemption were off and plans afterwards, in the same order, on what the round left. Source: DESIGN 4, 5; XCE
spec AC1, AC2, AC4, AC5.
"""

from __future__ import annotations

import dataclasses

from scheduler.core import (
    checks,
    claims,
    context,
    decisions,
    entities,
    likeness,
    ordering,
    placement,
    records,
    reserved,
    snapshot,
    views,
)
from scheduler.core.preemption import planning, policy, shipped

_REASON = decisions.PendReason


def run_round(
    view: snapshot.Snapshot,
    decide: decisions.Decide,
    *,
    policies: policy.Policies = shipped.FOR_QUEUES,
    records_all: bool = False,
) -> None:
    """
    Decide for every waiting session of one group.

    Args:
        view: the group at one moment; not changed.
        decide: called with one Dispatch or one Pend per waiting session, but for a suspended one that the round has
            stopped for another before its turn; a Preempt comes directly before the Pend(AWAITING_VICTIMS) of its
            preemptor, a shadow Preempt after all ordinary decisions.
        policies: the preemption policies that queues may name.
        records_all: whether every Pend carries its candidates, however many there are in all; for a caller that reads
            those of a few.

    Cost: O(waiting x nodes) and, per preemptor, one search bounded by ``planning.STEPS``.
    Source: DESIGN 4.
    """
    ctx = context.Context(view)
    ctx.records_all = records_all
    shadow: list[_Look] = []
    passed = 0
    for session in ordering.waiting(view):
        if session.id in ctx.claimed:
            continue
        kind, seen = likeness.of(ctx, session, passed), len(ctx.standing)
        known = None if kind is None else ctx.answers().get(kind)
        if known is None:
            known = _look_at(ctx, session, decide, policies, kind)
            passed += session.id in ctx.reservation_by_session
        else:
            decide(likeness.told_again(ctx, known, session.id))
        if known.is_for_shadow:
            shadow.append(_Look(session, seen))
    for look in shadow:
        with claims.lifted(ctx, look.session, seen=look.seen, waits_for_stops=True):
            _plan_in_shadow(ctx, look.session, decide, policies)


@dataclasses.dataclass(frozen=True, slots=True)
class _Look:
    """A session for which shadow plans once the round is over."""

    session: entities.Session
    seen: int  #: claims that stood when its turn came


def _look_at(
    ctx: context.Context,
    session: entities.Session,
    decide: decisions.Decide,
    policies: policy.Policies,
    kind: likeness.Key | None,
) -> likeness.Told:
    """Decide for one session, and remember what it was told where that is true of others too."""
    version, is_alike = ctx.ledger.version, ctx.has_first or not ctx.policy.starvation_after_s
    answer, is_for_shadow = _answer(ctx, session, decide, policies)
    decide(answer)
    told = likeness.Told(answer, is_for_shadow)
    if kind is not None and is_alike and version == ctx.ledger.version and likeness.is_true_of_all(answer):
        ctx.answers()[kind] = told
    return told


def _answer(
    ctx: context.Context, session: entities.Session, decide: decisions.Decide, policies: policy.Policies
) -> tuple[decisions.Dispatch | decisions.Pend, bool]:
    """Return what one session is told, and whether shadow plans for it afterwards."""
    failure = checks.first_failure(ctx, session)
    if failure is not None:
        return decisions.Pend(session.id, *failure), False
    reservation = ctx.reservation_by_session.get(session.id)
    is_for_shadow = False
    with claims.lifted(ctx, session):
        if reservation is not None:
            return reserved.decide_holder(ctx, session, reservation), False
        answer = _place(ctx, session)
    if answer is None:
        with claims.lifted(ctx, session, waits_for_stops=True):
            answer = _without_room(ctx, session, decide, policies)
        is_for_shadow = ctx.policy.state is entities.PreemptionState.SHADOW and _may_preempt(ctx, session)
    return claims.after(ctx, session, answer), is_for_shadow


def _without_room(
    ctx: context.Context, session: entities.Session, decide: decisions.Decide, policies: policy.Policies
) -> decisions.Pend:
    if ctx.policy.state is entities.PreemptionState.ON and _may_preempt(ctx, session):
        return _preempt_or_wait(ctx, session, decide, policies)
    return _shortage(ctx, session)


def _place(ctx: context.Context, session: entities.Session) -> decisions.Dispatch | decisions.Pend | None:
    """
    Return a Dispatch, or the Pend of a limit that alone stands in the way, or None when slots are short.
    """
    grants = placement.find(ctx, session)
    if grants is None:
        return None
    used_up = checks.used_up(ctx, session, placement.amounts(session))
    if used_up is not None:
        return decisions.Pend(session.id, *used_up)
    placement.commit(ctx, session, grants)
    return decisions.Dispatch(session.id, grants, is_resume=placement.is_resume(session))


def _may_preempt(ctx: context.Context, session: entities.Session) -> bool:
    if ctx.policy.state is entities.PreemptionState.OFF or placement.is_resume(session):
        return False
    return session.node_count == 1 and not session.is_private and not session.is_system


def _preempt_or_wait(
    ctx: context.Context, session: entities.Session, decide: decisions.Decide, policies: policy.Policies
) -> decisions.Pend:
    """Tell a Preempt if there is one, and return the Pend that follows it."""
    plan = planning.plan(ctx, session, policies)
    if plan.reserve is None:
        return _no_set(ctx, session, plan)
    if plan.victims or plan.takes_over:
        decide(records.preempt(ctx, session, plan, is_shadow=False))
        pend = decisions.Pend(session.id, _REASON.AWAITING_VICTIMS, records.awaiting_facts(ctx, plan))
    else:
        pend = records.wait(ctx, session, plan.reserve)
    planning.carry_out(ctx, session, plan)
    return pend


def _plan_in_shadow(
    ctx: context.Context, session: entities.Session, decide: decisions.Decide, policies: policy.Policies
) -> None:
    plan = planning.plan(ctx, session, policies)
    if plan.victims:
        decide(records.preempt(ctx, session, plan, is_shadow=True))
    planning.carry_out(ctx, session, plan)


def _shortage(ctx: context.Context, session: entities.Session) -> decisions.Pend:
    """Return the Pend for want of slots; a limit that is used up as well goes before it."""
    nodes = views.of_nodes(ctx, session)
    reason, facts = views.shortage(ctx, session)
    used_up = checks.used_up(ctx, session, placement.amounts(session))
    if used_up is not None:
        reason, facts = used_up[0], facts | dict(used_up[1])
    return decisions.Pend(session.id, reason, facts, nodes)


def _no_set(ctx: context.Context, session: entities.Session, plan: planning.Plan) -> decisions.Pend:
    pend = _shortage(ctx, session)
    candidates = records.candidates_without_set(ctx, session, plan)
    if plan.failure:
        facts = dict(pend.facts) | {"policy": plan.failure}
        reason = _REASON.POLICY_FAILED if pend.reason in decisions.SHORT_OF_SLOTS else pend.reason
        return dataclasses.replace(pend, reason=reason, facts=facts, candidates=candidates)
    return dataclasses.replace(pend, candidates=candidates)
