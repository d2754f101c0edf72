"""Snapshots in which one thing is otherwise."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any

from scheduler.core import decisions, entities, ordering, snapshot


def session(view: snapshot.Snapshot, session_id: int) -> entities.Session:
    """
    Return one session of a snapshot.

    Raises:
        KeyError: it is not there.
    """
    for one in view.sessions:
        if one.id == session_id:
            return one
    raise KeyError(session_id)


def of_session(view: snapshot.Snapshot, session_id: int, **fields: Any) -> snapshot.Snapshot:
    """Return the snapshot with other fields of one session."""
    changed = (dataclasses.replace(s, **fields) if s.id == session_id else s for s in view.sessions)
    return dataclasses.replace(view, sessions=tuple(changed))


def of_policy(view: snapshot.Snapshot, **fields: Any) -> snapshot.Snapshot:
    """Return the snapshot with other rules."""
    return dataclasses.replace(view, policy=dataclasses.replace(view.policy, **fields))


def at(view: snapshot.Snapshot, now: int) -> snapshot.Snapshot:
    """Return the snapshot at another moment, nothing else having happened."""
    return dataclasses.replace(view, now=now)


def without_those_behind(view: snapshot.Snapshot, session_id: int) -> snapshot.Snapshot:
    """
    Return the snapshot with all held that a round looks at after one session.

    A round decides in order, and a held session keeps its place in the line: what is decided up to this one
    stays the same, and the rest costs nothing.
    """
    line = [one.id for one in ordering.waiting(view)]
    behind = set(line[line.index(session_id) + 1 :]) if session_id in line else set()
    if not behind:
        return view
    held = (dataclasses.replace(s, is_held=True) if s.id in behind else s for s in view.sessions)
    return dataclasses.replace(view, sessions=tuple(held))


def holders_of_what_is_short(view: snapshot.Snapshot, nodes: Iterable[decisions.NodeView]) -> frozenset[int]:
    """Return the sessions that hold something of what is short, or a place that is, on a node that was considered."""
    short = {node.node_id: node for node in nodes if not node.note}
    return frozenset(
        session.id
        for session in view.sessions
        for held in session.allocations
        if (node := short.get(held.node_id)) is not None
        if node.sessions_short or any(node.short.get(kind) for kind in held.slots.kinds())
    )
