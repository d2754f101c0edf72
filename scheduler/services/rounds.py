"""
One round over one group: lock, snapshot, core, commit, publish (DESIGN section 4).

Requests merge: a request raises ``asked``; a round serves all that it saw when it began, and asks for another when
more came meanwhile or when a decision was dropped.
"""

from __future__ import annotations

import dataclasses
import time

from scheduler import models
from scheduler.core import rounds as core_rounds
from scheduler.selectors import snapshot
from scheduler.services import actors, bells, commit, locks
from scheduler.services import work as unit


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
    started = time.monotonic()
    with unit.begin(actors.SYSTEM) as work:
        group = models.ResourceGroup.objects.filter(pk=group_id).first()
        if group is None or not locks.try_group(group_id):
            return None
        state = models.GroupRounds.objects.get(group=group)
        loaded = snapshot.load_snapshot(group, round_number=state.last_number + 1)
        committer = commit.Committer(work, group, loaded)
        core_rounds.run_round(loaded.snapshot, committer)
        committer.finish(started=started)
        summary = _serve(work, state, committer, started=started)
    _ask_again(group_id)
    return summary


def _serve(
    work: unit.Work, seen: models.GroupRounds, committer: commit.Committer, *, started: float
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
