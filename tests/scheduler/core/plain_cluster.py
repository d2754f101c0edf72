"""
What a snapshot says is free, leaving and left of limits, added up from what its sessions hold, in plain words.

Nothing of the core's ledger is used. Every claim is taken to be one of somebody further ahead in the line, and to
count. Source: DESIGN 4 (claims), 5.1, 5.6, 5.7.
"""

from __future__ import annotations

from collections.abc import Sequence

from scheduler.core import entities, snapshot, states

_S, _MODE = states.SessionState, entities.PreemptionMode
#: Kind under which session places are counted beside slots.
PLACE = "a session place"
Frees = dict[int, dict[str, int]]


class Cluster:
    """A snapshot with its sessions, queues and nodes by id."""

    def __init__(self, view: snapshot.Snapshot) -> None:
        self.view, self.rules = view, view.policy
        self.sessions = {session.id: session for session in view.sessions}
        self.queues = {queue.id: queue for queue in view.queues}
        self.nodes = {node.id: node for node in view.nodes}
        self.claims = view.claims
        self._frees: dict[int, Frees] = {}

    def frees(self, session: entities.Session) -> Frees:
        """Return, by node and kind, what the stop of a session frees, or what its ordered stop will free."""
        if session.id not in self._frees:
            self._frees[session.id] = self._freed(session)
        return self._frees[session.id]

    def _freed(self, session: entities.Session) -> Frees:
        mode = self.mode_of(session)
        kinds = self.rules.suspend_releases if mode is _MODE.SUSPEND else None
        is_decided = session.state is _S.SCHEDULED or self._is_being_stopped(session)
        if mode is _MODE.SUSPEND and is_decided and session.stop_releases is not None:
            kinds = session.stop_releases
        found = {
            a.node_id: {kind: n for kind, n in a.slots if kinds is None or kind in kinds}
            for a in session.allocations
        }
        if self._has_place(session):
            for amounts in found.values():
                amounts[PLACE] = 1
        return found

    def _has_place(self, session: entities.Session) -> bool:
        return session.state is not _S.SUSPENDED and session.is_counted

    def mode_of(self, session: entities.Session) -> entities.PreemptionMode:
        """Return the mode in which a session would be stopped, or is being stopped."""
        if self._is_being_stopped(session):
            return session.stop_mode or _MODE.TERMINATE
        if session.state is _S.SCHEDULED:  # a cancelled resume is suspended as before
            return _MODE.SUSPEND if session.resume_slots else _MODE.RESCHEDULE
        if session.state is _S.SUSPENDED:
            return _MODE.RESCHEDULE
        return self.queues[session.queue_id].preemption_mode or self.rules.mode

    def _is_being_stopped(self, session: entities.Session) -> bool:
        is_cancelled = session.state is _S.SCHEDULED and session.in_decision
        return is_cancelled or session.state in (_S.PREEMPTED, _S.STOPPING, _S.TERMINATING)

    def is_leaving(self, session: entities.Session) -> bool:
        """Say whether its stop is ordered and not taken back."""
        return self._is_being_stopped(session) and not session.is_withdrawing

    def is_releasing(self, session: entities.Session) -> bool:
        """Say whether what it will free may be counted on."""
        return self.is_leaving(session) and (session.stop_deadline or self.view.now) >= self.view.now

    def free(self, node: entities.Node, kind: str) -> int:
        """Return what nobody holds, no reservation has drawn, and no claim keeps; below zero where others hold that."""
        return self._unheld(node, kind) - self._claimed(node, kind)

    def _claimed(self, node: entities.Node, kind: str) -> int:
        holders = (self.sessions[claim.session_id] for claim in self.claims if node.id in claim.node_ids)
        return sum(1 if kind == PLACE else holder.request.get(kind) for holder in holders)

    def _unheld(self, node: entities.Node, kind: str) -> int:
        if kind == PLACE:
            live = (s for s in self.view.sessions if self._has_place(s))
            held = sum(a.node_id == node.id for s in live for a in s.allocations)
            return (node.max_sessions or 0) - held - sum(r.node_id == node.id for r in self.view.reservations)
        held = sum(
            a.slots.get(kind) for s in self.view.sessions for a in s.allocations if a.node_id == node.id
        )
        drawn = sum(r.drawn.get(kind) for r in self.view.reservations if r.node_id == node.id)
        return node.capacity.get(kind) - held - drawn

    def releasing(self, node: entities.Node, kind: str) -> int:
        """Return what those being stopped will free here, net of what reservations were promised of it."""
        coming = {
            s.id: self.frees(s).get(node.id, {}).get(kind, 0)
            for s in self.view.sessions
            if self.is_releasing(s)
        }
        promised = 0
        for kept in self.view.reservations:
            if kept.node_id == node.id and kind != PLACE:
                own = sum(coming.get(i, 0) for i in kept.victim_ids)
                promised += min(kept.slots.get(kind) - kept.drawn.get(kind), own)
        return max(0, sum(coming.values()) - promised)

    def left(self, usage: entities.Usage, own: Sequence[entities.Session]) -> dict[str, int]:
        """Return, by limited kind, what a limit of these sessions leaves once all that is leaving has left."""
        most = dict(usage.max_slots) | ({PLACE: usage.max_sessions} if usage.max_sessions is not None else {})
        found = {}
        for kind, limit in most.items():
            used = usage.sessions if kind == PLACE else usage.used.get(kind)
            back = sum(self.given_back(session, kind) for session in own if self.is_releasing(session))
            for kept in self.view.reservations:
                if self.sessions[kept.session_id] in own:
                    used, back = self._reserved(kept, kind, own, used, back)
            found[kind] = limit - used + back
        return found

    def given_back(self, session: entities.Session, kind: str) -> int:
        """Return what a stop gives back of a limit, over all nodes."""
        amounts = [on.get(kind, 0) for on in self.frees(session).values()]
        return max(amounts, default=0) if kind == PLACE else sum(amounts)

    def _reserved(
        self, kept: entities.Reservation, kind: str, own: Sequence[entities.Session], used: int, back: int
    ) -> tuple[int, int]:
        """Count a reservation net of its own victims, and let their room come back for nobody else."""
        wanted = 1 if kind == PLACE else kept.slots.get(kind)
        held = sum(self.given_back(s, kind) for s in own if s.id in kept.victim_ids and self.is_leaving(s))
        coming = sum(
            self.given_back(s, kind) for s in own if s.id in kept.victim_ids and self.is_releasing(s)
        )
        return used + max(0, wanted - held), back - min(wanted, coming)
