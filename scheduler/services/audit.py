"""One row per change of configuration, in the transaction of the change (P05)."""

from __future__ import annotations

from typing import Any

from scheduler import models
from scheduler.services import work as unit


def record_change(
    work: unit.Work,
    *,
    object_type: str,
    object_name: str,
    before: dict[str, Any],
    after: dict[str, Any],
    reason: str = "",
    group: models.ResourceGroup | None = None,
) -> None:
    """
    Write who changed what.

    Args:
        before: only the fields that change; empty for a creation.
        after: their new values; empty for a removal.
    """
    models.ConfigChange.objects.create(
        at=work.now,
        actor_id=work.actor.user_id,
        actor_name=work.actor.name,
        request_id=work.actor.request_id,
        object_type=object_type,
        object_name=object_name,
        before=before,
        after=after,
        reason=reason,
        group=group,
    )
