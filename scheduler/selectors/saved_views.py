"""The saved views of a person: their own alone, administrators included."""

from __future__ import annotations

from django.db.models import QuerySet

from scheduler import errors, models


def of(viewer: models.User) -> QuerySet[models.SavedView]:
    """Return a person's saved views."""
    return models.SavedView.objects.filter(user=viewer)


def require(viewer: models.User, public_id: object) -> models.SavedView:
    """Return one of them by id, or raise NotVisible."""
    row = of(viewer).filter(public_id=public_id).first()
    if row is None:
        raise errors.NotVisible("There is no such saved view, or you may not see it.")
    return row
