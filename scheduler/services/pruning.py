"""
Empty snapshots that are kept longer than the setting says, and forget answers to keyed requests after a day; rounds
and decisions themselves stay (DESIGN section 7).
"""

from __future__ import annotations

import datetime

from django.conf import settings

from scheduler import clock, models


def prune_snapshots() -> int:
    """
    Empty the snapshots of old rounds; a whole one stays while a younger round is a difference to it.

    Returns:
        How many were emptied.
    """
    if settings.KEEP_SNAPSHOTS_DAYS == 0:
        return 0
    limit = clock.now() - datetime.timedelta(days=settings.KEEP_SNAPSHOTS_DAYS)
    needed = models.Round.objects.filter(at__gte=limit, base__isnull=False).values("base")
    old = models.Round.objects.filter(at__lt=limit, snapshot__isnull=False)
    return old.exclude(pk__in=needed).update(snapshot=None)


def prune_answers() -> int:
    """Forget what requests with an Idempotency-Key were answered more than a day ago; return how many."""
    limit = clock.now() - models.IdempotentAnswer.KEPT
    return models.IdempotentAnswer.objects.filter(created_at__lt=limit).delete()[0]
