"""
One preemptor, one axis after the other: wait, or whom to stop, or nothing.

The policy of the axis chooses, within the group's limit of suspended sessions (``within_limit``); its answer is
checked again against the ledger itself, not against the problem that it was given (``verifying``). Source: DESIGN 5.1
to 5.3.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping, Sequence

from scheduler.core import (
    context,
    entities,
    ledger,
    proofs,
    shortages,
)
from scheduler.core.preemption import (
    eligibility,
    policy,
    problems,
    reserving,
    shipped,
    takeover,
    verifying,
    within_limit,
)

#: Search steps of one decision, and of all decisions of one round: what is left of the round's goes into each
#: decision. Ten million take about a second on one core of 2.5 GHz. Source: PERFORMANCE 5.
STEPS = 3_000_000
ROUND_STEPS = 10_000_000


@dataclasses.dataclass(frozen=True, slots=True)
class Plan:
    """What would be done for one preemptor: a stop, a wait, or neither with the reasons."""

    reserve: ledger.Reserve | None = None
    victims: tuple[entities.Session, ...] = ()
    judged: tuple[problems.Judged, ...] = ()  #: one per axis tried
    policy_name: str = ""
    is_fewest: bool = False  #: proved: no fewer would do
    steps: int = 0
    proof: proofs.Proof | None = None
    failure: str = ""  #: why the policy's answer could not be used
    takes_over: takeover.Takeover | None = None  #: the reservation whose holder gives way
    #: each reservation that might have been taken over with further victims, on its node alone and as if released
    over: tuple[problems.Judged, ...] = ()

    @property
    def axis(self) -> entities.Axis:
        """Return the axis of the last try."""
        return self.judged[-1].axis


def plan(ctx: context.Context, session: entities.Session, policies: policy.Policies) -> Plan:
    """
    Say how room is made for a session that could not be placed.

    Args:
        session: pending, for one node, neither private nor system, without a reservation.
        policies: what queues may name.

    Returns:
        A plan with ``reserve`` (and ``victims``, empty for a wait), or one without.
    """
    waiting = reserving.for_wait(ctx, session)
    if waiting is not None:
        return Plan(reserve=waiting)
    open_to = {axis: takeover.possible(ctx, session, axis) for axis in eligibility.SCOPES[ctx.policy.scope]}
    ids = tuple(one.reservation.id for found in open_to.values() for one in found)
    key = ("plan", shortages.shape(session), session.owner_id, session.queue_id, session.priority)
    return ctx.while_unchanged(
        (*key, session.job_priority, ctx.above(session.id), ids),
        lambda: _take_over(ctx, session, policies, open_to) or _plan_stop(ctx, session, policies, open_to),
    )


OpenTo = Mapping[entities.Axis, Sequence[takeover.Takeover]]


def _plan_stop(
    ctx: context.Context, session: entities.Session, policies: policy.Policies, open_to: OpenTo
) -> Plan:
    ctx.steps_before = ctx.search_steps
    tried: list[problems.Judged] = []
    over: list[problems.Judged] = []
    failures = [""]

    def choose(asked: list[problems.Judged], judged: problems.Judged) -> Plan | None:
        asked.append(judged)
        try:
            return _choose(ctx, session, judged, policies)
        except policy.PolicyFailed as error:  # what was found before still holds
            judged.is_unanswered = True
            failures.append(str(error))
            return None

    for axis in eligibility.SCOPES[ctx.policy.scope]:
        found = choose(tried, problems.judge(ctx, session, axis))
        found = _join(ctx, session, open_to[axis], found, functools.partial(choose, over)) or found
        if found is not None:
            return dataclasses.replace(found, judged=tuple(tried))
    return Plan(judged=tuple(tried), over=tuple(over), failure=failures[-1])


# Takeover


def _take_over(
    ctx: context.Context, session: entities.Session, policies: policy.Policies, open_to: OpenTo
) -> Plan | None:
    """Return a takeover for which nobody else has to stop; none for a queue whose policy is not there."""
    for one in (one for found in open_to.values() for one in found):
        try:
            name, _ = _policy_for(ctx, session, one.axis, policies)
        except policy.PolicyFailed:  # said where further victims would be chosen
            continue
        with takeover.released(ctx, one):
            is_enough = verifying.suffices(ctx, session, one.reservation.node_id, ())
            plan = _taking(ctx, session, one, Plan(policy_name=name)) if is_enough else None
        if plan is not None:
            return dataclasses.replace(plan, judged=(problems.judge(ctx, session, one.axis),))
    return None


def _join(
    ctx: context.Context,
    session: entities.Session,
    open_to: Sequence[takeover.Takeover],
    found: Plan | None,
    choose: Callable[[problems.Judged], Plan | None],
) -> Plan | None:
    """Return the takeover whose further victims are the best, if they are better than those found without."""
    best: Plan | None = None
    for one in open_to:
        least = best or found
        if least is not None and len(least.victims) == 1 and one.axis is entities.Axis.QUEUE:
            break
        with takeover.released(ctx, one):
            judged = problems.judge(ctx, session, one.axis, only=one.reservation.node_id)
            plan = choose(judged)
            if plan is not None and (least is None or _loss(one.axis, plan) < _loss(one.axis, least)):
                best = _taking(ctx, session, one, plan)
    return best


def _loss(axis: entities.Axis, plan: Plan) -> tuple[int, ...]:
    """Return what is compared of two sets: their number; among one's own sessions the highest of them before."""
    number = len(plan.victims)
    return (max(v.job_priority for v in plan.victims), number) if axis is entities.Axis.OWNER else (number,)


def _taking(ctx: context.Context, session: entities.Session, one: takeover.Takeover, plan: Plan) -> Plan:
    """Return a plan on a reservation that is released now, without the stops that it can do without."""
    node_id = one.reservation.node_id
    taken = takeover.superfluous(ctx, one, lambda: verifying.suffices(ctx, session, node_id, plan.victims))
    reserve = reserving.reserve(ctx, session, node_id, plan.victims)
    return dataclasses.replace(plan, reserve=reserve, takes_over=taken)


# Victims


def _choose(
    ctx: context.Context, session: entities.Session, judged: problems.Judged, policies: policy.Policies
) -> Plan | None:
    name, chooser = _policy_for(ctx, session, judged.axis, policies)
    if chooser is None or not judged.targets:
        return None
    answer, victims = _asked_once(ctx, session, judged, (name, chooser))
    if answer is None:
        return None
    reserve = reserving.reserve(ctx, session, answer.node_id, victims)
    return Plan(reserve, victims, (), name, answer.is_fewest, answer.steps, answer.proof)


def _asked_once(
    ctx: context.Context,
    session: entities.Session,
    judged: problems.Judged,
    asked: tuple[str, policy.PreemptPolicy],
) -> tuple[policy.Answer | None, tuple[entities.Session, ...]]:
    """Return an answer that holds, with its victims; one that failed in this round is not asked again in it."""
    name, chooser = asked
    if name not in ctx.failed_policies:
        try:
            answer = within_limit.best(judged, lambda one: _ask(ctx, chooser, one))
            return answer, () if answer is None else verifying.verified(ctx, session, judged, answer)
        except policy.PolicyFailed as error:
            ctx.failed_policies[name] = f"the preemption policy {name} {error}"
    raise policy.PolicyFailed(ctx.failed_policies[name])


def _count(ctx: context.Context, problem: policy.Problem, answer: policy.Answer | None) -> int:
    """Count the steps of an answer, or of none; those that a foreign policy tells count up to its limit."""
    told = 0 if answer is None else max(0, min(answer.steps, problem.steps))
    spent = max(told, problem.meter.spent if problem.meter else 0)
    ctx.search_steps += spent
    return spent


def problem_of(ctx: context.Context, judged: problems.Judged) -> policy.Problem:
    """Return what a policy is asked, with the steps that this decision and this round have left."""
    of_decision = STEPS - (ctx.search_steps - ctx.steps_before)
    steps = max(0, min(of_decision, ROUND_STEPS - ctx.search_steps))
    return policy.Problem(ctx.policy.order, judged.targets, steps, judged.scale, policy.Meter())


def _policy_for(
    ctx: context.Context, session: entities.Session, axis: entities.Axis, policies: policy.Policies
) -> tuple[str, policy.PreemptPolicy | None]:
    if axis is entities.Axis.OWNER:
        return shipped.FOR_OWNERS, shipped.owner_policy
    queue = ctx.queue_by_id.get(session.queue_id)
    if queue is None or not queue.preemptible_queues:
        return shipped.DEFAULT, None
    name = queue.preempt_policy or shipped.DEFAULT
    if name not in policies:
        raise policy.PolicyFailed(
            f"queue {queue.name} names the preemption policy {name}, which is not installed"
        )
    return name, policies[name]


def _ask(
    ctx: context.Context, chooser: policy.PreemptPolicy, judged: problems.Judged
) -> policy.Answer | None:
    problem = problem_of(ctx, judged)
    try:
        answer = chooser(problem)
        spent = _count(ctx, problem, answer)
        return answer and dataclasses.replace(answer, steps=spent)
    except policy.PolicyFailed:
        raise
    except Exception as error:  # a policy's error must not end the round
        raise policy.PolicyFailed(f"failed: {type(error).__name__}") from error


def carry_out(ctx: context.Context, session: entities.Session, done: Plan) -> None:
    """Take the plan into the round: victims are claimed and leaving, the room is kept, the edges are set."""
    if done.takes_over is not None:
        takeover.carry_out(ctx, session, done.takes_over)
    for victim in done.victims:
        stop = ctx.stop_plan(victim)
        ctx.claimed.add(victim.id)
        ctx.add_edge(session.id, victim.id)
        ctx.ledger.add_leaving(victim, stop.frees, place=stop.frees_place)
    if done.reserve is not None:
        ctx.ledger.reserve(session, done.reserve)
        ids = frozenset(one.id for one in done.reserve.leaving)
        promised = done.reserve.slots.minus_clamped(done.reserve.draw).as_dict()
        ctx.promises.setdefault(done.reserve.node_id, []).append((ids, promised))
        ctx.counted_on |= ids
