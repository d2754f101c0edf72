"""Announcements: made and ended by administrators, each with its row of audit (P05)."""

from __future__ import annotations

import datetime

from scheduler import errors, models
from scheduler.selectors import announcements
from scheduler.services import actors, audit, checks
from scheduler.services import work as unit

#: More than these nobody reads, and pages begin below them.
MOST_IN_FORCE = 3


def make(
    actor: actors.Actor, text: str, *, tone: str = "info", lasts: datetime.timedelta | None = None
) -> models.Announcement:
    """
    Put a few words above every page.

    Args:
        text: 1 to 500 characters, shown as they are.
        tone: one of ``Announcement.Tone``.
        lasts: for how long; None = until it is ended.

    Raises:
        NotAllowed: the actor is no administrator.
        Refusal: no text, an unknown tone, or ``MOST_IN_FORCE`` stand already.
    """
    checks.require_administrator(actor, "announce anything")
    with unit.begin(actor) as work:
        if announcements.in_force().count() >= MOST_IN_FORCE:
            fault = f"{MOST_IN_FORCE} announcements stand already: end one first"
            raise errors.Refusal(code="too-many", fields={"text": fault})
        row = models.Announcement(text=text.strip(), tone=tone, made_at=work.now, made_by_name=actor.name)
        row.until = work.now + lasts if lasts else None
        checks.checked(row, exclude={"until", "ended_at"}).save()
        after = {"text": row.text, "tone": row.tone, "until": row.until.isoformat() if row.until else None}
        audit.record_change(work, _subject(row), before={}, after=after)
    return row


def end(actor: actors.Actor, row: models.Announcement, *, reason: str = "") -> None:
    """
    Take an announcement off every page.

    Raises:
        NotAllowed: the actor is no administrator.
        Refusal: it is ended already.
    """
    checks.require_administrator(actor, "end an announcement")
    with unit.begin(actor) as work:
        rows = models.Announcement.objects.filter(pk=row.pk, ended_at=None)
        if not rows.update(ended_at=work.now):
            raise errors.Refusal(code="ended", fields={"text": "it is ended already"})
        after = {"ended_at": work.now.isoformat()}
        audit.record_change(work, _subject(row), before={"ended_at": None}, after=after, reason=reason[:500])


def _subject(row: models.Announcement) -> audit.Subject:
    return audit.Subject("announcement", str(row.pk))
