"""Everything that one round may know, frozen, with a stable digest."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from scheduler.core import entities, resources


@dataclasses.dataclass(frozen=True, slots=True)
class Snapshot:
    """One group at one moment. The order of the tuples carries no meaning."""

    group: str
    now: int  #: microseconds since the epoch, the database's clock
    policy: entities.Policy
    is_starting: bool  #: False: the group was stopped, nothing new starts
    nodes: tuple[entities.Node, ...]
    queues: tuple[entities.Queue, ...]
    owners: tuple[entities.Owner, ...]
    sessions: tuple[entities.Session, ...]
    reservations: tuple[entities.Reservation, ...] = ()
    edges: tuple[entities.Edge, ...] = ()
    claims: tuple[entities.Claim, ...] = ()
    round_number: int = 0


def to_plain(value: Any) -> Any:
    """Return a JSON-able twin of a core value: sorted keys, sets as sorted lists, vectors as dicts."""
    if isinstance(value, resources.ResourceVector):
        return value.as_dict()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: to_plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(key): to_plain(value[key]) for key in sorted(value)}
    if isinstance(value, frozenset | set):
        return sorted(to_plain(item) for item in value)
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [to_plain(item) for item in value]
    return value


def canonical(snapshot: Snapshot) -> dict[str, Any]:
    """Return the plain form with every tuple sorted by id, so that shuffled input gives equal output."""
    plain: dict[str, Any] = to_plain(snapshot)
    for name in ("nodes", "queues", "owners", "sessions", "reservations"):
        plain[name] = sorted(plain[name], key=lambda row: row["id"])
    plain["claims"] = sorted(plain["claims"], key=lambda row: row["session_id"])
    plain["edges"] = sorted(plain["edges"], key=lambda row: (row["winner_id"], row["loser_id"]))
    return plain


def digest(snapshot: Snapshot) -> str:
    """Return the SHA-256 (hex) of the canonical form."""
    text = json.dumps(canonical(snapshot), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
