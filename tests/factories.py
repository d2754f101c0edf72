"""
Builders of core values with sensible defaults, for tests.

Amounts are written as people think of them: ``a_node("n1", cpu=4)`` has four units of ``cpu``. Ids are given
by the caller or counted per snapshot; times are seconds before ``NOW``.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

from scheduler.core import decisions, entities, resources, rounds, snapshot, states

SECOND = 1_000_000
NOW = 1_700_000_000 * SECOND
ON = entities.Policy(version=1, state=entities.PreemptionState.ON)


def slots(**amounts: int) -> resources.ResourceVector:
    """Return a vector; ``cuda_device`` stands for ``cuda.device``."""
    return resources.ResourceVector({kind.replace("_", "."): amount for kind, amount in amounts.items()})


def a_node(
    node_id: int = 1, *, capacity: resources.ResourceVector | None = None, **more: Any
) -> entities.Node:
    """Return a ready node ``n<id>`` of 4 cpu; device indices follow from the capacity in ``cuda.device``."""
    capacity = slots(cpu=4) if capacity is None else capacity
    devices = tuple(range(capacity.get("cuda.device")))
    more.setdefault("devices", {"cuda.device": devices} if devices else {})
    return entities.Node(**{"id": node_id, "name": f"n{node_id}", "capacity": capacity} | more)


def a_queue(queue_id: int = 1, **more: Any) -> entities.Queue:
    """Return an open queue ``q<id>`` that may preempt nobody."""
    return entities.Queue(**{"id": queue_id, "name": f"q{queue_id}"} | more)


def a_session(
    session_id: int, request: resources.ResourceVector | None = None, **more: Any
) -> entities.Session:
    """Return a pending session of owner 1 in queue 1, submitted ``session_id`` seconds after the others."""
    fields: dict[str, Any] = {
        "id": session_id,
        "owner_id": 1,
        "queue_id": 1,
        "state": states.SessionState.PENDING,
        "request": slots(cpu=1) if request is None else request,
        "submitted_at": NOW - 7200 * SECOND + session_id * SECOND,
    }
    return entities.Session(**fields | more)


def a_running(
    session_id: int,
    request: resources.ResourceVector | None = None,
    *,
    on: Iterable[int] = (1,),
    indices: Mapping[str, tuple[int, ...]] | None = None,
    **more: Any,
) -> entities.Session:
    """Return a session that runs on the given nodes since an hour, holding its request on each."""
    session = a_session(session_id, request)
    held = tuple(entities.Allocation(node_id, session.request, indices or {}) for node_id in on)
    fields = {
        "state": states.SessionState.RUNNING,
        "allocations": held,
        "node_count": len(held),
        "started_at": NOW - 3600 * SECOND,
    }
    return dataclasses.replace(session, **fields | more)


def a_suspended(
    session_id: int,
    request: resources.ResourceVector | None = None,
    *,
    holds: resources.ResourceVector = resources.EMPTY,
    **more: Any,
) -> entities.Session:
    """Return a session suspended on node 1 that still holds ``holds`` of its request."""
    running = a_running(session_id, request)
    kept = tuple(entities.Allocation(a.node_id, holds) for a in running.allocations if holds)
    fields = {
        "state": states.SessionState.SUSPENDED,
        "resume_slots": running.allocations,
        "allocations": kept,
    }
    return dataclasses.replace(running, **fields | more)


def a_snapshot(
    sessions: Iterable[entities.Session] = (),
    *,
    nodes: Iterable[entities.Node] | None = None,
    policy: entities.Policy = ON,
    **more: Any,
) -> snapshot.Snapshot:
    """Return a snapshot with one node of 4 cpu, queue 1, and every owner that the sessions name."""
    sessions = tuple(sessions)
    owners = tuple(entities.Owner(owner_id) for owner_id in sorted({s.owner_id for s in sessions}))
    fields = {
        "group": "g",
        "now": NOW,
        "policy": policy,
        "is_starting": True,
        "nodes": (a_node(),) if nodes is None else tuple(nodes),
        "queues": (a_queue(),),
        "owners": owners,
        "sessions": sessions,
    }
    return snapshot.Snapshot(**fields | more)


def decide(view: snapshot.Snapshot, **more: Any) -> list[decisions.Decision]:
    """Run one round and return its decisions in order."""
    found: list[decisions.Decision] = []
    rounds.run_round(view, found.append, **more)
    return found


def by_session(found: Iterable[decisions.Decision]) -> dict[int, decisions.Dispatch | decisions.Pend]:
    """Return the dispatch or pend of each session."""
    return {d.session_id: d for d in found if not isinstance(d, decisions.Preempt)}


def preemptions(found: Iterable[decisions.Decision]) -> dict[int, decisions.Preempt]:
    """Return the preemptions by preemptor."""
    return {d.preempting_jobid: d for d in found if isinstance(d, decisions.Preempt)}
