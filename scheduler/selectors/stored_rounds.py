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
from scheduler.core import differences, entities, snapshot

_SECOND = 1_000_000
#: Of compression: a whole snapshot is megabytes, and a round waits for it.
_LEVEL = 3
#: Whole snapshots that a process remembers: each round of a group is compared with the same one.
_REMEMBERED = 2
_whole: collections.OrderedDict[tuple[int, str], dict[str, Any]] = collections.OrderedDict()


class Said:
    """
    The plain forms of sessions, and their texts, as long as the core's values stay the same objects.

    From one round to the next nearly all do (see ``remembered``).
    """

    def __init__(self) -> None:
        self._kept: dict[int, tuple[entities.Session, dict[str, Any], str]] = {}

    def canonical(self, view: snapshot.Snapshot) -> dict[str, Any]:
        """Return the canonical plain form of a snapshot; not to be changed."""
        before, self._kept = self._kept, {}
        for session in view.sessions:
            kept = before.get(session.id)
            if kept is None or kept[0] is not session:
                plain = snapshot.to_plain(session)
                kept = (session, plain, text(plain))
            self._kept[session.id] = kept
        return snapshot.canonical(view, say_session=lambda session: self._kept[session.id][1])

    def text(self, plain: Mapping[str, Any]) -> str:
        """Return the canonical JSON of what ``canonical`` returned last: that of ``text``."""
        sessions = ",".join([self._kept[row["id"]][2] for row in plain["sessions"]])
        parts = {name: f"[{sessions}]" if name == "sessions" else text(plain[name]) for name in sorted(plain)}
        return "{" + ",".join(f"{text(name)}:{said}" for name, said in parts.items()) + "}"


def text(plain: Any) -> str:
    """Return the canonical JSON of plain data: what the digest of a snapshot is made of."""
    return json.dumps(plain, sort_keys=True, separators=(",", ":"))


def packed(plain: Mapping[str, Any]) -> bytes:
    """Return plain data as it is stored."""
    return packed_text(text(plain))


def packed_text(said: str) -> bytes:
    """Return canonical JSON as it is stored."""
    return zlib.compress(said.encode(), _LEVEL)


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
