"""
What must be true of every snapshot and of every round's decisions, written independently of the code that
decides.

Used by tests, by audits of the live database and by sampling in production. Each finding is a sentence; an
empty list means that all is well. Source: RELIABILITY P01, P07, P11, P12, P13.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence

from scheduler.core import claim_invariants, decisions, entities, given, release, snapshot, states

_HOLDS_NOTHING = frozenset({states.SessionState.PENDING, states.SessionState.TERMINATED})
_WAITS = frozenset({states.SessionState.PENDING, states.SessionState.SUSPENDED})


def check_snapshot(view: snapshot.Snapshot) -> list[str]:
    """Return what a snapshot says that cannot be true."""
    return [*_sessions(view), *_nodes(view), *_reservations(view), *claim_invariants.of_snapshot(view)]


def _sessions(view: snapshot.Snapshot) -> Iterator[str]:
    seen: set[int] = set()
    for session in view.sessions:
        if session.id in seen:
            yield f"session {session.id} is listed twice"
        seen.add(session.id)
        if session.state in _HOLDS_NOTHING and session.allocations:
            yield f"session {session.id} is {session.state} and holds slots"
        if session.state is states.SessionState.RUNNING and not session.allocations:
            yield f"session {session.id} runs and holds nothing"
        node_ids = [held.node_id for held in session.allocations]
        if len(set(node_ids)) != len(node_ids):
            yield f"session {session.id} has two allocations on one node"


def _nodes(view: snapshot.Snapshot) -> Iterator[str]:
    for node in view.nodes:
        held = [a for s in view.sessions for a in s.allocations if a.node_id == node.id]
        drawn = [r for r in view.reservations if r.node_id == node.id]
        total = given.total([*(a.slots for a in held), *(r.drawn for r in drawn)])
        for kind, amount in total:
            if amount > node.capacity.get(kind):
                yield f"node {node.name} gives {amount} of {kind}, its capacity is {node.capacity.get(kind)}"
        yield from _indices(node, [*(a.indices for a in held), *(r.indices for r in drawn)])


def _indices(node: entities.Node, given: Sequence[Mapping[str, tuple[int, ...]]]) -> Iterator[str]:
    for kind, own in node.devices.items():
        used = [index for indices in given for index in indices.get(kind, ())]
        if len(set(used)) != len(used):
            yield f"node {node.name} gives a device of {kind} twice"
        if not set(used) <= set(own):
            yield f"node {node.name} gives a device of {kind} that it does not have"


def _reservations(view: snapshot.Snapshot) -> Iterator[str]:
    holders: set[int] = set()
    pending = {s.id for s in view.sessions if s.state is states.SessionState.PENDING}
    for reservation in view.reservations:
        if reservation.session_id in holders:
            yield f"session {reservation.session_id} has two reservations"
        holders.add(reservation.session_id)
        if reservation.session_id not in pending:
            yield f"reservation {reservation.id} is kept for a session that does not wait"
        if not reservation.slots.covers(reservation.drawn):
            yield f"reservation {reservation.id} has drawn more than it asks for"


def check_decisions(view: snapshot.Snapshot, found: Sequence[decisions.Decision]) -> list[str]:
    """Return what a round decided that it must not: headlines, rooms, limits, victims."""
    room = [*_headlines(view, found), *_rooms(view, found), *claim_invariants.of_decisions(view, found)]
    return [*room, *_limits(view, found), *_preemptions(view, found), *_takeovers(view, found)]


def _headlines(view: snapshot.Snapshot, found: Sequence[decisions.Decision]) -> Iterator[str]:
    waiting = {s.id for s in view.sessions if s.state in _WAITS}
    answered = sorted(d.session_id for d in found if not isinstance(d, decisions.Preempt))
    stopped = {
        i for d in found if isinstance(d, decisions.Preempt) and not d.is_shadow for i in d.victim_jobids
    }
    if len(set(answered)) != len(answered) or not waiting - stopped <= set(answered) <= waiting:
        yield f"waiting sessions {sorted(waiting)} got the answers {answered}"
    for place, one in enumerate(found):
        if isinstance(one, decisions.Preempt) and not one.is_shadow:
            after = found[place + 1] if place + 1 < len(found) else None
            awaiting = decisions.PendReason.AWAITING_VICTIMS
            is_awaiting = isinstance(after, decisions.Pend) and after.reason is awaiting
            if not is_awaiting or after is None or after.session_id != one.preempting_jobid:  # type: ignore[union-attr]
                yield f"the preemption for session {one.preempting_jobid} is not followed by its pend"


def _rooms(view: snapshot.Snapshot, found: Sequence[decisions.Decision]) -> Iterator[str]:
    """Grants and draws of the round, on top of what is held, never exceed a node."""
    by_id = {session.id: session for session in view.sessions}
    for node in view.nodes:
        extra = [*given.grants_on(by_id, found, node.id), *given.draws_on(found, node.id)]
        used = given.ended_on(view, found, node.id)
        held = [a for s in view.sessions for a in s.allocations if a.node_id == node.id]
        kept = [r for r in view.reservations if r.node_id == node.id and r.id not in used]
        total = given.total(
            [*(a.slots for a in held), *(r.drawn for r in kept), *(slots for slots, _ in extra)]
        )
        for kind, amount in total if extra else ():
            if amount > node.capacity.get(kind):
                yield f"the round gives {amount} of {kind} on node {node.name} of {node.capacity.get(kind)}"
        parts = [*(a.indices for a in held), *(r.indices for r in kept), *(indices for _, indices in extra)]
        yield from _indices(node, parts)
        yield from _places(view, found, node)


def _places(
    view: snapshot.Snapshot, found: Sequence[decisions.Decision], node: entities.Node
) -> Iterator[str]:
    if node.max_sessions is None:
        return
    holding = [
        s.id
        for s in view.sessions
        if release.holds_place(s) and any(a.node_id == node.id for a in s.allocations)
    ]
    starting = [
        d.session_id
        for d in found
        if isinstance(d, decisions.Dispatch) and any(g.node_id == node.id for g in d.grants)
    ]
    if starting and len(holding) + len(starting) > node.max_sessions:
        yield f"node {node.name} gets {len(holding) + len(starting)} sessions of {node.max_sessions}"


def _limits(view: snapshot.Snapshot, found: Sequence[decisions.Decision]) -> Iterator[str]:
    by_id = {session.id: session for session in view.sessions}
    for name, accounts in (("owner", view.owners), ("queue", view.queues)):
        for account in accounts:
            starts = [
                d
                for d in found
                if isinstance(d, decisions.Dispatch)
                and getattr(by_id[d.session_id], f"{name}_id") == account.id
            ]
            yield from _within(f"{name} {account.id}", account.usage, by_id, starts)


def _within(
    name: str,
    usage: entities.Usage,
    by_id: dict[int, entities.Session],
    starts: Sequence[decisions.Dispatch],
) -> Iterator[str]:
    held = {d.session_id: {a.node_id: a for a in by_id[d.session_id].allocations} for d in starts}
    parts = [given.beyond(g, held[d.session_id].get(g.node_id))[0] for d in starts for g in d.grants]
    asked = given.total(parts)
    for kind, most in usage.max_slots.items():
        if asked.get(kind) and usage.used.get(kind) + asked.get(kind) > most:
            yield f"{name} gets more {kind} than its limit of {most}"
    if starts and usage.max_sessions is not None and usage.sessions + len(starts) > usage.max_sessions:
        yield f"{name} gets more sessions than its limit of {usage.max_sessions}"


def _preemptions(view: snapshot.Snapshot, found: Sequence[decisions.Decision]) -> Iterator[str]:
    by_id = {session.id: session for session in view.sessions}
    stops = [d for d in found if isinstance(d, decisions.Preempt)]
    if stops and view.policy.state is entities.PreemptionState.OFF:
        yield "preemption is off and the round preempts"
    claimed: set[int] = set()
    started = {d.session_id for d in found if isinstance(d, decisions.Dispatch)}
    for stop in stops:
        preemptor = by_id[stop.preempting_jobid]
        if set(stop.victim_jobids) & started:
            yield f"a victim of session {preemptor.id} is started by the same round"
        if set(stop.victim_jobids) & claimed or len(set(stop.victim_jobids)) != stop.n_victims:
            yield f"a victim of session {preemptor.id} is stopped twice"
        claimed |= set(stop.victim_jobids)
        for victim_id in stop.victim_jobids:
            reason = why_illegal(view, preemptor, by_id[victim_id], stop.axis)
            if reason:
                yield f"session {victim_id} is stopped for session {preemptor.id}: {reason}"


def _takeovers(view: snapshot.Snapshot, found: Sequence[decisions.Decision]) -> Iterator[str]:
    """Whoever gives a reservation up comes later in the line, may be stopped by the taker, and gives it up once."""
    by_id = {session.id: session for session in view.sessions}
    holders = {reservation.id: reservation.session_id for reservation in view.reservations}
    line = [one.preempting_jobid if isinstance(one, decisions.Preempt) else one.session_id for one in found]
    taken: set[int] = set()
    for stop in (d for d in found if isinstance(d, decisions.Preempt) and d.takes_over is not None):
        holder_id = holders.get(stop.takes_over or 0, 0)
        if holder_id in taken or holder_id not in by_id:
            yield f"session {stop.preempting_jobid} takes over what is not there"
            continue
        taken.add(holder_id)
        if line.index(holder_id) < line.index(stop.preempting_jobid):
            yield f"session {stop.preempting_jobid} takes over from one ahead of it"
        holder = dataclasses.replace(by_id[holder_id], state=states.SessionState.RUNNING, started_at=0)
        reason = why_illegal(view, by_id[stop.preempting_jobid], holder, stop.axis)
        if reason:
            yield f"session {stop.preempting_jobid} takes over from session {holder_id}: {reason}"


def why_illegal(
    view: snapshot.Snapshot, preemptor: entities.Session, victim: entities.Session, axis: entities.Axis
) -> str:
    """Return why one session may not be stopped for another on an axis, "" when it may (edges aside)."""
    queues = {queue.id: queue for queue in view.queues}
    if axis is entities.Axis.OWNER:
        if victim.owner_id != preemptor.owner_id:
            return "another owner's"
        if victim.job_priority >= preemptor.job_priority:
            return "job priority not lower"
    else:
        own, theirs = queues.get(preemptor.queue_id), queues.get(victim.queue_id)
        if own is None or theirs is None or theirs.id not in own.preemptible_queues - {own.id}:
            return "queue not listed"
        if not theirs.preemptible:
            return "queue not preemptible"
        if victim.priority >= preemptor.priority:
            return "priority not lower"
        if victim.owner_id == preemptor.owner_id and victim.job_priority > preemptor.job_priority:
            return "ranked higher by its owner"
    return _why_protected(view, victim)


def _why_protected(view: snapshot.Snapshot, victim: entities.Session) -> str:
    rules, allowed = view.policy, {states.SessionState.RUNNING}
    if rules.cancel_unconfirmed_dispatch:
        allowed.add(states.SessionState.SCHEDULED)
    if rules.requeue_suspended:
        allowed.add(states.SessionState.SUSPENDED)
    if victim.state not in allowed or victim.in_decision:
        return "not running, or in another decision"
    if not victim.is_preemptible or victim.is_private or victim.is_system:
        return "opted out, private or system"
    most = rules.max_preemptions_per_session
    if most is not None and victim.times_preempted >= most:
        return "preempted too often"
    is_young = victim.started_at is None or victim.started_at + rules.min_runtime_s * 1_000_000 > view.now
    if victim.state is states.SessionState.RUNNING and rules.min_runtime_s and is_young:
        return "within the minimum runtime"
    return ""
