"""
May this session be a victim of that one? An ordered list of (verdict, test).

The first test that applies is the verdict; the list is the documentation. Whether a candidate frees something
short depends on the node and is asked last, by the planner. These guards are the core's own: a policy sees
legal candidates only. Source: DESIGN 5.2, 5.4, 5.7; XCE spec AC9; BEP-1055 3(b).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping

from scheduler.core import context, decisions, entities, release, states

_SECOND = 1_000_000
_STATE, _VERDICT = states.SessionState, decisions.Verdict
NO_FACTS: Mapping[str, int] = {}


@dataclasses.dataclass(frozen=True, slots=True)
class Question:
    """For whom room is made, on which axis, and what is true of all candidates alike."""

    context: context.Context
    preemptor: entities.Session
    axis: entities.Axis
    above: frozenset[
        int
    ]  #: sessions that already took something from the preemptor, over any number of edges
    suspended: Mapping[int, int]  #: node id -> suspended sessions there, those on their way included

    @property
    def policy(self) -> entities.Policy:
        """Return the group's rules."""
        return self.context.policy

    @property
    def queue(self) -> entities.Queue | None:
        """Return the preemptor's queue."""
        return self.context.queue_by_id.get(self.preemptor.queue_id)


#: Which comparisons a group makes, in the order in which they are tried.
SCOPES: Mapping[entities.PreemptionScope, tuple[entities.Axis, ...]] = {
    entities.PreemptionScope.OWNER: (entities.Axis.OWNER,),
    entities.PreemptionScope.QUEUE: (entities.Axis.QUEUE,),
    entities.PreemptionScope.OWNER_THEN_QUEUE: (entities.Axis.OWNER, entities.Axis.QUEUE),
}

Test = Callable[[Question, entities.Session], bool]


def value(axis: entities.Axis, session: entities.Session) -> int:
    """Return what is compared on this axis: ``job_priority`` (owner) or ``priority`` (queue)."""
    return session.job_priority if axis is entities.Axis.OWNER else session.priority


def judge(
    question: Question, candidate: entities.Session
) -> tuple[decisions.Verdict | None, Mapping[str, int]]:
    """
    Say why ``candidate`` may not be stopped.

    Returns:
        (None, {}) when it is legal, else the first verdict that applies with the numbers behind it.

    Cost: O(1); the cycle test looks into a set made once per preemptor.
    """
    for verdict, test in TESTS[question.axis]:
        if test(question, candidate):
            return verdict, facts(question, candidate, verdict)
    return None, NO_FACTS


def facts(q: Question, candidate: entities.Session, verdict: decisions.Verdict) -> Mapping[str, int]:
    """Return the numbers behind a verdict."""
    if verdict is _VERDICT.NOT_LOWER:
        return {"own": value(q.axis, candidate), "theirs": value(q.axis, q.preemptor)}
    if verdict is _VERDICT.RANKED_HIGHER_BY_OWNER:
        return {"own": candidate.job_priority, "theirs": q.preemptor.job_priority}
    if verdict is _VERDICT.MIN_RUNTIME and candidate.started_at is not None:
        return {"until": candidate.started_at + q.policy.min_runtime_s * _SECOND}
    if verdict is _VERDICT.PREEMPTED_TOO_OFTEN:
        return {"times": candidate.times_preempted, "most": q.policy.max_preemptions_per_session or 0}
    return NO_FACTS


def _is_in_another_decision(q: Question, candidate: entities.Session) -> bool:
    return candidate.in_decision or candidate.state is _STATE.PREEMPTED


def _is_private_or_system(q: Question, candidate: entities.Session) -> bool:
    return candidate.is_private or candidate.is_system


def _is_not_running(q: Question, candidate: entities.Session) -> bool:
    if candidate.state is _STATE.RUNNING:
        return False
    if candidate.state is _STATE.SCHEDULED:
        return not q.policy.cancel_unconfirmed_dispatch
    if candidate.state is _STATE.SUSPENDED:
        return not q.policy.requeue_suspended
    return True


def _has_other_owner(q: Question, candidate: entities.Session) -> bool:
    return candidate.owner_id != q.preemptor.owner_id


def _is_queue_not_listed(q: Question, candidate: entities.Session) -> bool:
    own = q.queue
    listed = own.preemptible_queues if own is not None else frozenset()
    return candidate.queue_id not in listed or candidate.queue_id == q.preemptor.queue_id


def _is_queue_not_preemptible(q: Question, candidate: entities.Session) -> bool:
    queue = q.context.queue_by_id.get(candidate.queue_id)
    return queue is None or not queue.preemptible


def _is_not_lower(q: Question, candidate: entities.Session) -> bool:
    return value(q.axis, candidate) >= value(q.axis, q.preemptor)


def _is_ranked_higher_by_owner(q: Question, candidate: entities.Session) -> bool:
    return candidate.owner_id == q.preemptor.owner_id and candidate.job_priority > q.preemptor.job_priority


def _is_opted_out(q: Question, candidate: entities.Session) -> bool:
    return not candidate.is_preemptible


def _is_in_minimum_runtime(q: Question, candidate: entities.Session) -> bool:
    if not q.policy.min_runtime_s or candidate.state is not _STATE.RUNNING:
        return False
    if candidate.started_at is None:
        return True
    return q.context.now - candidate.started_at < q.policy.min_runtime_s * _SECOND


def _was_preempted_too_often(q: Question, candidate: entities.Session) -> bool:
    most = q.policy.max_preemptions_per_session
    return most is not None and candidate.times_preempted >= most


def _has_failed_stop(q: Question, candidate: entities.Session) -> bool:
    return candidate.stop_failed_since_start and _would_suspend(q, candidate)


def _would_suspend(q: Question, candidate: entities.Session) -> bool:
    return _would_suspend_session(q.context, candidate)


def _would_close_cycle(q: Question, candidate: entities.Session) -> bool:
    return candidate.id in q.above


def _is_beyond_suspended_limit(q: Question, candidate: entities.Session) -> bool:
    most = q.policy.max_suspended_per_node
    if most is None or candidate.state is not _STATE.RUNNING or not _would_suspend(q, candidate):
        return False
    return any(q.suspended.get(held.node_id, 0) >= most for held in candidate.allocations)


_BOTH_FIRST: tuple[tuple[decisions.Verdict, Test], ...] = (
    (_VERDICT.IN_ANOTHER_DECISION, _is_in_another_decision),
    (_VERDICT.PRIVATE_OR_SYSTEM, _is_private_or_system),
    (_VERDICT.NOT_RUNNING, _is_not_running),
)
_BOTH_LAST: tuple[tuple[decisions.Verdict, Test], ...] = (
    (_VERDICT.OPTED_OUT, _is_opted_out),
    (_VERDICT.MIN_RUNTIME, _is_in_minimum_runtime),
    (_VERDICT.PREEMPTED_TOO_OFTEN, _was_preempted_too_often),
    (_VERDICT.STOP_FAILED, _has_failed_stop),
    (_VERDICT.WOULD_CLOSE_CYCLE, _would_close_cycle),
    (_VERDICT.LIMIT, _is_beyond_suspended_limit),
)

#: By axis: the tests in the order in which they are asked.
TESTS: Mapping[entities.Axis, tuple[tuple[decisions.Verdict, Test], ...]] = {
    entities.Axis.OWNER: (
        *_BOTH_FIRST,
        (_VERDICT.OTHER_OWNER, _has_other_owner),
        (_VERDICT.NOT_LOWER, _is_not_lower),
        *_BOTH_LAST,
    ),
    entities.Axis.QUEUE: (
        *_BOTH_FIRST,
        (_VERDICT.QUEUE_NOT_LISTED, _is_queue_not_listed),
        (_VERDICT.QUEUE_NOT_PREEMPTIBLE, _is_queue_not_preemptible),
        (_VERDICT.NOT_LOWER, _is_not_lower),
        (_VERDICT.RANKED_HIGHER_BY_OWNER, _is_ranked_higher_by_owner),
        *_BOTH_LAST,
    ),
}


def ask(ctx: context.Context, preemptor: entities.Session, axis: entities.Axis) -> Question:
    """Prepare the question for one preemptor on one axis."""
    return Question(ctx, preemptor, axis, ctx.above(preemptor.id), _suspended_by_node(ctx))


def kind_of(question: Question) -> tuple[object, ...]:
    """Return a key: preemptors with the same key get the same verdict of every candidate."""
    one = question.preemptor
    limited = tuple(sorted(question.suspended.items()))
    if question.axis is entities.Axis.OWNER:
        return question.axis, one.owner_id, one.job_priority, question.above, limited
    if question.queue is None or not question.queue.preemptible_queues:
        return question.axis, one.queue_id
    return question.axis, one.queue_id, one.priority, one.owner_id, one.job_priority, question.above, limited


def _suspended_by_node(ctx: context.Context) -> dict[int, int]:
    if ctx.policy.max_suspended_per_node is None:
        return {}
    counts: dict[int, int] = {}
    for session in ctx.running:
        if _is_or_will_be_suspended(ctx, session):
            for node_id in {held.node_id for held in (*session.allocations, *session.resume_slots)}:
                counts[node_id] = counts.get(node_id, 0) + 1
    return counts


def _is_or_will_be_suspended(ctx: context.Context, session: entities.Session) -> bool:
    """A resume counts until it is confirmed: it may be undone, or cancelled for somebody."""
    if session.state is _STATE.SUSPENDED:
        return session.id not in ctx.claimed
    if release.is_being_stopped(session):
        return session.stop_mode is entities.PreemptionMode.SUSPEND and not session.is_withdrawing
    is_resuming = session.state is _STATE.SCHEDULED and bool(session.resume_slots)
    return is_resuming or (session.id in ctx.claimed and _would_suspend_session(ctx, session))


def _would_suspend_session(ctx: context.Context, session: entities.Session) -> bool:
    return ctx.stop_plan(session).mode is entities.PreemptionMode.SUSPEND
