"""
The core's values of session rows. Internal: for the snapshot and what-if questions.
"""

from __future__ import annotations

import collections
import dataclasses
import datetime
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Protocol

from django.db.models import Q, QuerySet

from scheduler import clock, models
from scheduler.core import entities, resources, states

Vector = resources.ResourceVector


#: What the core's value of a session is made of.
COLUMNS = (
    "pk",
    "owner_id",
    "queue_id",
    "state",
    "state_version",
    "slots",
    "submitted_at",
    "type",
    "node_count",
    "priority",
    "job_priority",
    "is_preemptible",
    "is_private",
    "is_held",
    "required_labels",
    "begin_at",
    "wall_limit",
    "waiting_since",
    "started_at",
    "epoch",
    "attempt",
    "times_preempted",
    "stop_failed_since_start",
    "is_resume",
    "stop_goal",
    "stop_releases",
    "is_counted",
    "state_deadline",
    "warning_signal",
    "grace_period",
)


class Row(Protocol):
    """The ``COLUMNS`` of a session, as attributes: a model's row or a named tuple."""

    pk: int
    owner_id: int
    state_version: int


def live(group: models.ResourceGroup) -> QuerySet[models.Session]:
    """Return the sessions of a group that are not over."""
    return models.Session.objects.filter(group=group).exclude(state=states.SessionState.TERMINATED.value)


def rows(sessions: QuerySet[models.Session]) -> list[Row]:
    """Return sessions by id, without their commands. One query."""
    found: list[Row] = list(sessions.order_by("pk").values_list(*COLUMNS, named=True))
    return found


def bare(rows: Collection[Row]) -> dict[int, entities.Session]:
    """Return id -> the core's value of a session with what it holds, without what ``Extras`` adds. One query."""
    held: dict[int, list[models.Allocation]] = collections.defaultdict(list)
    allocations = models.Allocation.objects.filter(session__among=[row.pk for row in rows]).order_by(
        "node_id"
    )
    names = ("session_id", "node_id", "slots", "indices", "full_slots", "full_indices")
    for allocation in allocations.values_list(*names, named=True):
        held[allocation.session_id].append(allocation)
    return {row.pk: session_value(row, held.get(row.pk, [])) for row in rows}


def values(rows: Collection[Row], *, now: datetime.datetime) -> tuple[entities.Session, ...]:
    """Return the core's values of session rows with what they hold. 5 queries."""
    ids = [row.pk for row in rows]
    extras = Extras.read(Q(session__among=ids), now=now)
    return tuple(extras.added(value) for value in bare(rows).values())


@dataclasses.dataclass(frozen=True)
class Extras:
    """What other tables say of sessions, by id; few sessions have any."""

    in_decision: set[int]
    withdrawing: set[int]
    backoffs: Mapping[int, dict[int, int]]
    dependencies: Mapping[int, entities.DependencyState]

    @classmethod
    def read(cls, which: Q, *, now: datetime.datetime) -> Extras:
        """
        Read them. 4 queries.

        Args:
            which: condition on ``session``.
        """
        victims = models.Victim.objects.filter(which, fate=None).order_by()
        withdrawals = models.AgentCommand.objects.filter(
            which, settled_at=None, kind=models.AgentCommand.Kind.WITHDRAW
        )
        backoffs: dict[int, dict[int, int]] = collections.defaultdict(dict)
        closed = models.NodeBackoff.objects.filter(which, until__gt=now)
        for session_id, node_id, until in closed.values_list("session_id", "node_id", "until"):
            backoffs[session_id][node_id] = clock.micros(until)
        return cls(
            set(victims.values_list("session_id", flat=True)),
            set(withdrawals.order_by().values_list("session_id", flat=True)),
            backoffs,
            _dependencies(which),
        )

    def ids(self) -> set[int]:
        """Return the sessions that have any."""
        return self.in_decision | self.withdrawing | self.backoffs.keys() | self.dependencies.keys()

    def added(self, value: entities.Session) -> entities.Session:
        """Return a session's value with its extras."""
        if value.id not in self.ids():
            return value
        return dataclasses.replace(
            value,
            dependency=self.dependencies.get(value.id, entities.DependencyState.MET),
            in_decision=value.id in self.in_decision,
            is_withdrawing=value.id in self.withdrawing,
            backoff=self.backoffs.get(value.id, {}),
        )


def session_value(row: Any, held: Sequence[Any]) -> entities.Session:
    """Return the core's value of one session (see ``Row``) with the allocations that it holds."""
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
        stop_releases=_stop_releases(row, state, held),
        is_counted=row.is_counted or state is states.SessionState.PENDING,
        stop_deadline=_stop_deadline(row, state),
        warning_signal=row.warning_signal,
        grace_s=row.grace_period,
    )


def _stop_deadline(row: models.Session, state: states.SessionState) -> int | None:
    """Return when the stop under way must be proven; of a start, when its cancel must be, as far as it is cancelled."""
    is_stopped = state in states.BEING_STOPPED or state is states.SessionState.SCHEDULED
    return clock.micros_or_none(row.state_deadline) if is_stopped else None


def _stop_releases(row: Any, state: states.SessionState, held: Sequence[Any]) -> frozenset[str] | None:
    """Return the kinds that the suspend under way frees, or that its undone resume would; None = it is none."""
    is_suspend = state in states.BEING_STOPPED and row.stop_goal == entities.PreemptionMode.SUSPEND.value
    if not is_suspend and not (state is states.SessionState.SCHEDULED and row.is_resume):
        return None
    return frozenset(
        {kind for each in held for kind in each.slots} if row.stop_releases is None else row.stop_releases
    )


def _stop_mode(goal: str) -> entities.PreemptionMode | None:
    return entities.PreemptionMode(goal) if goal in list(entities.PreemptionMode) else None


def _allocation(node_id: int, slots: dict[str, int], indices: dict[str, list[int]]) -> entities.Allocation:
    return entities.Allocation(node_id, Vector(slots), {kind: tuple(v) for kind, v in indices.items()})


def _dependencies(which: Q) -> dict[int, entities.DependencyState]:
    found: dict[int, entities.DependencyState] = {}
    rows = models.SessionDependency.objects.filter(which)
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
