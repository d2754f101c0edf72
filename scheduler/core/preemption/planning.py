"""
One preemptor, one axis after the other: wait, or whom to stop, or nothing.

The policy of the axis chooses; its answer is checked again here against the ledger itself, not against the
problem that it was given: legal, on one node, sufficient, within all limits, nobody superfluous. Source:
DESIGN 5.1 to 5.3.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from scheduler.core import (
    context,
    decisions,
    entities,
    ledger,
    limits,
    placement,
    proofs,
    resources,
    rooms,
    shortages,
)
from scheduler.core.preemption import policy, problems, shipped

#: Search steps of one decision, and of all decisions of one round: what is left of the round's goes into each
#: decision. Ten million take about a second on one core of 2.5 GHz. Source: PERFORMANCE 5.
STEPS = 3_000_000
ROUND_STEPS = 10_000_000
_SCOPES = {
    entities.PreemptionScope.OWNER: (entities.Axis.OWNER,),
    entities.PreemptionScope.QUEUE: (entities.Axis.QUEUE,),
    entities.PreemptionScope.OWNER_THEN_QUEUE: (entities.Axis.OWNER, entities.Axis.QUEUE),
}


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
    waiting = _find_wait(ctx, session)
    if waiting is not None:
        return Plan(reserve=waiting)
    key = ("plan", shortages.shape(session), session.owner_id, session.queue_id, session.priority)
    return ctx.while_unchanged(
        (*key, session.job_priority, ctx.above(session.id)), lambda: _plan_stop(ctx, session, policies)
    )


def _plan_stop(ctx: context.Context, session: entities.Session, policies: policy.Policies) -> Plan:
    tried: list[problems.Judged] = []
    failure = ""
    for axis in _SCOPES[ctx.policy.scope]:
        judged = problems.judge(ctx, session, axis)
        tried.append(judged)
        try:
            found = _choose(ctx, session, judged, policies)
        except policy.PolicyFailed as error:
            failure = str(error)
            continue
        if found is not None:
            return dataclasses.replace(found, judged=tuple(tried))
    return Plan(judged=tuple(tried), failure=failure)


# Wait


def _find_wait(ctx: context.Context, session: entities.Session) -> ledger.Reserve | None:
    """Return the reservation on the node where free and releasing suffice, the one that is through first."""
    ready = [spot.node for spot in shortages.spots(ctx, session) if not spot.need]
    if not ready or shortages.of_limits(ctx, session):
        return None
    found = [make_reserve(ctx, session, node.id, ()) for node in placement.in_order(ctx, ready)]
    return min(found, key=_last_deadline)


def _last_deadline(reserve: ledger.Reserve) -> int:
    return max((session.stop_deadline or 0 for session in reserve.leaving), default=0)


def make_reserve(
    ctx: context.Context,
    session: entities.Session,
    node_id: int,
    victims: Sequence[entities.Session],
) -> ledger.Reserve:
    """
    Return the reservation: the free part is drawn at once, the rest promised of victims and of what is
    leaving.
    """
    room = ctx.ledger.rooms[node_id]
    free = resources.ResourceVector(
        {
            kind: min(amount, room.free.get(kind, 0))
            for kind, amount in session.request
            if room.free.get(kind, 0) > 0
        }
    )
    rest = session.request.minus_clamped(free)
    for victim in victims:
        rest = rest.minus_clamped(ctx.stop_plan(victim).on(node_id))
    is_place_short = room.free.get(rooms.PLACES, 1) < 1 and not victims
    others = _leaving(ctx, room, rest, is_place_short)
    return ledger.Reserve(node_id, session.request, free, room.take_indices(free), (*victims, *others))


def _leaving(
    ctx: context.Context, room: rooms.Room, rest: resources.ResourceVector, is_place_short: bool
) -> list[entities.Session]:
    """Return the sessions being stopped on whose slots (or place) the reservation counts, by id."""
    wanted = set(rest.kinds()) | ({rooms.PLACES} if is_place_short else set())
    counted = (i for i, amounts in sorted(room.leaving.items()) if wanted & set(amounts))
    return [ctx.session_by_id[i] for i in counted]


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
    reserve = make_reserve(ctx, session, answer.node_id, victims)
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
            problem = _problem(ctx, judged)
            answer = _ask(chooser, problem)
            ctx.search_steps += max(0, min(answer.steps, problem.steps)) if answer else 0
            return answer, verified(ctx, session, judged, answer) if answer else ()
        except policy.PolicyFailed as error:
            ctx.failed_policies[name] = f"the preemption policy {name} {error}"
    raise policy.PolicyFailed(ctx.failed_policies[name])


def _problem(ctx: context.Context, judged: problems.Judged) -> policy.Problem:
    scale = 1 + sum(c.share for target in judged.targets for c in target.candidates)
    steps = max(0, min(STEPS, ROUND_STEPS - ctx.search_steps))
    return policy.Problem(ctx.policy.order, judged.targets, steps, scale)


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


def _ask(chooser: policy.PreemptPolicy, problem: policy.Problem) -> policy.Answer | None:
    try:
        return chooser(problem)
    except policy.PolicyFailed:
        raise
    except Exception as error:  # a policy's error must not end the round
        raise policy.PolicyFailed(f"failed: {type(error).__name__}") from error


def verified(
    ctx: context.Context, session: entities.Session, judged: problems.Judged, answer: policy.Answer
) -> tuple[entities.Session, ...]:
    """
    Return the victims of an answer that holds.

    Raises:
        PolicyFailed: an unknown node or victim, a victim twice, not sufficient, or one that could be left
            out.
    """
    target = next((t for t in judged.targets if t.node_id == answer.node_id), None)
    if target is None:
        raise policy.PolicyFailed("chose a node that was not offered")
    legal = {candidate.session_id for candidate in target.candidates}
    ids = answer.victim_ids
    if not ids or len(set(ids)) != len(ids) or not set(ids) <= legal:
        raise policy.PolicyFailed("chose a session that may not be stopped, or none, or one twice")
    if target.most is not None and len(ids) > target.most:
        raise policy.PolicyFailed("suspends more sessions than one node may hold")
    victims = tuple(ctx.session_by_id[i] for i in ids)
    if not suffices(ctx, session, answer.node_id, victims):
        raise policy.PolicyFailed("chose victims that do not free enough")
    for one in victims:
        if suffices(ctx, session, answer.node_id, [v for v in victims if v is not one]):
            raise policy.PolicyFailed("chose a victim that is not needed")
    return victims


def suffices(
    ctx: context.Context,
    session: entities.Session,
    node_id: int,
    victims: Sequence[entities.Session],
) -> bool:
    """Say whether the session fits on the node, within all limits, once these victims have stopped."""
    book = ctx.ledger
    mark = book.savepoint()
    for victim in victims:
        stop = ctx.stop_plan(victim)
        book.add_leaving(victim, stop.frees, place=stop.frees_place)
    room = book.rooms[node_id]
    wanted = limits.wanted(session.request)
    fits = not room.short(room.wants(session.request)) and not any(
        account.short(wanted, with_leaving=True) for account in book.accounts(session)
    )
    book.rollback(mark)
    return fits


def carry_out(ctx: context.Context, session: entities.Session, done: Plan) -> None:
    """Take the plan into the round: victims are claimed and leaving, the room is kept, the edges are set."""
    for victim in done.victims:
        stop = ctx.stop_plan(victim)
        ctx.claimed.add(victim.id)
        ctx.add_edge(session.id, victim.id)
        ctx.ledger.add_leaving(victim, stop.frees, place=stop.frees_place)
    if done.reserve is not None:
        ctx.ledger.reserve(session, done.reserve)


def orders_for(
    ctx: context.Context, done: Plan, value_of: Sequence[int]
) -> tuple[decisions.VictimOrder, ...]:
    """Return what happens to each victim, in the order in which they are stopped."""
    node_id = done.reserve.node_id if done.reserve else 0
    found = []
    for victim, own_value in zip(done.victims, value_of, strict=True):
        stop = ctx.stop_plan(victim)
        here = stop.on(node_id)
        found.append(
            decisions.VictimOrder(
                victim.id, stop.action, stop.mode, stop.signal, stop.grace_s, own_value, here
            )
        )
    return tuple(found)
