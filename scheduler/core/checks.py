"""
What keeps a session waiting whatever is free: the checks of a round's first step.

Each test is one line of an ordered list; the first that applies is the headline, and the headline names the others.
Nobody is stopped for a session that fails one. Source: DESIGN 4, steps 1 and 3; ECOSYSTEM D.4.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from scheduler.core import context, decisions, entities, limits, placement

Facts = Mapping[str, int | str]
_REASON = decisions.PendReason


def first_failure(
    ctx: context.Context, session: entities.Session
) -> tuple[decisions.PendReason, Facts] | None:
    """
    Return the first reason for which the session may not start now, with its numbers; None when all is well.

    ``also`` of its facts names the further reasons that apply, in order: what is left to do when the first is gone.
    """
    for place, (reason, test) in enumerate(TESTS):
        facts = test(ctx, session)
        if facts is not None:
            others = [other for other, later in TESTS[place + 1 :] if later(ctx, session) is not None]
            return reason, {**facts, "also": ", ".join(others)} if others else facts
    return None


def _held(ctx: context.Context, session: entities.Session) -> Facts | None:
    return {} if session.is_held else None


def _unknown_queue(ctx: context.Context, session: entities.Session) -> Facts | None:
    queue = ctx.queue_by_id.get(session.queue_id)
    if queue is None:
        return {}
    return None if queue.serves_group else {"queue": queue.name}


def _group_stopped(ctx: context.Context, session: entities.Session) -> Facts | None:
    return None if ctx.view.is_starting else {}


def _queue_stopped(ctx: context.Context, session: entities.Session) -> Facts | None:
    queue = ctx.queue_by_id.get(session.queue_id)
    return {"queue": queue.name} if queue and queue.state is entities.QueueState.STOPPED else None


def _begin_time(ctx: context.Context, session: entities.Session) -> Facts | None:
    if placement.is_resume(session) or session.begin_at is None or session.begin_at <= ctx.now:
        return None
    return {"until": session.begin_at}


def _dependency(ctx: context.Context, session: entities.Session) -> Facts | None:
    is_waiting = session.dependency is entities.DependencyState.WAITING
    return {} if is_waiting and not placement.is_resume(session) else None


def _dependency_impossible(ctx: context.Context, session: entities.Session) -> Facts | None:
    is_impossible = session.dependency is entities.DependencyState.IMPOSSIBLE
    return {} if is_impossible and not placement.is_resume(session) else None


def _no_matching_node(ctx: context.Context, session: entities.Session) -> Facts | None:
    if placement.is_resume(session) or not session.labels:
        return None
    key = ("labels", placement.shape(session))
    return ctx.all_round(key, lambda: _labels_nowhere(ctx, session))


def _labels_nowhere(ctx: context.Context, session: entities.Session) -> Facts | None:
    if any(placement.has_labels(session, node) for node in ctx.nodes):
        return None
    return {"labels": "; ".join(f"{k} = {' or '.join(sorted(v))}" for k, v in sorted(session.labels.items()))}


def _node_unavailable(ctx: context.Context, session: entities.Session) -> Facts | None:
    if not placement.is_resume(session) or (node_id := placement.down_node(ctx, session)) is None:
        return None
    node = ctx.node_by_id.get(node_id)
    return {"node": node.name if node else ""}


def _never_fits(ctx: context.Context, session: entities.Session) -> Facts | None:
    if placement.is_resume(session) or _no_matching_node(ctx, session) is not None:
        return None
    return ctx.all_round(("large", placement.shape(session)), lambda: _too_large(ctx, session))


def _too_large(ctx: context.Context, session: entities.Session) -> Facts | None:
    is_large, matching = ctx.board().holding(session.request), list(ctx.nodes)
    if session.labels:
        is_large = is_large & [placement.has_labels(session, node) for node in ctx.nodes]
        matching = [node for node in ctx.nodes if placement.has_labels(session, node)]
    large = int(is_large.sum())
    if large >= session.node_count:
        return None
    facts: dict[str, int | str] = {"nodes": session.node_count, "nodes.large": large}
    for kind, amount in session.request:
        most = max((node.capacity.get(kind) for node in matching), default=0)
        facts[f"asked.{kind}"], facts[f"most.{kind}"] = amount, most
    return facts | ({"labels": 1} if session.labels else {})


def _exceeds_owner_limit(ctx: context.Context, session: entities.Session) -> Facts | None:
    return _exceeds(ctx.ledger.owner(session.owner_id), session)


def _exceeds_queue_limit(ctx: context.Context, session: entities.Session) -> Facts | None:
    return _exceeds(ctx.ledger.queue(session.queue_id), session)


def _exceeds(account: limits.Account, session: entities.Session) -> Facts | None:
    wanted = placement.amounts(session)
    beyond = account.beyond(wanted)
    if not beyond:
        return None
    asked = {f"asked.{kind}": wanted[kind] for kind in beyond}
    return asked | {f"limit.{kind}": account.limits[kind] for kind in beyond}


Test = Callable[[context.Context, entities.Session], Facts | None]

#: In the order of precedence of ``PendReason``.
TESTS: tuple[tuple[decisions.PendReason, Test], ...] = (
    (_REASON.HELD, _held),
    (_REASON.UNKNOWN_QUEUE, _unknown_queue),
    (_REASON.NO_MATCHING_NODE, _no_matching_node),
    (_REASON.NODE_UNAVAILABLE, _node_unavailable),
    (_REASON.GROUP_STOPPED, _group_stopped),
    (_REASON.QUEUE_STOPPED, _queue_stopped),
    (_REASON.DEPENDENCY_IMPOSSIBLE, _dependency_impossible),
    (_REASON.DEPENDENCY, _dependency),
    (_REASON.BEGIN_TIME, _begin_time),
    (_REASON.NEVER_FITS, _never_fits),
    (_REASON.EXCEEDS_OWNER_LIMIT, _exceeds_owner_limit),
    (_REASON.EXCEEDS_QUEUE_LIMIT, _exceeds_queue_limit),
)
#: Whoever waits with one of these starts nowhere, whatever becomes free: nobody is stopped for it.
REASONS = frozenset(reason for reason, _ in TESTS)


def used_up(
    ctx: context.Context, session: entities.Session, wanted: Mapping[str, int]
) -> tuple[decisions.PendReason, Facts] | None:
    """Return which limit leaves too little for ``wanted`` now, with asked, left and limit by kind."""
    reasons = (_REASON.OWNER_LIMIT, _REASON.QUEUE_LIMIT)
    for reason, account in zip(reasons, ctx.ledger.accounts(session), strict=True):
        short = account.short(wanted)
        if short:
            facts: dict[str, int | str] = {}
            for kind in short:
                facts[f"asked.{kind}"], facts[f"left.{kind}"] = wanted[kind], max(0, account.left[kind])
                facts[f"limit.{kind}"] = account.limits[kind]
            return reason, facts
    return None
