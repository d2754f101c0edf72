"""The latest headline reason of each waiting session: written only where it changed."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Iterator, Mapping

from scheduler import models
from scheduler.core import claims as core_claims
from scheduler.core import decisions, entities, snapshot, states
from scheduler.selectors import remembered
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
#: Nodes and candidates that the reasons of one round carry in all.
MOST_VIEWS = 5_000
#: Reasons of which one round writes anew only the numbers.
MOST_NUMBERS = 500
_FIELDS = ["reason", "facts", "nodes", "candidates", "since", "seen_at", "round_number"]


def write(work: unit.Work, pends: list[decisions.Pend], *, record: recording.RoundRecord) -> None:
    """
    Bring the reasons of a group up to date with one round's answers; a changed headline is an event, and has its round
    stored.

    A session that somebody is changing just now is left to the next round: a round waits for nobody's lock but those
    of its decisions, and never explains the wait of one that ends.
    """
    latest = {pend.session_id: pend for pend in _bounded(pends)}
    known = record.reasons()
    changed = _worth_writing(latest, known, told=record.told)
    sessions = _lock(latest, changed, seen=record.sessions())
    if any(_is_news(latest[pk], known.get(pk)) for pk in sessions):
        record.row()
    rows = [
        _row(work, sessions[pk], latest[pk], known=known.get(pk), number=record.number)
        for pk in sorted(sessions)
        if pk in changed
    ]
    models.PendReason.objects.bulk_create(
        rows, update_conflicts=True, unique_fields=["session"], update_fields=_FIELDS
    )
    before = {pk: known[pk] for pk in latest if pk in known}
    _tell_failed_policies(work, rows, [sessions[row.session_id] for row in rows], before)
    _mark_waiting(work.now, sessions, latest)


def _bounded(pends: list[decisions.Pend]) -> Iterator[decisions.Pend]:
    """
    Leave nodes and candidates out of answers once those before have filled the measure; a page asks for them anew.

    Each of ten thousand sessions that wait would otherwise carry a thousand nodes, written again whenever one of
    those changes.
    """
    left = MOST_VIEWS
    for pend in pends:
        nodes = pend.nodes if len(pend.nodes) <= left else ()
        candidates = pend.candidates if len(pend.candidates) <= left - len(nodes) else ()
        left -= len(nodes) + len(candidates)
        is_whole = len(nodes) == len(pend.nodes) and len(candidates) == len(pend.candidates)
        yield pend if is_whole else dataclasses.replace(pend, nodes=nodes, candidates=candidates)


def _worth_writing(
    latest: dict[int, decisions.Pend],
    known: Mapping[int, remembered.Reason],
    *,
    told: dict[int, tuple[remembered.Reason, decisions.Pend]],
) -> set[int]:
    """
    Return the sessions whose reason is written by this round: every new headline, and so many others.

    One start changes the numbers of all who wait for the same room. Those that were written longest ago go first, so
    that a few rounds reach everybody; ``seen_at`` tells of when the numbers are.
    """
    changed = [pk for pk, pend in latest.items() if not _stands(pend, known.get(pk), told)]
    news = {pk for pk in changed if _is_news(latest[pk], known.get(pk))}
    others = [pk for pk in changed if pk not in news]
    if len(others) > MOST_NUMBERS:
        others = sorted(others, key=lambda pk: known[pk].round_number)[:MOST_NUMBERS]
    return news.union(others)


def _tell_failed_policies(
    work: unit.Work,
    rows: list[models.PendReason],
    sessions: list[models.Session],
    known: Mapping[int, remembered.Reason],
) -> None:
    """Tell, once while it stands, how a queue's preemption policy fails."""
    if not any("policy" in row.facts for row in rows):
        return
    told = {row.facts["policy"] for row in known.values() if "policy" in row.facts}
    for row, session in zip(rows, sessions, strict=True):
        text = row.facts.get("policy", "")
        if text and text not in told:
            told.add(text)
            queue = session.queue.slug
            work.tell("queue.policy_failed", group_id=session.group_id, queue=queue, policy=text)


def _lock(
    latest: dict[int, decisions.Pend], changed: set[int], *, seen: Mapping[int, entities.Session]
) -> dict[int, models.Session]:
    """
    Lock those waiting sessions of which something is to be written, as far as nobody else holds them.

    Args:
        changed: those whose reason changed.
        seen: the sessions as the round saw them: others may begin or cease to lack slots.
    """
    marked = {
        pk for pk, pend in latest.items() if (seen[pk].waiting_since is None) == (pend.reason in LACKS_SLOTS)
    }
    if not changed | marked:
        return {}
    rows = models.Session.objects.filter(
        pk__among=changed | marked, state__in=(states.SessionState.PENDING, states.SessionState.SUSPENDED)
    )
    rows = rows.defer("script", "environment", "argv").order_by("pk")
    return {row.pk: row for row in rows.select_for_update(no_key=True, skip_locked=True)}


def _stands(
    pend: decisions.Pend,
    known: remembered.Reason | None,
    told: dict[int, tuple[remembered.Reason, decisions.Pend]],
) -> bool:
    """
    Say whether the reason that is written says all that this one does.

    Args:
        told: answers that were found to; this one is added if it is.
    """
    if known is None:
        return False
    before = told.get(pend.session_id)
    if before is not None and before[0] == known and before[1] == pend:
        return True
    if (known.reason, known.facts) != (pend.reason, dict(pend.facts)):
        return False
    says = (snapshot.to_plain(pend.nodes), snapshot.to_plain(pend.candidates))
    if (known.nodes, known.candidates) != says:
        return False
    told[pend.session_id] = (known, pend)
    return True


def _is_news(pend: decisions.Pend, known: remembered.Reason | None) -> bool:
    """Say whether the headline of a wait is another than before."""
    return known is None or known.reason != pend.reason


def _row(
    work: unit.Work,
    session: models.Session,
    pend: decisions.Pend,
    *,
    known: remembered.Reason | None,
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
        models.Session.objects.filter(pk__among=begin).update(waiting_since=now)
    if cease:
        models.Session.objects.filter(pk__among=cease).update(waiting_since=None)
