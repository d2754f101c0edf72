"""Keypairs as their person, or an administrator, may see them: never with a secret, which is kept nowhere."""

from __future__ import annotations

import datetime

from django.db.models import QuerySet

from scheduler import errors, models
from scheduler.selectors import permissions


def visible(viewer: models.User) -> QuerySet[models.Keypair]:
    """Return the keypairs that somebody may see: their own; an administrator sees everybody's."""
    rows = models.Keypair.objects.select_related("user", "policy")
    return rows if permissions.is_administrator(viewer) else rows.filter(user=viewer)


def require(viewer: models.User, access_key: str) -> models.Keypair:
    """Return a visible keypair by its access key, or raise NotVisible."""
    row = visible(viewer).filter(access_key=access_key).first()
    if row is None:
        raise errors.NotVisible("There is no such keypair, or you may not see it.")
    return row


def state(row: models.Keypair, now: datetime.datetime) -> str:
    """Return ``in force``, ``revoked`` or ``over``."""
    if not row.is_active:
        return "revoked"
    return "over" if row.expires_at is not None and row.expires_at <= now else "in force"
