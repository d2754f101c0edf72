"""
Since when the controller listens without a break: silence before that is nobody's fault (DESIGN 6.6).

The reconciler is rung over the broker. While that is away, or the worker stands still, it does not look, and no report
can come in either; so a break between two of its looks starts every count of silence anew. A simulation has no breaks.
"""

from __future__ import annotations

import datetime

from django.conf import settings
from django.db import transaction

from scheduler import clock, models

#: A longer pause between two looks is a break, seconds.
BREAK_S = 5


def note() -> None:
    """Note that the controller looks now."""
    with transaction.atomic():
        now = clock.now()
        row = models.Listening.objects.select_for_update().filter(pk=1).first()
        if row is None:
            models.Listening.objects.bulk_create(
                [models.Listening(pk=1, since=now, last_at=now)], ignore_conflicts=True
            )
            return
        if now - row.last_at > datetime.timedelta(seconds=BREAK_S * settings.TIME_SCALE):
            row.since = now
        row.last_at = max(now, row.last_at)
        row.save(update_fields=["since", "last_at"])


def since(moment: datetime.datetime) -> datetime.datetime:
    """Return from when on silence counts that began at a moment: not before the controller listened."""
    row = None if clock.is_virtual() else models.Listening.objects.filter(pk=1).first()
    return max(moment, row.since) if row else moment
