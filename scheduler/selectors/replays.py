"""
Run a stored round again, from its stored snapshot, with the core of today. Nothing is written.

With the core version that it was decided with, the decisions must be equal; with another, both are shown (DESIGN 7).
Internal: for the command and for pages that have asked who may see the decision.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import uuid
from collections.abc import Mapping
from typing import Any

from django.db import connection, transaction

from scheduler import core, models
from scheduler.core import decisions, outlines, plain, rounds, snapshot
from scheduler.core.preemption import shipped
from scheduler.plugins import asking
from scheduler.selectors import stored_rounds

Kind = models.Decision.Kind


class CannotReplay(Exception):
    """There is no such round, or what it was decided on is not kept; the text says which."""


@dataclasses.dataclass(frozen=True)
class Replay:
    """A round as it was decided, and as it is decided now."""

    round: models.Round
    then: Mapping[str, Any] | None  #: outline; None = the round was stored before outlines were
    now: Mapping[str, Any]
    changed: tuple[str, ...]  #: stored decisions whose record is another now, by public id
    is_same_version: bool
    foreign: tuple[
        str, ...
    ] = ()  #: policies of other packages that its queues name: their answers are not the core's

    @property
    def is_equal(self) -> bool:
        """Say whether all that is known of the decisions is equal."""
        return not self.changed and self.then in (None, self.now)

    def told(self) -> dict[int, tuple[outlines.Told | None, outlines.Told | None]]:
        """Return session id -> what it was told then and now; of a round stored before outlines, nothing."""
        if self.then is None:
            return {}
        then, now = outlines.by_session(self.then), outlines.by_session(self.now)
        return {pk: (then.get(pk), now.get(pk)) for pk in sorted(then.keys() | now.keys())}


def find(text: str) -> models.Round:
    """
    Return a round by its id, by ``GROUP/NUMBER``, or by the public id of one of its decisions.

    Raises:
        CannotReplay: there is none.
    """
    rows = models.Round.objects.select_related("base", "group")
    slug, _, number = text.rpartition("/")
    found = None
    if slug and number.isdecimal():
        found = rows.filter(group__slug=slug, number=number).first()
    elif text.isdecimal():
        found = rows.filter(pk=text).first() if len(text) < 19 else None
    elif decision := _public_id(text):
        found = rows.filter(decisions__public_id=decision).first()
    if found is None:
        raise CannotReplay(
            f"there is no stored round {text!r}: name it by its id, by GROUP/NUMBER or by the id of a decision"
        )
    return found


def _public_id(text: str) -> uuid.UUID | None:
    try:
        return uuid.UUID(text)
    except ValueError:
        return None


def replay(row: models.Round) -> Replay:
    """
    Run a round again.

    Raises:
        CannotReplay: its snapshot is not kept any more, is damaged, or of a version that cannot be read.
    """
    view = _snapshot(row)
    found: list[decisions.Decision] = []
    rounds.run_round(view, found.append, policies=asking.policies_for(view))
    then = stored_rounds.unpacked(row.outline) if row.outline else None
    now = json.loads(stored_rounds.text(outlines.outline(found)))
    is_same = row.core_version == core.CORE_VERSION
    named = {queue.preempt_policy for queue in view.queues if queue.preempt_policy}
    foreign = tuple(sorted(named - set(shipped.FOR_QUEUES)))
    return Replay(row, then, now, _changed(row, found), is_same, foreign)


def replay_only_reading(row: models.Round) -> Replay:
    """
    Run a round again in a transaction in which the database itself lets nothing be written.

    Raises:
        CannotReplay: as ``replay``.
    """
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION READ ONLY")
        try:
            return replay(row)
        finally:
            transaction.set_rollback(True)  # so that an outer transaction may write again


def _snapshot(row: models.Round) -> snapshot.Snapshot:
    name = f"{row.group.slug}/{row.number}"
    try:
        stored = stored_rounds.plain_of(row)
    except ValueError:
        raise CannotReplay(f"the snapshot of round {name} is not kept any more; its decisions are") from None
    if hashlib.sha256(stored_rounds.text(stored).encode()).hexdigest() != row.digest:
        raise CannotReplay(f"the stored snapshot of round {name} is damaged: its digest is another")
    try:
        return plain.to_snapshot(stored)
    except plain.NotPlain as error:
        raise CannotReplay(f"round {name}: {error}") from None


def _changed(row: models.Round, found: list[decisions.Decision]) -> tuple[str, ...]:
    """Return the stored decisions that are not among those of now, whole and word for word."""
    records: dict[tuple[int, int], Any] = {}
    for decision in found:
        session_id = (
            decision.preempting_jobid if isinstance(decision, decisions.Preempt) else decision.session_id
        )
        records[session_id, int(decision.op)] = decision
    stored = models.Decision.objects.filter(round=row).order_by("pk")
    return tuple(
        str(each.public_id) for each in stored if not _is_equal(each, records.get((each.session_id, each.op)))
    )


def _is_equal(stored: models.Decision, now: decisions.Decision | None) -> bool:
    return now is not None and json.loads(stored_rounds.text(snapshot.to_plain(now))) == stored.record
