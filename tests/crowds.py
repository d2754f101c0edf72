"""
Random snapshots in which one session alone can be moved, and everything that protects others stands in its way.

Up to four nodes and twelve sessions on them; what `strategies` makes, and beside it: edges, failed stops, nodes closed
after an expiry, stops that are stuck or taken back, sessions of the system and ones that end, dispatches being
cancelled, resumes under way, limits of suspended sessions, reservations of others, and the claim of one further ahead.
"""

from __future__ import annotations

import dataclasses
import itertools
import random
from typing import Any

from scheduler.core import entities, resources, snapshot, states
from tests import factories, strategies

#: The session that can be moved.
MOVER = 100
#: Who holds a claim, where somebody does: private, so that it stops nobody, and without limits.
CLAIMANT = 200
_S, _MODE, _READY = states.SessionState, entities.PreemptionMode, entities.NodeState.READY


def crowd(seed: int) -> snapshot.Snapshot:
    """Return the snapshot of a seed."""
    chance = random.Random(f"crowd/{seed}")
    few = _few_suspended(chance)
    view = strategies.random_snapshot(
        seed,
        nodes=4,
        running=12,
        pending=2,
        largest=chance.choice((8, 14, 20, 26)),
        **few,
    )
    if few and chance.random() < 0.4:  # every stop is a suspend
        view = dataclasses.replace(view, queues=tuple(_without_mode(queue) for queue in view.queues))
    node = max(view.nodes, key=lambda one: (one.state is _READY, _free(view, one, "cpu")))
    request = _request(chance, node, {kind: _free(view, node, kind) for kind in strategies.KINDS})
    sessions = tuple(_varied(chance, session, node, request) for session in view.sessions)
    if chance.random() < 0.85:
        view = dataclasses.replace(view, queues=tuple(_ripe_queue(queue) for queue in view.queues))
        view = dataclasses.replace(view, owners=tuple(_wider(owner) for owner in view.owners))
        sessions = tuple(_ripe(chance, session) for session in sessions)
    on_nodes = [session.id for session in sessions if session.state in states.LIVE]
    view = dataclasses.replace(view, sessions=sessions, edges=_edges(chance, on_nodes), claims=())
    return strategies.with_usage(_claimed(random.Random(f"claim/{seed}"), view))


def _claimed(chance: random.Random, view: snapshot.Snapshot) -> snapshot.Snapshot:
    """Let, sometimes, a session further ahead hold a claim: one that fits nowhere now, and on its node one day."""
    ready = [node for node in view.nodes if node.state is _READY]
    if not ready or chance.random() < 0.7:
        return view
    node = chance.choice(ready)
    most = {kind: amount for kind, amount in node.capacity if amount}
    asked = {
        kind: chance.randint((amount + 1) // 2, amount)
        for kind, amount in most.items()
        if chance.random() < 0.6
    }
    request = resources.ResourceVector(asked or most)
    if any(_fits(view, one, request) for one in ready):
        return view
    holder = factories.a_session(
        CLAIMANT,
        request,
        owner_id=9,
        queue_id=9,
        priority=99,
        is_private=True,
        submitted_at=factories.NOW - 1,
    )
    return dataclasses.replace(
        view,
        policy=dataclasses.replace(view.policy, starvation_after_s=1800),
        sessions=(*view.sessions, holder),
        queues=(*view.queues, factories.a_queue(9)),
        owners=(*view.owners, entities.Owner(9)),
        claims=(entities.Claim(CLAIMANT, (node.id,)),),
    )


def _fits(view: snapshot.Snapshot, node: entities.Node, request: resources.ResourceVector) -> bool:
    """Say whether a request might find room, reservations aside."""
    return all(_free(view, node, kind) >= amount for kind, amount in request)


def _few_suspended(chance: random.Random) -> dict[str, Any]:
    """Return, sometimes, a limit of suspended sessions per node, where stops are suspends unless a queue says else."""
    if chance.random() > 0.25:
        return {}
    rules = {"mode": _MODE.SUSPEND, "max_suspended_per_node": chance.randint(1, 3)}
    return rules | {"cancel_unconfirmed_dispatch": False, "requeue_suspended": False}


def _without_mode(queue: entities.Queue) -> entities.Queue:
    return dataclasses.replace(queue, preemption_mode=None)


def _varied(
    chance: random.Random, session: entities.Session, node: entities.Node, request: resources.ResourceVector
) -> entities.Session:
    if session.id == MOVER:
        return dataclasses.replace(_mover(chance, session, node), request=request)
    if session.state is _S.PENDING:  # the holder of a reservation that nobody can take over
        return dataclasses.replace(session, is_held=True, priority=9, job_priority=9)
    session = dataclasses.replace(session, stop_failed_since_start=chance.random() < 0.08)
    if chance.random() < 0.04:
        session = dataclasses.replace(session, type=entities.SessionType.SYSTEM)
    if session.state is _S.RUNNING:
        return _running(chance, session)
    if session.state is _S.SCHEDULED:
        return _scheduled(chance, session)
    if session.state is _S.SUSPENDED:
        return dataclasses.replace(session, is_held=True)
    return _decided(chance, dataclasses.replace(session, is_withdrawing=chance.random() < 0.2))


def _decided(chance: random.Random, session: entities.Session) -> entities.Session:
    """Let what its suspend frees sometimes be other than by the rules now, and let it have been suspended before."""
    kinds = frozenset(kind for kind in strategies.KINDS if chance.random() < 0.5)
    releases = kinds if session.stop_mode is _MODE.SUSPEND and chance.random() < 0.5 else None
    return dataclasses.replace(session, stop_releases=releases, is_counted=chance.random() < 0.7)


def _ripe_queue(queue: entities.Queue) -> entities.Queue:
    others = frozenset({1, 2, 3} - {queue.id})
    return dataclasses.replace(_wider(queue), preemptible=True, preemptible_queues=others)


def _wider(account: Any) -> Any:
    """Return an owner or a queue with limits that large sessions reach, too, but not alone."""
    most = {kind: 3 * amount for kind, amount in account.usage.max_slots.items()}
    return dataclasses.replace(account, usage=dataclasses.replace(account.usage, max_slots=most))


def _ripe(chance: random.Random, session: entities.Session) -> entities.Session:
    """Let most sessions on nodes be lower than the one that can be moved, and little else protect them."""
    if session.id == MOVER:
        return dataclasses.replace(session, priority=6, job_priority=5, queue_id=3)
    if session.state is _S.PENDING or chance.random() < 0.1:
        return session
    own = {
        "priority": chance.randint(0, 5),
        "job_priority": chance.choice((-1, 0, 1, 2, 3, 4, 6)),
        "times_preempted": 0,
    }
    theirs = {"owner_id": chance.choice((1, 1, 1, 2)), "queue_id": chance.choice((1, 1, 2, 2, 3))}
    session = dataclasses.replace(session, **own, **theirs, is_preemptible=True, is_private=False)
    if session.state is _S.RUNNING and chance.random() < 0.8:
        long_ago = factories.NOW - chance.randint(600, 606) * factories.SECOND
        return dataclasses.replace(session, started_at=long_ago, type=entities.SessionType.BATCH)
    return session


def _free(view: snapshot.Snapshot, node: entities.Node, kind: str) -> int:
    held = sum(a.slots.get(kind) for s in view.sessions for a in s.allocations if a.node_id == node.id)
    return node.capacity.get(kind) - held


def _request(chance: random.Random, node: entities.Node, free: dict[str, int]) -> resources.ResourceVector:
    """Ask for more than is free on the emptiest node, of one kind or of several, and mostly for what it has."""
    more = {"cpu": chance.randint(1, 7), "mem": chance.choice((-2, -2, -2, 1, 2, 5))}
    more["cuda.device"] = chance.choice((-9, -9, -9, 1, 2))
    amounts = {kind: min(max(0, free[kind] + more[kind]), node.capacity.get(kind)) for kind in free}
    return resources.ResourceVector(amounts | ({"cpu": 21} if chance.random() < 0.02 else {}))


def _mover(chance: random.Random, session: entities.Session, node: entities.Node) -> entities.Session:
    until = factories.NOW + chance.choice((-1, 0, 1))
    return dataclasses.replace(
        session,
        owner_id=chance.choice((1, 1, 1, 2)),
        priority=chance.randint(1, 6),
        job_priority=chance.randint(0, 5),
        backoff={node.id: until} if chance.random() < 0.15 else {},
        labels=session.labels if chance.random() < 0.3 else {},
        wall_limit_s=None,  # with one it might end before somebody's claim starts
        is_private=chance.random() < 0.03,
        node_count=2 if chance.random() < 0.03 else 1,
    )


def _running(chance: random.Random, session: entities.Session) -> entities.Session:
    change = chance.random()
    if change < 0.04:
        return dataclasses.replace(session, started_at=None)
    if change < 0.1:
        ending = {"state": chance.choice((_S.STOPPING, _S.TERMINATING)), "stop_deadline": _deadline(chance)}
        return _decided(
            chance, dataclasses.replace(session, **ending, stop_mode=chance.choice((None, *_MODE)))
        )
    return session


def _scheduled(chance: random.Random, session: entities.Session) -> entities.Session:
    is_resume = chance.random() < 0.4
    releases = frozenset({"cpu"}) if is_resume and chance.random() < 0.3 else None
    resume_slots = session.allocations if is_resume else ()
    session = dataclasses.replace(session, resume_slots=resume_slots, stop_releases=releases)
    if chance.random() < 0.7:
        return session
    mode = _MODE.SUSPEND if is_resume else _MODE.RESCHEDULE
    return dataclasses.replace(session, in_decision=True, stop_mode=mode, stop_deadline=_deadline(chance))


def _deadline(chance: random.Random) -> int | None:
    return chance.choice((None, factories.NOW - 1, factories.NOW, factories.NOW + 1))


def _edges(chance: random.Random, on_nodes: list[int]) -> tuple[entities.Edge, ...]:
    """Return, sometimes, who took something from whom: cycles that a stop would close, and none that stand."""
    if chance.random() < 0.6 or not on_nodes:
        return ()
    line = [*chance.sample(on_nodes, min(3, len(on_nodes)))]
    line.insert(chance.randint(0, len(line)), MOVER)
    return tuple(entities.Edge(*pair) for pair in itertools.pairwise(line) if chance.random() < 0.8)
