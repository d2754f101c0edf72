"""
The core's values of session rows. Internal: for the snapshot and what-if questions.
"""

from __future__ import annotations

import collections
import dataclasses
import datetime

from scheduler import clock, models
from scheduler.core import entities, resources, states

Vector = resources.ResourceVector


def rows(group: models.ResourceGroup) -> list[models.Session]:
    """Return a group's sessions that are not over, by id, without their commands."""
    live = models.Session.objects.filter(group=group).exclude(state=states.SessionState.TERMINATED.value)
    return list(live.defer("script", "environment", "argv").order_by("pk"))


def values(rows: list[models.Session], *, now: datetime.datetime) -> tuple[entities.Session, ...]:
    """Return the core's values of session rows with what they hold. 5 queries."""
    ids = [row.pk for row in rows]
    held: dict[int, list[models.Allocation]] = collections.defaultdict(list)
    for allocation in models.Allocation.objects.filter(session__in=ids).order_by("node_id"):
        held[allocation.session_id].append(allocation)
    in_decision = set(
        models.Victim.objects.filter(session__in=ids, fate=None).values_list("session_id", flat=True)
    )
    withdrawing = set(
        models.AgentCommand.objects.filter(
            session__in=ids, settled_at=None, kind=models.AgentCommand.Kind.WITHDRAW
        ).values_list("session_id", flat=True)
    )
    backoffs: dict[int, dict[int, int]] = collections.defaultdict(dict)
    closed = models.NodeBackoff.objects.filter(session__in=ids, until__gt=now)
    for session_id, node_id, until in closed.values_list("session_id", "node_id", "until"):
        backoffs[session_id][node_id] = clock.micros(until)
    dependencies = _dependencies(ids)
    return tuple(
        dataclasses.replace(
            session_value(row, held[row.pk]),
            dependency=dependencies.get(row.pk, entities.DependencyState.MET),
            in_decision=row.pk in in_decision,
            is_withdrawing=row.pk in withdrawing,
            backoff=backoffs[row.pk],
        )
        for row in rows
    )


def session_value(row: models.Session, held: list[models.Allocation]) -> entities.Session:
    """Return the core's value of one session row with what it holds."""
    state = states.SessionState(row.state)
    resumes = state is states.SessionState.SUSPENDED or (
        state is states.SessionState.SCHEDULED and row.is_resume
    )
    return entities.Session(
        id=row.pk,
        owner_id=row.owner_id,
        queue_id=row.queue_id,
        state=state,
        request=Vector(row.slots),
        submitted_at=clock.micros(row.submitted_at),
        type=entities.SessionType(row.type),
        node_count=row.node_count,
        priority=row.priority,
        job_priority=row.job_priority,
        is_preemptible=row.is_preemptible,
        is_private=row.is_private,
        is_held=row.is_held,
        labels={label: frozenset(values) for label, values in row.required_labels.items()},
        begin_at=clock.micros_or_none(row.begin_at),
        wall_limit_s=row.wall_limit,
        waiting_since=clock.micros_or_none(row.waiting_since),
        started_at=clock.micros_or_none(row.started_at),
        epoch=row.epoch,
        attempt=row.attempt,
        times_preempted=row.times_preempted,
        stop_failed_since_start=row.stop_failed_since_start,
        allocations=tuple(_allocation(a.node_id, a.slots, a.indices) for a in held),
        resume_slots=tuple(_allocation(a.node_id, a.full_slots, a.full_indices) for a in held)
        if resumes
        else (),
        stop_mode=_stop_mode(row.stop_goal),
        stop_deadline=clock.micros_or_none(row.state_deadline) if state in states.BEING_STOPPED else None,
        warning_signal=row.warning_signal,
        grace_s=row.grace_period,
    )


def _stop_mode(goal: str) -> entities.PreemptionMode | None:
    return entities.PreemptionMode(goal) if goal in list(entities.PreemptionMode) else None


def _allocation(node_id: int, slots: dict[str, int], indices: dict[str, list[int]]) -> entities.Allocation:
    return entities.Allocation(node_id, Vector(slots), {kind: tuple(v) for kind, v in indices.items()})


def _dependencies(ids: list[int]) -> dict[int, entities.DependencyState]:
    found: dict[int, entities.DependencyState] = {}
    rows = models.SessionDependency.objects.filter(session__in=ids)
    for session_id, kind, result in rows.values_list("session_id", "kind", "other__result"):
        state = _dependency(kind, result)
        if (
            state is not entities.DependencyState.MET
            and found.get(session_id) is not entities.DependencyState.IMPOSSIBLE
        ):
            found[session_id] = state
    return found


def _dependency(kind: str, result: str) -> entities.DependencyState:
    if not result:
        return entities.DependencyState.WAITING
    if kind == "afterany" or result == states.Result.SUCCESS:
        return entities.DependencyState.MET
    return entities.DependencyState.IMPOSSIBLE
