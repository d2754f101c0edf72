"""What an administrator looks at first: how much of everything there is, and whether the machine is at work."""

from __future__ import annotations

import collections
import dataclasses
import datetime

from django.db.models import Count, Max, Min

from scheduler import clock, models
from scheduler.core import states

#: The newest rounds and changes that are shown.
ROUNDS, CHANGES = 20, 8
_LATELY = datetime.timedelta(days=1)
_OVER = states.SessionState.TERMINATED.value


@dataclasses.dataclass(frozen=True, slots=True)
class GroupLine:
    """One resource group: its switch, who turned it, what waits and runs there, its last round."""

    slug: str
    state: str
    is_starting: bool
    changed_at: datetime.datetime | None
    changed_by: str
    waiting: int
    holding: int
    last_round_at: datetime.datetime | None
    last_round_ms: int


@dataclasses.dataclass(frozen=True, slots=True)
class Outbox:
    """Commands that no agent has answered yet; ``oldest_s`` seconds since the oldest was written."""

    open: int
    oldest_s: int
    most_sent: int


@dataclasses.dataclass(frozen=True, slots=True)
class MachineRoom:
    """All of it at one moment."""

    now: datetime.datetime
    sessions: tuple[tuple[str, int], ...]  #: every state of the living with its number of sessions
    ended: tuple[tuple[str, int], ...]  #: every result with the number of sessions of the last day
    groups: tuple[GroupLine, ...]
    rounds: tuple[models.Round, ...]  #: newest first, with their groups
    nodes: tuple[tuple[str, int], ...]  #: states that occur
    agents: tuple[models.AgentStatus, ...]  #: those longest silent, with their nodes
    outbox: Outbox
    listening: models.Listening | None
    changes: tuple[models.ConfigChange, ...]


def load() -> MachineRoom:
    """Return it. Ten queries, none of which reads all sessions that ever were."""
    now = clock.now()
    living = _living()
    return MachineRoom(
        now=now,
        sessions=_by_state(living),
        ended=_ended(now),
        groups=_groups(living),
        rounds=tuple(models.Round.objects.select_related("group").defer("snapshot", "outline")[:ROUNDS]),
        nodes=tuple(models.Node.objects.values_list("state").annotate(Count("pk")).order_by("state")),
        agents=tuple(models.AgentStatus.objects.select_related("node").order_by("last_report_at")[:5]),
        outbox=_outbox(now),
        listening=models.Listening.objects.first(),
        changes=tuple(models.ConfigChange.objects.all()[:CHANGES]),
    )


def _living() -> dict[tuple[int, str], int]:
    """Return (group, state) -> number of sessions that have not ended; reads the index of those alone."""
    rows = models.Session.objects.exclude(state=_OVER).order_by().values_list("group_id", "state")
    return {(group_id, state): count for group_id, state, count in rows.annotate(Count("pk"))}


def _by_state(living: dict[tuple[int, str], int]) -> tuple[tuple[str, int], ...]:
    counts: collections.Counter[str] = collections.Counter()
    for (_, state), count in living.items():
        counts[state] += count
    return tuple((state.value, counts[state.value]) for state in states.SessionState if state.value != _OVER)


def _ended(now: datetime.datetime) -> tuple[tuple[str, int], ...]:
    rows = models.Session.objects.filter(state=_OVER, ended_at__gte=now - _LATELY).order_by()
    counts = dict(rows.values_list("result").annotate(Count("pk")))
    return tuple((result.value, counts.get(result.value, 0)) for result in states.Result)


def _groups(living: dict[tuple[int, str], int]) -> tuple[GroupLine, ...]:
    rows = models.ResourceGroup.objects.select_related("policy", "rounds_state")
    return tuple(_line(row, living) for row in rows)


def _line(row: models.ResourceGroup, living: dict[tuple[int, str], int]) -> GroupLine:
    policy, rounds = row.policy, getattr(row, "rounds_state", None)
    return GroupLine(
        slug=row.slug,
        state=policy.preemption_state if policy else "off",
        is_starting=policy is None or policy.starting,
        changed_at=policy.created_at if policy else None,
        changed_by=policy.created_by_name if policy else "",
        waiting=living.get((row.pk, states.SessionState.PENDING.value), 0),
        holding=sum(living.get((row.pk, state), 0) for state in states.HOLDING),
        last_round_at=rounds.last_at if rounds else None,
        last_round_ms=rounds.last_ms if rounds else 0,
    )


def _outbox(now: datetime.datetime) -> Outbox:
    rows = models.AgentCommand.objects.filter(settled_at=None)
    found = rows.aggregate(count=Count("pk"), oldest=Min("created_at"), most=Max("times_sent"))
    age_s = int((now - found["oldest"]).total_seconds()) if found["oldest"] else 0
    return Outbox(found["count"], age_s, found["most"] or 0)
