"""
What stays of a round: its row with the snapshot that it was decided on, and its decisions (DESIGN section 7).

A round that stopped nobody and changed no headline leaves no row. A snapshot is stored whole once in ``WHOLE_EVERY``
stored rounds of a group, and as the difference to that one otherwise.
"""

from __future__ import annotations

import collections
import hashlib
import time
from collections.abc import Iterable, Mapping
from typing import Any

from django.db.models import F

from scheduler import core as scheduler_core
from scheduler import models
from scheduler.core import decisions, differences, entities, outlines, snapshot
from scheduler.selectors import remembered, stored_rounds
from scheduler.selectors import snapshot as snapshots
from scheduler.services import work as unit

#: One stored round in so many has its snapshot whole.
WHOLE_EVERY = 100


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
        self._columns: dict[str, Any] | None = None

    @property
    def number(self) -> int:
        """Return the round's number in its group."""
        return self._loaded.snapshot.round_number

    @property
    def told(self) -> dict[int, tuple[remembered.Reason, decisions.Pend]]:
        """Return what this process remembers of answers that stand as they are written; may be added to."""
        return self._loaded.memory.told

    def reasons(self) -> Mapping[int, remembered.Reason]:
        """Return session id -> what was written of its wait when the round began."""
        return self._loaded.reasons

    def sessions(self) -> Mapping[int, entities.Session]:
        """Return the sessions that the round saw, by id."""
        return {session.id: session for session in self._loaded.snapshot.sessions}

    def row(self) -> models.Round:
        """Return the stored row; the first call writes it, with the snapshot."""
        if self._row is None:
            self._row = models.Round.objects.create(
                group=self._group,
                number=self.number,
                policy_id=self._loaded.policy_id,
                core_version=scheduler_core.CORE_VERSION,
                at=self._work.now,
                duration_ms=0,
                **self._stored(),
            )
        return self._row

    def _stored(self) -> dict[str, Any]:
        """Return the columns of the snapshot; made once, for a rolled back row is written again."""
        if self._columns is None:
            said = self._loaded.memory.said
            plain = said.canonical(self._loaded.snapshot)
            text = said.text(plain)
            base = _base(self._group)
            if base:
                kept = stored_rounds.packed(differences.between(stored_rounds.plain_of(base), plain))
            else:
                kept = stored_rounds.packed_text(text)
            digest = hashlib.sha256(text.encode()).hexdigest()
            self._columns = {"digest": digest, "base": base, "snapshot": kept}
        return self._columns

    def mark(self) -> models.Round | None:
        """Return what ``back_to`` needs when the savepoint that comes next is rolled back."""
        return self._row

    def back_to(self, mark: models.Round | None) -> None:
        """Forget a row that was written in a savepoint that is rolled back."""
        self._row = mark

    def close(self, counts: collections.Counter[str], decided: Iterable[decisions.Decision]) -> None:
        """
        Write the counts, the duration and the decisions in short, where there is a row.

        Args:
            decided: all that the core decided, written or dropped.
        """
        if self._row is not None:
            models.Round.objects.filter(pk=self._row.pk).update(
                outline=stored_rounds.packed(outlines.outline(decided)),
                duration_ms=int((time.monotonic() - self._started) * 1000),
                dispatched=counts["dispatch"],
                pended=counts["pend"],
                preempted=counts["preempt"],
            )


def _base(group: models.ResourceGroup) -> models.Round | None:
    """Return the last whole round of a group while it has fewer differences than it may; None = store whole."""
    last = models.Round.objects.filter(group=group, base=None, snapshot__isnull=False).order_by("-pk").first()
    if last is None or last.differences.count() >= WHOLE_EVERY - 1:
        return None
    return last


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
