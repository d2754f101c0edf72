"""
What must be true of claims: who may hold one, and that nobody behind its holder takes what it keeps.

Source: DESIGN 4.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from scheduler.core import decisions, entities, given, resources, snapshot, states

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
    later = [
        one
        for one in found[place + 1 :]
        if not _ends_before(view, by_id[_whose(one)], start) and not _holds(by_id[_whose(one)], node_ids)
    ]
    counted = [*found[:place], *later]
    for node in (node for node in view.nodes if node.id in node_ids):
        used = _used(view, counted, node.id) + _claimed(by_id[holder.session_id], node.id)
        for kind in _taken(by_id, later, node.id):
            if used.get(kind) > node.capacity.get(kind):
                yield f"{kind} that is kept on node {node.name} for session {holder.session_id} is taken"


def _whose(one: decisions.Decision) -> int:
    return one.preempting_jobid if isinstance(one, decisions.Preempt) else one.session_id


def _ends_before(view: snapshot.Snapshot, session: entities.Session, start: object) -> bool:
    if session.wall_limit_s is None or not isinstance(start, int):
        return False
    return view.now + session.wall_limit_s * 1_000_000 <= start


def _holds(session: entities.Session, node_ids: tuple[int, ...]) -> bool:
    """Say whether a suspended session holds something there: it may be what the claim waits for."""
    is_suspended = session.state is states.SessionState.SUSPENDED
    return is_suspended and any(own.node_id in node_ids for own in session.allocations)


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
