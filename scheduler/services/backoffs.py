"""Nodes that are closed to one session's preemption and wait for a while; not to its placement (DESIGN 5.6)."""

from __future__ import annotations

import datetime
from collections.abc import Collection

from scheduler import models
from scheduler.services import work as unit

LAST_MIN = 16


def close(work: unit.Work, session: models.Session, node_ids: Collection[int]) -> None:
    """Close nodes to a session: for one minute, and twice as long each further time, up to 16 minutes."""
    known = {
        row.node_id: row for row in models.NodeBackoff.objects.filter(session=session, node__in=node_ids)
    }
    rows = [known.get(pk) or models.NodeBackoff(session=session, node_id=pk, minutes=0) for pk in node_ids]
    for row in rows:
        row.minutes = min(row.minutes * 2, LAST_MIN) or 1
        row.until = work.now + datetime.timedelta(minutes=row.minutes)
    models.NodeBackoff.objects.bulk_create(
        rows,
        update_conflicts=True,
        unique_fields=["session", "node"],
        update_fields=["minutes", "until"],
    )
