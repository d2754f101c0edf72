"""
What must be true of claims: who may hold one, and that nobody behind its holder takes what it keeps.

Source: DESIGN 4.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from scheduler.core import decisions, entities, given, resources, snapshot, states

#: Seconds from the end of a stop's grace to its deadline (DESIGN 5.1).
_MARGIN_S = 10
_WAITS = frozenset({states.SessionState.PENDING, states.SessionState.SUSPENDED})


def of_snapshot(view: snapshot.Snapshot) -> Iterator[str]:
    """Return what the claims of a snapshot say that cannot be true."""
    waits = {s.id for s in view.sessions if s.state in _WAITS and not s.is_held}
    holders: set[int] = set()
    for claim in view.claims:
        if claim.session_id in holders:
            yield f"session {claim.session_id} has two claims"
        holders.add(claim.session_id)
        if claim.session_id not in waits:
            yield f"a claim is kept for session {claim.session_id}, which does not wait"
        if not claim.node_ids or len(set(claim.node_ids)) != len(claim.node_ids):
            yield f"the claim of session {claim.session_id} names a node twice, or none"


def of_decisions(view: snapshot.Snapshot, found: Sequence[decisions.Decision]) -> Iterator[str]:
    """Return where somebody behind the holder of a claim got what the claim keeps."""
    rows = {claim.session_id: claim.node_ids for claim in view.claims}
    for place, one in enumerate(found):
        if not isinstance(one, decisions.Pend) or "kept" not in one.facts:
            continue
        if one.reason is not decisions.PendReason.ROOM_CLAIMED:
            node_ids = one.claim.node_ids if one.claim else rows[one.session_id]
            yield from _taken_from(view, found, place, node_ids)


def _taken_from(
    view: snapshot.Snapshot, found: Sequence[decisions.Decision], place: int, node_ids: tuple[int, ...]
) -> Iterator[str]:
    """Compare, by node, all that is given, those left out that end before the claim starts, with the capacity."""
    by_id = {session.id: session for session in view.sessions}
    holder = found[place]
    assert isinstance(holder, decisions.Pend)
    start = holder.facts.get("until")
    kept = _shares(by_id[holder.session_id], node_ids)
    later = [
        one
        for one in found[place + 1 :]
        if not _ends_before(view, one, by_id[_whose(one)], start)
        and not _holds(view, by_id[_whose(one)], kept)
    ]
    counted = [*found[:place], *later]
    for node in (node for node in view.nodes if node.id in node_ids):
        used = _used(view, counted, node.id) + _claimed(by_id[holder.session_id], node.id)
        for kind in _taken(by_id, later, node.id):
            if used.get(kind) > node.capacity.get(kind):
                yield f"{kind} that is kept on node {node.name} for session {holder.session_id} is taken"


def _whose(one: decisions.Decision) -> int:
    return one.preempting_jobid if isinstance(one, decisions.Preempt) else one.session_id


def _ends_before(
    view: snapshot.Snapshot, one: decisions.Decision, session: entities.Session, start: object
) -> bool:
    """Say whether a session ends before a claim's start, however long those take that stop for it."""
    if session.wall_limit_s is None or not isinstance(start, int):
        return False
    rules = view.policy
    waits_s = (
        0 if isinstance(one, decisions.Dispatch) else max(rules.grace_s, rules.suspend_grace_s) + _MARGIN_S
    )
    return view.now + (waits_s + session.wall_limit_s) * 1_000_000 <= start


def _shares(holder: entities.Session, node_ids: tuple[int, ...]) -> dict[int, resources.ResourceVector]:
    if holder.state is states.SessionState.SUSPENDED:
        return {own.node_id: own.slots for own in holder.resume_slots}
    return dict.fromkeys(node_ids, holder.request)


def _holds(
    view: snapshot.Snapshot, session: entities.Session, kept: dict[int, resources.ResourceVector]
) -> bool:
    """Say whether suspended sessions, this one among them, hold too much for the claim, were all others gone."""
    if session.state is not states.SessionState.SUSPENDED:
        return False
    capacity = {node.id: node.capacity for node in view.nodes}
    return any(
        own.slots.get(kind)
        and _held_by_suspended(view, own.node_id, kind) + amount > capacity[own.node_id].get(kind)
        for own in session.allocations
        for kind, amount in kept.get(own.node_id, resources.EMPTY)
    )


def _held_by_suspended(view: snapshot.Snapshot, node_id: int, kind: str) -> int:
    held = [
        own.slots.get(kind)
        for one in view.sessions
        if one.state is states.SessionState.SUSPENDED
        for own in one.allocations
        if own.node_id == node_id
    ]
    return sum(held)


def _used(
    view: snapshot.Snapshot, found: Sequence[decisions.Decision], node_id: int
) -> resources.ResourceVector:
    by_id = {session.id: session for session in view.sessions}
    ended = given.ended_on(view, found, node_id)
    held = [a.slots for s in view.sessions for a in s.allocations if a.node_id == node_id]
    kept = [r.drawn for r in view.reservations if r.node_id == node_id and r.id not in ended]
    fresh = [*given.grants_on(by_id, found, node_id), *given.draws_on(found, node_id)]
    return given.total([*held, *kept, *(slots for slots, _ in fresh)])


def _taken(
    by_id: dict[int, entities.Session], later: Sequence[decisions.Decision], node_id: int
) -> list[str]:
    """Return the kinds that starts and draws take on a node; who starts on a reservation had them before."""
    fresh = [d for d in later if not isinstance(d, decisions.Dispatch) or d.reservation_id is None]
    parts = (*given.grants_on(by_id, fresh, node_id), *given.draws_on(fresh, node_id))
    return sorted({kind for slots, _ in parts for kind in slots.kinds()})


def _claimed(holder: entities.Session, node_id: int) -> resources.ResourceVector:
    if holder.state is not states.SessionState.SUSPENDED:
        return holder.request
    own = {a.node_id: a.slots for a in holder.allocations}
    home = {a.node_id: a.slots for a in holder.resume_slots or holder.allocations}
    return home[node_id].minus_clamped(own.get(node_id, resources.EMPTY))
