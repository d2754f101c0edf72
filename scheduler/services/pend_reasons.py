"""The latest headline reason of each waiting session: written only where it changed."""

from __future__ import annotations

import datetime

from scheduler import models
from scheduler.core import claims as core_claims
from scheduler.core import decisions, snapshot, states
from scheduler.services import recording
from scheduler.services import work as unit

R = decisions.PendReason

#: Reasons of a session that passed the checks and lacks slots: they let the time towards a claim run (DESIGN 4).
LACKS_SLOTS = core_claims.LACKS_SLOTS | {
    R.HOLDS_CLAIM,
    R.ROOM_CLAIMED,
    R.AWAITING_VICTIMS,
    R.AWAITING_RELEASE,
}
_FIELDS = ["reason", "facts", "nodes", "candidates", "since", "seen_at", "round_number"]


def write(work: unit.Work, pends: list[decisions.Pend], *, record: recording.RoundRecord) -> None:
    """
    Bring the reasons of a group up to date with one round's answers; a changed headline is an event, and has its round
    stored.

    A session that somebody is changing just now is left to the next round: a round waits for nobody's lock but those
    of its decisions, and never explains the wait of one that ends.
    """
    latest = {pend.session_id: pend for pend in pends}
    known = {row.session_id: row for row in models.PendReason.objects.filter(session__in=latest)}
    sessions = _lock_changed(latest, known)
    if any(_is_news(latest[pk], known.get(pk)) for pk in sessions):
        record.row()
    rows = [
        _row(work, sessions[pk], latest[pk], known=known.get(pk), number=record.number)
        for pk in sorted(sessions)
        if not _stands(latest[pk], known.get(pk))
    ]
    models.PendReason.objects.bulk_create(
        rows, update_conflicts=True, unique_fields=["session"], update_fields=_FIELDS
    )
    _tell_failed_policies(work, rows, [sessions[row.session_id] for row in rows], known)
    _mark_waiting(work.now, sessions, latest)


def _tell_failed_policies(
    work: unit.Work,
    rows: list[models.PendReason],
    sessions: list[models.Session],
    known: dict[int, models.PendReason],
) -> None:
    """Tell, once while it stands, how a queue's preemption policy fails."""
    told = {row.facts["policy"] for row in known.values() if "policy" in row.facts}
    for row, session in zip(rows, sessions, strict=True):
        text = row.facts.get("policy", "")
        if text and text not in told:
            told.add(text)
            queue = session.queue.slug
            work.tell("queue.policy_failed", group_id=session.group_id, queue=queue, policy=text)


def _lock_changed(
    latest: dict[int, decisions.Pend], known: dict[int, models.PendReason]
) -> dict[int, models.Session]:
    """Lock those waiting sessions of which something is to be written, as far as nobody else holds them."""
    waiting = models.Session.objects.filter(
        pk__in=latest, state__in=(states.SessionState.PENDING, states.SessionState.SUSPENDED)
    )
    marked = dict(waiting.values_list("pk", "waiting_since"))
    changed = [
        pk
        for pk, since in marked.items()
        if not _stands(latest[pk], known.get(pk)) or (since is None) == (latest[pk].reason in LACKS_SLOTS)
    ]
    rows = waiting.filter(pk__in=changed).defer("script", "environment", "argv").order_by("pk")
    return {row.pk: row for row in rows.select_for_update(no_key=True, skip_locked=True)}


def _stands(pend: decisions.Pend, known: models.PendReason | None) -> bool:
    """Say whether the reason that is written says all that this one does."""
    if known is None or (known.reason, known.facts) != (pend.reason, dict(pend.facts)):
        return False
    return (known.nodes, known.candidates) == (
        snapshot.to_plain(pend.nodes),
        snapshot.to_plain(pend.candidates),
    )


def _is_news(pend: decisions.Pend, known: models.PendReason | None) -> bool:
    """Say whether the headline of a wait is another than before."""
    return known is None or known.reason != pend.reason


def _row(
    work: unit.Work,
    session: models.Session,
    pend: decisions.Pend,
    *,
    known: models.PendReason | None,
    number: int,
) -> models.PendReason:
    is_new_headline = _is_news(pend, known)
    if is_new_headline:
        before = known.reason if known else ""
        work.tell(
            "session.waits", session=session, changed=("pend_reason",), reason=str(pend.reason), before=before
        )
    return models.PendReason(
        session=session,
        reason=pend.reason,
        facts=dict(pend.facts),
        nodes=snapshot.to_plain(pend.nodes),
        candidates=snapshot.to_plain(pend.candidates),
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
