"""
One round's working state: the snapshot by id, the ledger, who is already a victim, and the edges of the cycle
guard.

Made at the start of a round and thrown away at its end; nothing else in the core changes.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from scheduler.core import boards, entities, ledger, release, rooms, snapshot, states

T = TypeVar("T")


@dataclasses.dataclass(frozen=True, slots=True)
class Standing:
    """A claim that is in force in this round, for those that come after its holder in the line."""

    holder_id: int
    parts: tuple[entities.Allocation, ...]  #: what is kept on each node; very indices for a resume alone
    start: int | None  #: when its holder can start at the latest; None = unknown


class Context:
    """What a round knows and has decided so far."""

    def __init__(self, view: snapshot.Snapshot) -> None:
        self.view = view
        self.policy = view.policy
        self.now = view.now
        self.nodes = tuple(sorted(view.nodes, key=lambda node: (node.name, node.id)))
        self.node_by_id: Mapping[int, entities.Node] = {node.id: node for node in view.nodes}
        self.queue_by_id: Mapping[int, entities.Queue] = {queue.id: queue for queue in view.queues}
        self.session_by_id: Mapping[int, entities.Session] = {s.id: s for s in view.sessions}
        self.running = tuple(sorted((s for s in view.sessions if _is_on_node(s)), key=lambda s: s.id))
        self.running_by_owner = _grouped(self.running, "owner_id")
        self.running_by_queue = _grouped(self.running, "queue_id")
        self.reservation_by_session = {r.session_id: r for r in view.reservations}
        self.claim_by_session = {claim.session_id: claim for claim in view.claims}
        self.ledger = ledger.Ledger(view)
        self.standing: list[Standing] = []  #: claims in force, in the order of the line
        self.lifted: frozenset[int] = frozenset()  #: holders whose claims do not count for the one looked at
        self.has_first = False  #: the first session that lacks slots has been met
        self.claimed: set[int] = set()  #: victims of this round's decisions
        self.resumed: set[int] = set()  #: suspended sessions that this round starts again
        self.failed_policies: dict[str, str] = {}  #: name -> how it failed; not asked again in this round
        #: node id -> whom this round's reservations count on there, and what they were promised of them
        self.promises: dict[int, list[tuple[frozenset[int], rooms.Amounts]]] = {}
        self.set_aside: set[int] = set()  #: reservations that are looked at as if they did not stand
        self.counted_on: set[int] = set()  #: sessions whose stop this round's reservations count on
        self._winners: dict[int, set[int]] = {}
        for edge in view.edges:
            self.add_edge(edge.winner_id, edge.loser_id)
        self._plans: dict[int, release.StopPlan] = {}
        self._unchanged: dict[object, Any] = {}
        self._version = -1
        self._all_round: dict[object, Any] = {}
        self._by_room: dict[object, tuple[int, Any]] = {}
        self._answers: dict[object, Any] = {}
        self._answers_version = -1
        self.without_room: set[object] = set()  #: shapes that fit nowhere, with the ledger's growth then
        self.recorded = 0  #: verdicts written into pends
        self.records_all = False  #: whether there may be any number of these
        self.search_steps = 0  #: spent on victim sets
        self.steps_before = 0  #: of them before the decision that is being made
        self.starts = 0  #: dispatches of this round, for round_robin

    def add_edge(self, winner_id: int, loser_id: int) -> None:
        """Remember that ``winner`` takes something from ``loser``."""
        self._winners.setdefault(loser_id, set()).add(winner_id)

    def has_lost(self, session_id: int) -> bool:
        """Say whether somebody took something from ``session_id``."""
        return session_id in self._winners

    def above(self, session_id: int) -> frozenset[int]:
        """Return every session that, over edges of any number, took something from ``session_id``."""
        seen: set[int] = set()
        todo = [session_id]
        while todo:
            for winner_id in self._winners.get(todo.pop(), ()):
                if winner_id not in seen:
                    seen.add(winner_id)
                    todo.append(winner_id)
        return frozenset(seen)

    def board(self) -> boards.Board:
        """Return the rooms as rows of numbers, as the ledger stands now."""
        return self.while_unchanged("board", self._board)

    def _board(self) -> boards.Board:
        board = self.all_round(("board", self.lifted), self._new_board)
        board.follow()
        return board

    def _new_board(self) -> boards.Board:
        own = [self.ledger.rooms[node.id] for node in self.nodes]
        return boards.Board(self.nodes, own, self.ledger.touched)

    def stop_plan(self, session: entities.Session) -> release.StopPlan:
        """Return how ``session`` would be stopped; computed once per round."""
        plan = self._plans.get(session.id)
        if plan is None:
            queue = self.queue_by_id.get(session.queue_id)
            plan = self._plans[session.id] = release.plan_stop(session, queue, self.policy)
        return plan

    def while_unchanged(self, key: object, make: Callable[[], T]) -> T:
        """Return what ``make`` returned for this key since the ledger last changed."""
        if self._version != self.ledger.version:
            self._unchanged.clear()
            self._version = self.ledger.version
        return _remembered(self._unchanged, (self.lifted, key), make)

    def while_room_unchanged(self, room: rooms.Room, key: object, make: Callable[[], T]) -> T:
        """Return what ``make`` returned for this node and key since the node's room last changed."""
        place = (room.node.id, self.lifted, key)
        known = self._by_room.get(place)
        if known is None or known[0] != room.version:
            known = self._by_room[place] = (room.version, make())
        found: T = known[1]
        return found

    def answers(self) -> dict[object, Any]:
        """Return what sessions without room were told since the ledger last changed, by ``likeness``."""
        if self._answers_version != self.ledger.version:
            self._answers = {}
            self._answers_version = self.ledger.version
        return self._answers

    def all_round(self, key: object, make: Callable[[], T]) -> T:
        """Return what ``make`` returned for this key in this round."""
        return _remembered(self._all_round, key, make)


def _remembered(memory: dict[object, Any], key: object, make: Callable[[], T]) -> T:
    if key not in memory:
        memory[key] = make()
    found: T = memory[key]
    return found


def _grouped(sessions: tuple[entities.Session, ...], field: str) -> dict[int, list[entities.Session]]:
    groups: dict[int, list[entities.Session]] = {}
    for session in sessions:
        groups.setdefault(getattr(session, field), []).append(session)
    return groups


def _is_on_node(session: entities.Session) -> bool:
    return session.state in states.LIVE
