"""Queues as ``_queue_rows.html`` shows them, for their own page and for those of groups."""

from __future__ import annotations

import dataclasses
from typing import Any

from scheduler import models
from scheduler.selectors import queues


def load(viewer: models.User, *, group: models.ResourceGroup | None = None) -> list[dict[str, Any]]:
    """Return the visible queues (of one group) by name."""
    return [_row(row) for row in queues.rows(viewer, group=group)]


def _row(row: queues.Row) -> dict[str, Any]:
    default = "owner's default" if row.default_priority is None else row.default_priority
    return {**dataclasses.asdict(row), "default_priority": default}
