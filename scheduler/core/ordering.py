"""
Who is looked at first.

1. ``priority``, highest first. 2. The original submit time. 3. The id. Suspended sessions stand in the same
line. Then, where the owner axis is in force, one owner's single-node sessions of equal ``priority`` fill that
owner's places in the line by ``job_priority``, highest first; other owners' places do not move. Without this
a returned victim starts first and is stopped again by each of its owner's later sessions. Source: DESIGN 4,
11.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol, TypeVar

from scheduler.core import entities, snapshot, states

WAITING = frozenset({states.SessionState.PENDING, states.SessionState.SUSPENDED})


def waiting(view: snapshot.Snapshot) -> list[entities.Session]:
    """Return the sessions that wait for slots, in the order in which a round looks at them."""
    line = sorted((s for s in view.sessions if s.state in WAITING), key=place_key)
    return by_owner_rank(line) if owner_axis_in_force(view.policy) else line


class Ranked(Protocol):
    """What a place in the line depends on; rows of the database have it as well."""

    @property
    def id(self) -> int: ...
    @property
    def owner_id(self) -> int: ...
    @property
    def priority(self) -> int: ...
    @property
    def job_priority(self) -> int: ...
    @property
    def node_count(self) -> int: ...
    @property
    def submitted_at(self) -> Any: ...


One = TypeVar("One", bound=Ranked)


def place_key(session: Ranked) -> tuple[int, Any, int]:
    """Return the key of a place in the line; less is earlier."""
    return -session.priority, session.submitted_at, session.id


def owner_axis_in_force(policy: entities.Policy) -> bool:
    """Say whether one's own lower sessions may be stopped now."""
    is_on = policy.state is entities.PreemptionState.ON
    return is_on and policy.scope is not entities.PreemptionScope.QUEUE


def by_owner_rank(line: Iterable[One]) -> list[One]:
    """Let each owner's single-node sessions of one priority fill their own places by ``job_priority``."""
    result = list(line)
    places: dict[tuple[int, int], list[int]] = {}
    for place, session in enumerate(result):
        if session.node_count == 1:
            places.setdefault((session.owner_id, session.priority), []).append(place)
    for own in places.values():
        ranked = sorted((result[p] for p in own), key=lambda s: (-s.job_priority, s.submitted_at, s.id))
        for place, session in zip(own, ranked, strict=True):
            result[place] = session
    return result
