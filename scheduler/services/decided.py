"""What the decisions of one round touch, before any of them is written."""

from __future__ import annotations

from collections.abc import Sequence

from scheduler.core import checks, decisions
from scheduler.selectors import snapshot as snapshots


def touched(
    loaded: snapshots.Loaded,
    starts: Sequence[decisions.Dispatch],
    stops: Sequence[decisions.Preempt],
    waits: Sequence[decisions.Pend],
) -> set[int]:
    """Return the ids of all sessions that a round's decisions change or count on."""
    found = {d.session_id for d in starts} | {p.session_id for p in barred(loaded, waits)}
    holders = {r.id: r.session_id for r in loaded.snapshot.reservations}
    for preempt in stops:
        found |= {preempt.preempting_jobid, *preempt.victim_jobids, *preempt.releasing_ids}
        found |= {holders[preempt.takes_over]} if preempt.takes_over in holders else set()
    for pend in waits:
        if pend.wait:
            found |= {pend.session_id, *pend.wait.releasing_ids}
        if pend.reason == decisions.PendReason.DEPENDENCY_IMPOSSIBLE or pend.claim:
            found.add(pend.session_id)
    return found


def barred(loaded: snapshots.Loaded, waits: Sequence[decisions.Pend]) -> list[decisions.Pend]:
    """Return what those holders of reservations were told that fail a check: nobody is stopped for them."""
    holder_ids = {kept.session_id for kept in loaded.snapshot.reservations}
    return [p for p in waits if p.session_id in holder_ids and p.reason in checks.REASONS]
