"""
Random snapshots: small crowded clusters in which much collides.

Made from a seed by Python's own generator, because an even spread of sizes finds more than small examples do; a failing
example is its seed. ``snapshots`` hands seeds to Hypothesis.
"""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from scheduler.core import entities, release, resources, snapshot, states
from tests import factories

KINDS = ("cpu", "mem", "cuda.device")
_STATE, _MODE = states.SessionState, entities.PreemptionMode


def snapshots(**shape: Any) -> st.SearchStrategy[snapshot.Snapshot]:
    """Return a strategy of snapshots; ``shape`` as in ``random_snapshot``."""
    return st.integers(0, 2**62).map(lambda seed: random_snapshot(seed, **shape))


def alone(**shape: Any) -> st.SearchStrategy[snapshot.Snapshot]:
    """Return a strategy of snapshots in which one pending session is all that a round can move."""
    return snapshots(pending=1, **shape).map(without_resumes)


def without_resumes(view: snapshot.Snapshot) -> snapshot.Snapshot:
    """Hold every suspended session, so that none resumes."""
    held = (dataclasses.replace(s, is_held=True) if s.state is _STATE.SUSPENDED else s for s in view.sessions)
    return dataclasses.replace(view, sessions=tuple(held))


def random_snapshot(
    seed: int, *, nodes: int = 3, running: int = 9, pending: int = 4, largest: int = 8, **rules: Any
) -> snapshot.Snapshot:
    """
    Return a consistent snapshot: nobody holds more than there is, usages follow from what is held.

    Args:
        seed: same seed, same snapshot.
        nodes: most nodes.
        running: most sessions on nodes.
        pending: most sessions that wait.
        largest: most slots of a kind on a node.
        rules: fields of the policy that are not random.
    """
    chance = random.Random(seed)
    own_nodes = [_a_node(chance, node_id, largest) for node_id in range(1, chance.randint(1, nodes) + 1)]
    rooms = {node.id: _Left(node) for node in own_nodes}
    on_nodes = [_on_nodes(chance, session_id, rooms) for session_id in range(1, running + 1)]
    waiting = [_waits(chance, session_id) for session_id in range(100, 100 + chance.randint(1, pending))]
    kept = _a_reservation(chance, rooms, [one for one in on_nodes if one is not None], waiting)
    view = factories.a_snapshot(
        [*(session for session in on_nodes if session is not None), *waiting],
        nodes=own_nodes,
        policy=_a_policy(chance, rules),
        queues=[_a_queue(chance, queue_id) for queue_id in (1, 2, 3)],
        owners=tuple(entities.Owner(owner_id, _a_usage(chance)) for owner_id in (1, 2)),
        round_number=chance.randint(0, 3),
        reservations=kept,
    )
    return with_usage(dataclasses.replace(view, claims=_a_claim(chance, view)))


def _a_claim(chance: random.Random, view: snapshot.Snapshot) -> tuple[entities.Claim, ...]:
    """Return, sometimes, a claim of one pending session on nodes that are large enough for it."""
    holder = chance.choice([s for s in view.sessions if s.state is _STATE.PENDING])
    large = [node.id for node in view.nodes if node.capacity.covers(holder.request)]
    if len(large) < holder.node_count or chance.random() < 0.6:
        return ()
    return (entities.Claim(holder.id, tuple(sorted(chance.sample(large, holder.node_count)))),)


def _a_reservation(
    chance: random.Random,
    rooms: dict[int, _Left],
    on_nodes: list[entities.Session],
    waiting: list[entities.Session],
) -> tuple[entities.Reservation, ...]:
    """Return, sometimes, what one pending session was promised of a session that is being stopped."""
    stopping = [session for session in on_nodes if session.state is _STATE.PREEMPTED]
    if chance.random() < 0.5:
        waiting[-1] = dataclasses.replace(waiting[-1], priority=0, job_priority=-1)
    holder = waiting[-1]
    if not stopping or len(waiting) < 2 or holder.node_count > 1 or chance.random() < 0.3:
        return ()
    room = rooms[stopping[0].allocations[0].node_id]
    drawn = holder.request.minimum(room.free)
    if not room.node.capacity.covers(holder.request) or (taken := room.take(drawn)) is None:
        return ()
    deadline = factories.NOW + factories.SECOND
    victims = (stopping[0].id,)
    return (
        entities.Reservation(
            1, holder.id, room.node.id, holder.request, drawn, victims, deadline, taken.indices
        ),
    )


def _a_policy(chance: random.Random, rules: dict[str, Any]) -> entities.Policy:
    fields = {
        "version": 1,
        "state": entities.PreemptionState.ON,
        "mode": chance.choice(tuple(_MODE)),
        "order": chance.choice(tuple(entities.PreemptionOrder)),
        "scope": chance.choice(tuple(entities.PreemptionScope)),
        "min_runtime_s": chance.choice((0, 0, 0, 600)),
        "max_preemptions_per_session": chance.choice((None, None, None, 1)),
        "suspend_releases": chance.choice((None, None, frozenset({"cpu"}))),
        "cancel_unconfirmed_dispatch": chance.random() < 0.5,
        "requeue_suspended": chance.random() < 0.5,
        "placement": chance.choice(tuple(entities.Placement)),
        "starvation_after_s": chance.choice((0, 60, 60, 60)),
    }
    return entities.Policy(**fields | rules)


def _a_vector(chance: random.Random, most: int) -> resources.ResourceVector:
    amounts = {"cpu": chance.randint(1, most), "mem": chance.randint(0, most)}
    if chance.random() < 0.4:
        amounts["cuda.device"] = chance.randint(0, 2)
    return resources.ResourceVector(amounts)


def _a_node(chance: random.Random, node_id: int, largest: int) -> entities.Node:
    amounts = {
        "cpu": chance.randint(5, largest),
        "mem": chance.randint(5, largest),
        "cuda.device": chance.choice((0, 3, 4)),
    }
    return factories.a_node(
        node_id,
        capacity=resources.ResourceVector(amounts),
        max_sessions=chance.choice((None, None, None, 3, 4)),
        labels={"zone": chance.choice("ab")},
        state=chance.choice((*[entities.NodeState.READY] * 7, entities.NodeState.DRAINING)),
    )


def _a_queue(chance: random.Random, queue_id: int) -> entities.Queue:
    listed = frozenset(other for other in (1, 2, 3) if other != queue_id and chance.random() < 0.7)
    return factories.a_queue(
        queue_id,
        preemptible=chance.random() < 0.8,
        preemptible_queues=listed,
        preemption_mode=chance.choice((None, None, *_MODE)),
        usage=_a_usage(chance),
    )


def _a_usage(chance: random.Random) -> entities.Usage:
    most = {"cpu": chance.randint(5, 14)} if chance.random() < 0.25 else {}
    sessions = chance.randint(3, 6) if chance.random() < 0.15 else None
    return entities.Usage(max_slots=most, max_sessions=sessions)


def _fields(chance: random.Random, session_id: int) -> dict[str, Any]:
    return {
        "session_id": session_id,
        "owner_id": chance.randint(1, 2),
        "queue_id": chance.randint(1, 3),
        "priority": chance.randint(0, 3),
        "job_priority": chance.randint(-1, 2),
        "is_preemptible": chance.random() < 0.9,
        "is_private": chance.random() < 0.05,
        "times_preempted": chance.choice((0, 0, 1)),
        "submitted_at": factories.NOW - chance.randint(0, 9) * factories.SECOND,
        "wall_limit_s": chance.choice((None, None, 60, 1200, 7200)),
    }


def _waits(chance: random.Random, session_id: int) -> entities.Session:
    fields = _fields(chance, session_id)
    if chance.random() < 0.6:
        fields |= {"priority": chance.randint(2, 5), "job_priority": chance.randint(1, 4)}
    return factories.a_session(
        request=_a_vector(chance, 5),
        node_count=chance.choice((*[1] * 6, 2)),
        labels=chance.choice(({}, {}, {}, {"zone": frozenset("a")})),
        waiting_since=factories.NOW - chance.choice((0, 59, 60)) * factories.SECOND,
        **fields,
    )


class _Left:
    """What is left of one node while a snapshot is made."""

    def __init__(self, node: entities.Node) -> None:
        self.node, self.free = node, node.capacity
        self.places = 99 if node.max_sessions is None else node.max_sessions
        self.indices = {kind: list(numbers) for kind, numbers in node.devices.items()}

    def take(self, slots: resources.ResourceVector) -> entities.Allocation | None:
        """Give slots, indices and a place, or None when they are not there."""
        if not self.free.covers(slots) or self.places < 1:
            return None
        self.free -= slots
        self.places -= 1
        indices = {k: tuple(self.indices[k].pop(0) for _ in range(n)) for k, n in slots if k in self.indices}
        return entities.Allocation(self.node.id, slots, indices)


def _on_nodes(chance: random.Random, session_id: int, rooms: dict[int, _Left]) -> entities.Session | None:
    state = chance.choice((*[_STATE.RUNNING] * 12, _STATE.SCHEDULED, _STATE.PREEMPTED, _STATE.SUSPENDED))
    request = _a_vector(chance, 3)
    count = 2 if state is _STATE.RUNNING and chance.random() < 0.15 else 1
    places = chance.sample(sorted(rooms), min(count, len(rooms)))
    held = tuple(one for node_id in places if (one := rooms[node_id].take(request)) is not None)
    if not held:
        return None
    more = _of_state(chance, state, held)
    return factories.a_session(request=request, **_fields(chance, session_id) | more)


def _of_state(
    chance: random.Random, state: states.SessionState, held: tuple[entities.Allocation, ...]
) -> dict[str, Any]:
    started_at = factories.NOW - chance.choice((0, 300, 600, 900)) * factories.SECOND
    more = {"state": state, "allocations": held, "node_count": len(held), "started_at": started_at}
    if state is _STATE.PREEMPTED:
        deadline = factories.NOW + chance.choice((-5, 5, 5)) * factories.SECOND
        more |= {"stop_mode": chance.choice(tuple(_MODE)), "stop_deadline": deadline, "in_decision": True}
    if state is _STATE.SUSPENDED:
        kept = [entities.Allocation(a.node_id, a.slots.only(frozenset({"mem"}))) for a in held]
        more |= {"resume_slots": held, "allocations": tuple(one for one in kept if one.slots)}
    return more


def with_usage(view: snapshot.Snapshot) -> snapshot.Snapshot:
    """Fill in what owners and queues use, from what their sessions hold."""
    owners = tuple(_filled(view, o, lambda s, o=o: s.owner_id == o.id) for o in view.owners)
    own_queues = tuple(_filled(view, q, lambda s, q=q: s.queue_id == q.id) for q in view.queues)
    return dataclasses.replace(view, owners=owners, queues=own_queues)


def _filled(view: snapshot.Snapshot, account: Any, belongs: Callable[[entities.Session], bool]) -> Any:
    own = [session for session in view.sessions if belongs(session)]
    total = resources.EMPTY
    for session in own:
        for held in session.allocations:
            total += held.slots
    count = sum(s.state in states.LIVE and release.holds_place(s) for s in own)
    return dataclasses.replace(account, usage=dataclasses.replace(account.usage, used=total, sessions=count))
