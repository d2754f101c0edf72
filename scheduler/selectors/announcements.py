"""What stands above every page now."""

from __future__ import annotations

from django.db.models import Q, QuerySet
from django.db.models.functions import Now

from scheduler import errors, models


def in_force() -> QuerySet[models.Announcement]:
    """Return the announcements that are shown to everybody, newest first. One query."""
    return models.Announcement.objects.filter(Q(until=None) | Q(until__gt=Now()), ended_at=None)


def require(number: int) -> models.Announcement:
    """
    Return one announcement, ended or not.

    Raises:
        NotVisible: there is none of this number.
    """
    row = models.Announcement.objects.filter(pk=number).first()
    if row is None:
        raise errors.NotVisible("There is no such announcement.")
    return row
