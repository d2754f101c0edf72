"""Reads of what a decision points at: the stored snapshot of its round, in its plain form. Internal to pages."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from typing import Any

from scheduler import models

_SECOND = 1_000_000


def plain_snapshot(decision: models.Decision) -> dict[str, Any] | None:
    """Return the snapshot that a decision was made from, None where it is no longer kept. One query."""
    stored = models.Round.objects.values_list("snapshot", flat=True).get(pk=decision.round_id)
    return json.loads(zlib.decompress(bytes(stored))) if stored else None


def ran_s(view: Mapping[str, Any] | None) -> dict[int, int]:
    """Return session id -> whole seconds that it had run since its last start or resume, for those that had started."""
    if view is None:
        return {}
    started = {one["id"]: one["started_at"] for one in view["sessions"] if one["started_at"] is not None}
    return {pk: max(0, view["now"] - at) // _SECOND for pk, at in started.items()}


def device_holders(view: Mapping[str, Any], node_id: int, kind: str) -> list[int | None]:
    """
    Return who held each device of a kind on a node then, in the order of indices.

    Returns:
        A session id, 0 for a device drawn for a reservation, None for a free one; empty without such devices.
    """
    node = next((row for row in view["nodes"] if row["id"] == node_id), None)
    indices = list(node["devices"].get(kind, ())) if node else []
    holders: dict[int, int] = {}
    for held in (row for row in view["reservations"] if row["node_id"] == node_id):
        holders.update(dict.fromkeys(held["indices"].get(kind, ()), 0))
    for session in view["sessions"]:
        for held in session["allocations"]:
            if held["node_id"] == node_id:
                holders.update(dict.fromkeys(held["indices"].get(kind, ()), session["id"]))
    return [holders.get(index) for index in indices]
