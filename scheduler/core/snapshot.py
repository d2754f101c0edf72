"""Everything that one round may know, frozen, with a stable digest."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import operator
from collections.abc import Callable, Mapping, Sequence
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
    kind = type(value)
    if kind in _AS_THEY_ARE:
        return value
    say = _SAYERS.get(kind)
    if say is None:
        say = _SAYERS[kind] = _sayer(kind)
    return say(value)


_AS_THEY_ARE = frozenset({int, str, bool, type(None), float})
#: How a value of each type that was met is said: a snapshot has hundreds of thousands of a few types.
_SAYERS: dict[type, Callable[[Any], Any]] = {}


def _sayer(kind: type) -> Callable[[Any], Any]:
    if issubclass(kind, resources.ResourceVector):
        return resources.ResourceVector.as_dict
    if dataclasses.is_dataclass(kind):
        return _sayer_of_fields(tuple(f.name for f in dataclasses.fields(kind)))
    if issubclass(kind, Mapping):
        return lambda value: {str(key): to_plain(value[key]) for key in sorted(value)}
    if issubclass(kind, frozenset | set):
        return lambda value: sorted([to_plain(item) for item in value])
    if issubclass(kind, Sequence) and not issubclass(kind, str):
        return lambda value: [to_plain(item) for item in value]
    return lambda value: value


def _sayer_of_fields(names: tuple[str, ...]) -> Callable[[Any], Any]:
    if len(names) < 2:
        return lambda value: {name: to_plain(getattr(value, name)) for name in names}
    fields = operator.attrgetter(*names)
    return lambda value: dict(zip(names, map(to_plain, fields(value)), strict=True))


def canonical(
    snapshot: Snapshot, *, say_session: Callable[[entities.Session], dict[str, Any]] = to_plain
) -> dict[str, Any]:
    """
    Return the plain form with every tuple sorted by id, so that shuffled input gives equal output.

    Args:
        say_session: ``to_plain``, or what remembers its answers.
    """
    plain: dict[str, Any] = to_plain(dataclasses.replace(snapshot, sessions=()))
    plain["sessions"] = [say_session(session) for session in snapshot.sessions]
    for name in ("nodes", "queues", "owners", "sessions", "reservations"):
        plain[name] = sorted(plain[name], key=lambda row: row["id"])
    plain["claims"] = sorted(plain["claims"], key=lambda row: row["session_id"])
    plain["edges"] = sorted(plain["edges"], key=lambda row: (row["winner_id"], row["loser_id"]))
    return plain


def digest(snapshot: Snapshot) -> str:
    """Return the SHA-256 (hex) of the canonical form."""
    text = json.dumps(canonical(snapshot), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
