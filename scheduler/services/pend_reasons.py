"""The latest headline reason of each waiting session: written only where it changed."""

from __future__ import annotations

import datetime

from scheduler import models
from scheduler.core import decisions, snapshot, states
from scheduler.services import recording
from scheduler.services import work as unit

R = decisions.PendReason

#: Reasons of a session that passed the checks and lacks slots: they let the time towards a claim run (DESIGN 4).
LACKS_SLOTS = frozenset({R.NO_RESOURCES, R.AWAITING_VICTIMS, R.AWAITING_RELEASE, R.POLICY_FAILED})
_FIELDS = ["reason", "facts", "nodes", "candidates", "since", "seen_at", "round_number"]


def write(
    work: unit.Work,
    group: models.ResourceGroup,
    pends: list[decisions.Pend],
    *,
    record: recording.RoundRecord,
) -> None:
    """Bring the reasons of a group up to date with one round's answers; a changed headline is an event."""
    latest = {pend.session_id: pend for pend in pends}
    waiting = models.Session.objects.filter(
        pk__in=latest, state__in=(states.SessionState.PENDING, states.SessionState.SUSPENDED)
    )
    sessions = {row.pk: row for row in waiting.defer("script", "environment", "argv")}
    known = {row.session_id: row for row in models.PendReason.objects.filter(session__in=sessions)}
    rows = [
        row
        for session_id in sorted(sessions)
        if (
            row := _changed(
                work, sessions[session_id], latest[session_id], known.get(session_id), record.number
            )
        )
    ]
    models.PendReason.objects.bulk_create(
        rows, update_conflicts=True, unique_fields=["session"], update_fields=_FIELDS
    )
    _mark_waiting(work.now, sessions, latest)


def _changed(
    work: unit.Work,
    session: models.Session,
    pend: decisions.Pend,
    known: models.PendReason | None,
    number: int,
) -> models.PendReason | None:
    """Return the row to write, None when it stands as it is."""
    facts = dict(pend.facts)
    nodes, candidates = snapshot.to_plain(pend.nodes), snapshot.to_plain(pend.candidates)
    is_new_headline = known is None or known.reason != pend.reason
    if known and (known.reason, known.facts, known.nodes, known.candidates) == (
        pend.reason,
        facts,
        nodes,
        candidates,
    ):
        return None
    if is_new_headline:
        before = known.reason if known else ""
        work.tell(
            "session.waits", session=session, changed=("pend_reason",), reason=str(pend.reason), before=before
        )
    return models.PendReason(
        session=session,
        reason=pend.reason,
        facts=facts,
        nodes=nodes,
        candidates=candidates,
        since=work.now if known is None or is_new_headline else known.since,
        seen_at=work.now,
        round_number=number,
    )


def _mark_waiting(
    now: datetime.datetime, sessions: dict[int, models.Session], latest: dict[int, decisions.Pend]
) -> None:
    lacking = {pk for pk in sessions if latest[pk].reason in LACKS_SLOTS}
    begin = [pk for pk in lacking if sessions[pk].waiting_since is None]
    cease = [pk for pk in sessions.keys() - lacking if sessions[pk].waiting_since is not None]
    if begin:
        models.Session.objects.filter(pk__in=begin).update(waiting_since=now)
    if cease:
        models.Session.objects.filter(pk__in=cease).update(waiting_since=None)
