"""
What stays of a round: its row, and the snapshot where a decision points at it (DESIGN section 7).

A round that decided nothing and changed no headline leaves no row.
"""

from __future__ import annotations

import collections
import hashlib
import json
import time
import zlib

from django.db.models import F

from scheduler import core as scheduler_core
from scheduler import models
from scheduler.core import decisions, snapshot
from scheduler.selectors import snapshot as snapshots
from scheduler.services import work as unit


class RoundRecord:
    """The stored row of one round, made when the first thing points at it."""

    def __init__(
        self, work: unit.Work, group: models.ResourceGroup, loaded: snapshots.Loaded, *, started: float
    ) -> None:
        self._work = work
        self._group = group
        self._loaded = loaded
        self._started = started
        self._row: models.Round | None = None

    @property
    def number(self) -> int:
        """Return the round's number in its group."""
        return self._loaded.snapshot.round_number

    def row(self) -> models.Round:
        """Return the stored row; the first call writes it, with the snapshot."""
        if self._row is None:
            plain = json.dumps(
                snapshot.canonical(self._loaded.snapshot), sort_keys=True, separators=(",", ":")
            )
            self._row = models.Round.objects.create(
                group=self._group,
                number=self.number,
                policy_id=self._loaded.policy_id,
                core_version=scheduler_core.CORE_VERSION,
                digest=hashlib.sha256(plain.encode()).hexdigest(),
                snapshot=zlib.compress(plain.encode()),
                at=self._work.now,
                duration_ms=0,
            )
        return self._row

    def mark(self) -> models.Round | None:
        """Return what ``back_to`` needs when the savepoint that comes next is rolled back."""
        return self._row

    def back_to(self, mark: models.Round | None) -> None:
        """Forget a row that was written in a savepoint that is rolled back."""
        self._row = mark

    def close(self, counts: collections.Counter[str]) -> None:
        """Write the counts and the duration, where there is a row."""
        if self._row is not None:
            models.Round.objects.filter(pk=self._row.pk).update(
                duration_ms=int((time.monotonic() - self._started) * 1000),
                dispatched=counts["dispatch"],
                pended=counts["pend"],
                preempted=counts["preempt"],
            )


def decision_row(
    work: unit.Work,
    decision: decisions.Preempt | decisions.Pend,
    session: models.Session,
    *,
    record: RoundRecord,
    kind: models.Decision.Kind,
) -> models.Decision:
    """Store a decision whole: a preemption, or a pend with a wait."""
    is_preempt = isinstance(decision, decisions.Preempt)
    target = decision if is_preempt else decision.wait
    assert target is not None
    return models.Decision.objects.create(
        round=record.row(),
        group_id=session.group_id,
        session=session,
        op=decision.op,
        kind=kind,
        axis=decision.axis if is_preempt else "",
        policy_name=decision.policy_name if is_preempt else "",
        node_id=target.node_id,
        attempt=session.attempt,
        preemptor_value=decision.preemptor_value if is_preempt else None,
        record=snapshot.to_plain(decision),
        at=work.now,
    )


def shadow(
    work: unit.Work, preempt: decisions.Preempt, preemptor: models.Session, *, record: RoundRecord
) -> None:
    """Record what would have been, once per episode: the same preemptor and victims raise a count (DESIGN 5.1)."""
    text = f"{preemptor.pk}.{preemptor.attempt}:{sorted(preempt.victim_jobids)}"
    key = hashlib.sha256(text.encode()).hexdigest()
    again = models.ShadowCount.objects.filter(key=key)
    if again.update(count=F("count") + 1, last_at=work.now):
        return
    row = decision_row(work, preempt, preemptor, record=record, kind=models.Decision.Kind.SHADOW)
    models.ShadowCount.objects.create(decision=row, key=key, last_at=work.now)
    work.tell("decision.shadow", session=preemptor, decision=row, victims=preempt.n_victims)
