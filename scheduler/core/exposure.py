"""
Whom rules would let be stopped, whoever comes: of each running session, by whom, or what protects it.

Not who is stopped now: that takes a waiting session that is short of something. The guards are the round's own
(``eligibility``), asked without a preemptor.
Source: DESIGN 5.2, 10; ECOSYSTEM D.2 (exposure per owner).
"""

from __future__ import annotations

import dataclasses

from scheduler.core import context, decisions, entities, snapshot
from scheduler.core.preemption import eligibility

_VERDICT = decisions.Verdict
#: Guards that hold against everybody, in the order of ``eligibility``.
_SHIELDS = frozenset(
    {
        _VERDICT.IN_ANOTHER_DECISION,
        _VERDICT.PRIVATE_OR_SYSTEM,
        _VERDICT.NOT_RUNNING,
        _VERDICT.OPTED_OUT,
        _VERDICT.MIN_RUNTIME,
        _VERDICT.PREEMPTED_TOO_OFTEN,
        _VERDICT.STOP_FAILED,
        _VERDICT.LIMIT,
    }
)


@dataclasses.dataclass(frozen=True, slots=True)
class Exposure:
    """What rules mean for one session that runs."""

    session_id: int
    by_owner: bool  #: its owner's own sessions of a higher job priority may stop it
    by_queues: bool  #: sessions of other queues, of a higher priority, may stop it
    shield: decisions.Verdict | None  #: what protects it from everybody; None where somebody may stop it

    @property
    def is_open(self) -> bool:
        """Say whether anybody may stop it."""
        return self.by_owner or self.by_queues


def of_running(view: snapshot.Snapshot, rules: entities.Policy) -> list[Exposure]:
    """
    Return what these rules, switched on, mean for each session that holds a node, by id.

    Cost: O(sessions x guards).
    """
    switched = dataclasses.replace(rules, state=entities.PreemptionState.ON)
    ctx = context.Context(dataclasses.replace(view, policy=switched))
    axes = eligibility.SCOPES[switched.scope]
    takers = _takers(view)
    return [_one(ctx, session, axes, takers) for session in ctx.running]


def _takers(view: snapshot.Snapshot) -> frozenset[int]:
    """Return the queues from which some other queue of the group may take."""
    serving = [queue for queue in view.queues if queue.serves_group]
    listed = {other for queue in serving for other in queue.preemptible_queues if other != queue.id}
    return frozenset(queue.id for queue in view.queues if queue.preemptible and queue.id in listed)


def _one(
    ctx: context.Context,
    session: entities.Session,
    axes: tuple[entities.Axis, ...],
    takers: frozenset[int],
) -> Exposure:
    question = eligibility.ask(ctx, session, axes[0])
    for verdict, test in eligibility.TESTS[axes[0]]:
        if verdict in _SHIELDS and test(question, session):
            return Exposure(session.id, False, False, verdict)
    by_owner = entities.Axis.OWNER in axes and session.job_priority < entities.MOST_JOB_PRIORITY
    by_queues = (
        entities.Axis.QUEUE in axes and session.queue_id in takers and session.priority < _MOST_PRIORITY
    )
    if by_owner or by_queues:
        return Exposure(session.id, by_owner, by_queues, None)
    return Exposure(session.id, False, False, _closed(ctx, session, axes))


#: Nobody's ``priority`` is above it (DESIGN 2).
_MOST_PRIORITY = 100


def _closed(
    ctx: context.Context, session: entities.Session, axes: tuple[entities.Axis, ...]
) -> decisions.Verdict:
    """Return why no axis is open to a session that nothing shields."""
    queue = ctx.queue_by_id.get(session.queue_id)
    if entities.Axis.QUEUE not in axes or (queue is not None and session.priority >= _MOST_PRIORITY):
        return _VERDICT.NOT_LOWER
    is_preemptible = queue is not None and queue.preemptible
    return _VERDICT.QUEUE_NOT_LISTED if is_preemptible else _VERDICT.QUEUE_NOT_PREEMPTIBLE
