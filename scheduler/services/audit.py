"""One row per change of configuration, in the transaction of the change (P05)."""

from __future__ import annotations

import dataclasses
from typing import Any

from scheduler import models
from scheduler.services import work as unit


@dataclasses.dataclass(frozen=True)
class Subject:
    """What was changed: its kind, its name, and the resource group whose managers may read of it."""

    type: str
    name: str
    group: models.ResourceGroup | None = None


def record_change(
    work: unit.Work, subject: Subject, *, before: dict[str, Any], after: dict[str, Any], reason: str = ""
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
        object_type=subject.type,
        object_name=subject.name,
        before=before,
        after=after,
        reason=reason,
        group=subject.group,
    )
