"""
Who goes on with a stop whose preemptor no longer needs it: a next holder that could itself have ordered it.

Of the sessions whose reservations count on the victim, the first in the line that could legally preempt the victim, as
if it still ran as it did, takes the decision over. Where there is none the stop is taken back. A group that is not on
has no next holder: everything that can be undone is. Source: DESIGN 5.5.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection

from scheduler.core import context, decisions, entities, ordering, release, snapshot, states
from scheduler.core.preemption import eligibility

_VERDICT = decisions.Verdict
_STATE = states.SessionState
#: What is true of every session that is being stopped, and says nothing of who may go on with it.
_ASIDE = frozenset({_VERDICT.IN_ANOTHER_DECISION, _VERDICT.LIMIT})
#: What was true when the stop was ordered, and cannot make it groundless afterwards.
_SETTLED = _ASIDE | {
    _VERDICT.NOT_RUNNING,
    _VERDICT.MIN_RUNTIME,
    _VERDICT.PREEMPTED_TOO_OFTEN,
    _VERDICT.STOP_FAILED,
    _VERDICT.WOULD_CLOSE_CYCLE,
}


@dataclasses.dataclass(frozen=True, slots=True)
class NextHolder:
    """A session that goes on with a stop, and the comparison that makes it legal."""

    session_id: int
    axis: entities.Axis
    value: int  #: its job_priority or priority, by axis
    own_value: int  #: the victim's


def next_holder(
    view: snapshot.Snapshot, victim_id: int, holder_ids: Collection[int], action: decisions.Action
) -> NextHolder | None:
    """
    Return who goes on with the stop of a victim.

    Args:
        view: the group, or as much of it as the policy, the queues, these sessions and the edges between them.
        victim_id: a session that is being stopped; one that is stuck is nobody's.
        holder_ids: waiting sessions whose reservations count on what it frees.
        action: how the victim is being stopped.
    """
    if view.policy.state is not entities.PreemptionState.ON:
        return None
    ctx = context.Context(view)
    stopped = ctx.session_by_id[victim_id]
    if not release.is_releasing(stopped, ctx.now):
        return None
    victim = as_before(stopped, action)
    for holder in ordering.waiting(view):
        if holder.id not in holder_ids or holder.is_private or holder.is_system:
            continue
        for axis in eligibility.SCOPES[view.policy.scope]:
            if is_legal(ctx, holder, victim, axis):
                value = eligibility.value
                return NextHolder(holder.id, axis, value(axis, holder), value(axis, victim))
    return None


def as_before(victim: entities.Session, action: decisions.Action) -> entities.Session:
    """Return a session that is being stopped as it was when its stop was ordered: running, or suspended already."""
    state = victim.state
    if state is _STATE.PREEMPTED:
        was_suspended = action is decisions.Action.REQUEUE_SUSPENDED
        state = _STATE.SUSPENDED if was_suspended else _STATE.RUNNING
    return dataclasses.replace(victim, state=state, in_decision=False, stop_mode=None, stop_deadline=None)


def is_legal(
    ctx: context.Context, holder: entities.Session, victim: entities.Session, axis: entities.Axis
) -> bool:
    """Say whether one session could order the stop of another, which is as ``as_before`` returns it."""
    return _passes(ctx, holder, victim, axis=axis, aside=_ASIDE)


def has_ground(
    view: snapshot.Snapshot, victim_id: int, holder_id: int, *, axis: entities.Axis, action: decisions.Action
) -> bool:
    """
    Say whether a stop that was ordered is still what the rules allow: switch, axis, queues, priorities, opt-out.

    Args:
        view: as for ``next_holder``; the holder with the priority that the stop was ordered with.
    """
    if (
        view.policy.state is not entities.PreemptionState.ON
        or axis not in eligibility.SCOPES[view.policy.scope]
    ):
        return False
    ctx = context.Context(view)
    holder, victim = ctx.session_by_id[holder_id], as_before(ctx.session_by_id[victim_id], action)
    return _passes(ctx, holder, victim, axis=axis, aside=_SETTLED)


def _passes(
    ctx: context.Context,
    holder: entities.Session,
    victim: entities.Session,
    *,
    axis: entities.Axis,
    aside: frozenset[decisions.Verdict],
) -> bool:
    question = eligibility.ask(ctx, holder, axis)
    return not any(
        test(question, victim) for verdict, test in eligibility.TESTS[axis] if verdict not in aside
    )
