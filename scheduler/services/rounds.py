"""
One round over one group: lock, snapshot, core, commit, publish (DESIGN section 4).

Requests merge: a request raises ``asked``; a round serves all that it saw when it began, and asks for another when
more came meanwhile or when a decision was dropped.
"""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import datetime
import time

from django.conf import settings
from django.db import connection

from scheduler import clock, garbage, logs, models, points
from scheduler.core import decisions
from scheduler.core import rounds as core_rounds
from scheduler.plugins import asking
from scheduler.selectors import remembered, snapshot
from scheduler.services import actors, bells, commit, locks
from scheduler.services import work as unit

#: A round is due in every group so often, whether or not anything has asked for one (DESIGN section 4), seconds.
DUE_EVERY_S = 1


@dataclasses.dataclass(frozen=True)
class RoundSummary:
    """What one round did."""

    group: str
    number: int
    dispatched: int
    pended: int
    preempted: int
    dropped: int
    duration_ms: int


def run_group_round(group_id: int) -> RoundSummary | None:
    """
    Run one round over a group.

    Returns:
        What it did; None when another round of the group is under way, or the group is gone.
    """
    return _run(group_id)


def run_due_round(group_id: int) -> RoundSummary | None:
    """
    Run the round of a group that is due at this moment, the beat's safety net: once, whoever ticks how often (P15).

    Returns:
        What it did; None when it was run already, another round is under way, or the group is gone.
    """
    return _run(group_id, is_due=True)


def _run(group_id: int, *, is_due: bool = False) -> RoundSummary | None:
    started = time.monotonic()
    with contextlib.ExitStack() as ids, garbage.left_alone(), unit.begin(actors.SYSTEM) as work:
        group = models.ResourceGroup.objects.filter(pk=group_id).first()
        if group is None or not locks.try_group(group_id):
            return None
        due = _moment(work.now)
        rows = models.GroupRounds.objects.filter(group=group)
        if is_due and not rows.filter(last_due__lt=due).exists():
            return None
        points.reach("round.locked")
        if _has_nothing_to_decide(group_id):
            state = models.GroupRounds.objects.get(group=group)
            summary = _serve(work, state, _Nothing(group), started=started)
        else:
            thought = _think(group)
            # until after the commit, when its commands are sent
            ids.enter_context(logs.bound(round=f"{group.slug}/{thought.seen.last_number + 1}"))
            points.reach("round.decided")
            summary = _write(work, thought, started=started)
        if is_due:
            rows.update(last_due=due)
        points.reach("round.written")
    points.reach("round.committed")
    _ask_again(group_id)
    return summary


def _has_nothing_to_decide(group_id: int) -> bool:
    """Say whether nobody in a group waits, is suspended, has room kept or is stopped for somebody."""
    with connection.cursor() as cursor:
        cursor.execute(_OPEN, [group_id] * 2)
        return not cursor.fetchone()[0]


_OPEN = """
SELECT EXISTS (
    SELECT 1 FROM scheduler_session s WHERE s.group_id = %s
    AND (s.state IN ('pending', 'suspended', 'preempted', 'stopping') OR s.state = 'scheduled' AND EXISTS (
        SELECT 1 FROM scheduler_victim v LEFT JOIN scheduler_victimfate f ON f.victim_id = v.id
        WHERE v.session_id = s.id AND f.id IS NULL))
) OR EXISTS (
    SELECT 1 FROM scheduler_reservation r JOIN scheduler_session s ON s.id = r.session_id WHERE s.group_id = %s
)
"""


@dataclasses.dataclass(frozen=True)
class _Nothing:
    """What a round has written that had nothing to decide; of a ``Committer``, what ``_serve`` asks."""

    group: models.ResourceGroup
    dropped: int = 0
    counts: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)


def _moment(now: datetime.datetime) -> int:
    """Return the number of the moment at which a round is due: by the database's clock, the same for every beat."""
    return int(clock.micros(now) // (DUE_EVERY_S * settings.TIME_SCALE * 1_000_000))


@dataclasses.dataclass(frozen=True)
class Thought:
    """What the core decided on a snapshot, not yet written."""

    group: models.ResourceGroup
    seen: models.GroupRounds
    loaded: snapshot.Loaded
    decisions: tuple[decisions.Decision, ...]


def think(group_id: int) -> Thought:
    """Return what a round would decide now; nothing is written. For simulations: ``write`` may come later."""
    return _think(models.ResourceGroup.objects.get(pk=group_id))


def write(thought: Thought) -> RoundSummary | None:
    """Write what was decided before, as far as its ground still stands; None = another round is under way."""
    with unit.begin(actors.SYSTEM) as work:
        if not locks.try_group(thought.group.pk):
            return None
        written = remembered.read_reasons(thought.group, remembered.Memory())
        now = dataclasses.replace(thought, loaded=dataclasses.replace(thought.loaded, reasons=written))
        return _write(work, now, started=time.monotonic())


def _think(group: models.ResourceGroup) -> Thought:
    state = models.GroupRounds.objects.get(group=group)
    memory = remembered.of(group.pk)
    loaded = snapshot.load_snapshot(group, round_number=state.last_number + 1, memory=memory)
    loaded = dataclasses.replace(loaded, reasons=remembered.read_reasons(group, memory))
    found: list[decisions.Decision] = []
    policies = asking.policies_for(loaded.snapshot)
    core_rounds.run_round(loaded.snapshot, found.append, policies=policies)
    return Thought(group, state, loaded, tuple(found))


def _write(work: unit.Work, thought: Thought, *, started: float) -> RoundSummary:
    committer = commit.Committer(work, thought.group, thought.loaded)
    for decision in thought.decisions:
        committer(decision)
    committer.finish(started=started)
    return _serve(work, thought.seen, committer, started=started)


def _serve(
    work: unit.Work, seen: models.GroupRounds, committer: commit.Committer | _Nothing, *, started: float
) -> RoundSummary:
    duration_ms = int((time.monotonic() - started) * 1000)
    if committer.dropped:
        work.ask_round(seen.group_id)
    models.GroupRounds.objects.filter(pk=seen.pk).update(
        served=seen.asked, last_number=seen.last_number + 1, last_at=work.now, last_ms=duration_ms
    )
    counts = committer.counts
    return RoundSummary(
        committer.group.slug,
        seen.last_number + 1,
        counts["dispatch"],
        counts["pend"],
        counts["preempt"],
        committer.dropped,
        duration_ms,
    )


def serve_requests(group_id: int) -> RoundSummary | None:
    """
    Run a round if one was asked for since the last, however many messages said so.

    Returns:
        What it did; None when nothing was asked, or another process is at it (it looks again before it leaves).
    """
    return run_group_round(group_id) if _is_asked(group_id) else None


def _is_asked(group_id: int) -> bool:
    state = models.GroupRounds.objects.filter(group_id=group_id).first()
    return state is not None and state.asked > state.served


def _ask_again(group_id: int) -> None:
    if _is_asked(group_id):
        bells.ring(last=0, group_ids=[group_id], command_ids=[])


def due_group_ids() -> list[int]:
    """Return every group, by id: the beat's safety net looks at each once a second (DESIGN section 4)."""
    return list(models.ResourceGroup.objects.order_by("pk").values_list("pk", flat=True))
