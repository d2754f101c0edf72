"""
Reads of stored rounds: the snapshot that a round was decided on, and its decisions in short. Internal to pages.

A snapshot is stored whole, or as its difference to the last whole one of its group (DESIGN section 7).
"""

from __future__ import annotations

import collections
import contextlib
import json
import zlib
from collections.abc import Mapping
from typing import Any

from scheduler import models
from scheduler.core import differences

_SECOND = 1_000_000
#: Whole snapshots that a process remembers: each round of a group is compared with the same one.
_REMEMBERED = 2
_whole: collections.OrderedDict[tuple[int, str], dict[str, Any]] = collections.OrderedDict()


def text(plain: Mapping[str, Any]) -> str:
    """Return the canonical JSON of a plain snapshot: what its digest is made of."""
    return json.dumps(plain, sort_keys=True, separators=(",", ":"))


def packed(plain: Mapping[str, Any]) -> bytes:
    """Return plain data as it is stored."""
    return zlib.compress(text(plain).encode())


def unpacked(stored: bytes | memoryview) -> dict[str, Any]:
    """Return plain data from what is stored."""
    plain: dict[str, Any] = json.loads(zlib.decompress(bytes(stored)))
    return plain


def plain_snapshot(decision: models.Decision) -> dict[str, Any] | None:
    """Return the snapshot that a decision was made from, None where it is no longer kept. At most two queries."""
    row = (
        models.Round.objects.select_related("base")
        .only("snapshot", "digest", "base")
        .get(pk=decision.round_id)
    )
    return plain_of(row) if row.snapshot else None


def plain_of(row: models.Round) -> dict[str, Any]:
    """
    Return the plain snapshot of a round that still has one; not to be changed.

    Raises:
        ValueError: it has none, or the one that it is a difference to has none.
    """
    if row.snapshot is None or (row.base is not None and row.base.snapshot is None):
        raise ValueError(f"the snapshot of round {row.number} is not kept any more")
    if row.base is None:
        return _remembered(row)
    return differences.applied(_remembered(row.base), unpacked(row.snapshot))


def _remembered(row: models.Round) -> dict[str, Any]:
    assert row.snapshot is not None
    key = (row.pk, row.digest)
    plain = _whole.get(key)
    if plain is None:
        plain = _whole[key] = unpacked(row.snapshot)
        with contextlib.suppress(KeyError):  # another thread may have forgotten one meanwhile
            while len(_whole) > _REMEMBERED:
                _whole.popitem(last=False)
    return plain


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
