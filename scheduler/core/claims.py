"""
Claims: nodes kept for a session that has waited too long.

Nobody blocks those behind, with this one exception. The first session of the line that passed the checks and
lacks slots gets a claim once it has lacked them for ``starvation_after``. From its place in the line on, what it
asks for is taken out of what is free on its nodes, below zero where others still hold it: so placement,
preemption (free, releasing, victims' slots), waits and resumes of all that come later leave it its room. Those
before it never see the claim; those whose wall-time limit ends before its start, however late they start
themselves, look at the nodes without it.
So does a suspended session where even an otherwise empty node has too little beside what suspended ones still hold
there: only by resuming and ending they give that back, and two who wait for each other would wait for ever.
A limit that is used up besides leaves no claim to a session: others must not wait for what its owner holds.
While its holder has a reservation, or may not start, the claim rests. Source: DESIGN 4.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterable, Iterator

from scheduler.core import context, decisions, entities, forecast, placement, release, resources, states

_SECOND = 1_000_000
_REASON = decisions.PendReason
#: Headlines of a session that passed the checks and lacks slots.
LACKS_SLOTS = decisions.SHORT_OF_SLOTS | {_REASON.POLICY_FAILED}
#: Headlines under which a claim rests: its holder has a reservation.
_RESTS = frozenset({_REASON.AWAITING_VICTIMS, _REASON.AWAITING_RELEASE})


@contextlib.contextmanager
def lifted(
    ctx: context.Context, session: entities.Session, *, seen: int | None = None, waits_for_stops: bool = False
) -> Iterator[None]:
    """
    Look at the nodes without the claims that do not count for one session.

    Args:
        seen: how many claims stood when its turn came, where it is looked at later than in its turn; None = all.
        waits_for_stops: whether it starts only once others have stopped, and not at once.
    """
    before = len(ctx.standing) if seen is None else seen
    starts = ctx.now + (_longest_stop(ctx) if waits_for_stops else 0)
    spared = [
        s
        for place, s in enumerate(ctx.standing)
        if place >= before or _ends_before(session, s, starts) or _holds_its_room(ctx, session, s)
    ]
    with _without(ctx, spared):
        yield


def _longest_stop(ctx: context.Context) -> int:
    """Return the microseconds after which every stop that is ordered now has come to its deadline."""
    grace_s = max(ctx.policy.grace_s, ctx.policy.suspend_grace_s)
    return (grace_s + release.STOP_MARGIN_S) * _SECOND


def _holds_its_room(ctx: context.Context, session: entities.Session, standing: context.Standing) -> bool:
    """Say whether a suspended session holds of something too much for the claim, were all that runs there gone."""
    if not placement.is_resume(session):
        return False
    held = {own.node_id: own.slots for own in session.allocations}
    return any(
        held.get(part.node_id, resources.EMPTY).get(kind)
        and _held_by_suspended(ctx, part.node_id, kind) + amount
        > ctx.node_by_id[part.node_id].capacity.get(kind)
        for part in standing.parts
        for kind, amount in part.slots
    )


def _held_by_suspended(ctx: context.Context, node_id: int, kind: str) -> int:
    key = ("held by suspended", node_id, kind)
    return ctx.all_round(key, lambda: _sum_held(ctx.view.sessions, node_id, kind))


def _sum_held(sessions: Iterable[entities.Session], node_id: int, kind: str) -> int:
    """Return how much of a kind suspended sessions still hold on a node."""
    suspended = (one for one in sessions if one.state is states.SessionState.SUSPENDED)
    held = (own for one in suspended for own in one.allocations if own.node_id == node_id)
    return sum(own.slots.get(kind) for own in held)


def _ends_before(session: entities.Session, standing: context.Standing, starts: int) -> bool:
    if session.wall_limit_s is None or standing.start is None:
        return False
    return starts + session.wall_limit_s * _SECOND <= standing.start


@contextlib.contextmanager
def _without(ctx: context.Context, spared: list[context.Standing]) -> Iterator[None]:
    if not spared:
        yield
        return
    before, ctx.lifted = ctx.lifted, frozenset(standing.holder_id for standing in spared)
    for standing in spared:
        for part in standing.parts:
            ctx.ledger.rooms[part.node_id].lift(standing.holder_id, part.slots)
    try:
        yield
    finally:
        for standing in spared:
            for part in standing.parts:
                ctx.ledger.rooms[part.node_id].lay(standing.holder_id, part.slots, part.indices)
        ctx.lifted = before


def after(
    ctx: context.Context, session: entities.Session, answer: decisions.Dispatch | decisions.Pend
) -> decisions.Dispatch | decisions.Pend:
    """
    Return the answer to a session with what claims make of it, and let its own stand from here on.

    Args:
        answer: what was decided for a session that passed the checks and had no reservation.
    """
    if not ctx.policy.starvation_after_s or isinstance(answer, decisions.Dispatch) or answer.reason in _RESTS:
        return answer
    lacks = answer.reason in LACKS_SLOTS
    is_first, ctx.has_first = lacks and not ctx.has_first, ctx.has_first or lacks
    own = ctx.claim_by_session.get(session.id)
    if own is None and not (is_first and _has_waited(ctx, session)):
        return _behind(ctx, session, answer)
    node_ids = own.node_ids if own is not None and _is_usable(ctx, session, own) else _choose(ctx, session)
    if not node_ids:
        return answer
    standing = _stand(ctx, session, node_ids)
    made = None if own is not None and own.node_ids == node_ids else entities.Claim(session.id, node_ids)
    facts = dict(answer.facts) | {"kept": ", ".join(ctx.node_by_id[i].name for i in node_ids)}
    if standing.start is not None:
        facts["until"] = standing.start
    reason = _REASON.HOLDS_CLAIM if answer.reason in decisions.SHORT_OF_SLOTS else answer.reason
    return dataclasses.replace(answer, reason=reason, facts=facts, claim=made)


def _has_waited(ctx: context.Context, session: entities.Session) -> bool:
    since = session.waiting_since
    return since is not None and ctx.now - since >= ctx.policy.starvation_after_s * _SECOND


def _behind(ctx: context.Context, session: entities.Session, answer: decisions.Pend) -> decisions.Pend:
    """Say it where a session would start now but for the claims of others."""
    if answer.reason not in decisions.SHORT_OF_SLOTS or not ctx.standing:
        return answer
    with _without(ctx, ctx.standing):
        key = ("but for claims", session.id if placement.is_resume(session) else placement.shape(session))
        grants = ctx.while_unchanged(key, lambda: placement.find(ctx, session))
    if grants is None:
        return answer
    kept = {part.node_id for standing in ctx.standing for part in standing.parts}
    names = [ctx.node_by_id[grant.node_id].name for grant in grants if grant.node_id in kept]
    facts = dict(answer.facts) | {"kept": ", ".join(sorted(names))}
    return dataclasses.replace(answer, reason=_REASON.ROOM_CLAIMED, facts=facts)


# Nodes


def _shares(session: entities.Session, node_ids: tuple[int, ...]) -> tuple[entities.Allocation, ...]:
    """Return what a start of the session takes on each node."""
    if placement.is_resume(session):
        return tuple(placement.missing_on_resume(session))
    return tuple(entities.Allocation(node_id, session.request) for node_id in node_ids)


def _open_nodes(ctx: context.Context, session: entities.Session) -> list[entities.Node]:
    """Return the nodes on which the session may start, whatever is free."""
    if placement.is_resume(session):
        return [ctx.node_by_id[part.node_id] for part in placement.home(session)]
    return [n for n in placement.acceptable(ctx, session) if placement.could_ever_hold(session, n)]


def _is_usable(ctx: context.Context, session: entities.Session, claim: entities.Claim) -> bool:
    count = len(placement.home(session)) if placement.is_resume(session) else session.node_count
    return len(claim.node_ids) == count and set(claim.node_ids) <= {n.id for n in _open_nodes(ctx, session)}


def _choose(ctx: context.Context, session: entities.Session) -> tuple[int, ...]:
    """Return the nodes where the session would start soonest, by id; none when too few are open."""
    nodes = placement.in_order(ctx, _open_nodes(ctx, session))
    if placement.is_resume(session):
        return tuple(sorted(node.id for node in nodes))
    if len(nodes) < session.node_count:
        return ()
    starts = {n.id: forecast.soonest(ctx, entities.Allocation(n.id, session.request)).key for n in nodes}
    chosen = sorted(nodes, key=lambda node: starts[node.id])[: session.node_count]
    return tuple(sorted(node.id for node in chosen))


def _stand(ctx: context.Context, session: entities.Session, node_ids: tuple[int, ...]) -> context.Standing:
    """Let the claim count from here on."""
    parts = _shares(session, node_ids)
    moments = [forecast.soonest(ctx, part).moment for part in parts]
    known = [moment for moment in moments if moment is not None]
    start = max(known, default=ctx.now) if len(known) == len(moments) else None
    for part in parts:
        room = ctx.ledger.rooms[part.node_id]
        kept = room.keep(session.id, part.indices)
        ctx.ledger.take(part.node_id, part.slots, kept)
    standing = context.Standing(session.id, parts, start)
    ctx.standing.append(standing)
    return standing
