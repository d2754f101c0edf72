"""
What machines and the books make of decisions: answers after a while, slots that are freed, room that is kept.

Source: DESIGN 3, 5.5, 5.6.
"""

from __future__ import annotations

import heapq
import random
from collections.abc import Callable, Iterator

from scheduler.core import decisions, entities, resources, states
from tests.simulation import jobs

S, Mode = states.SessionState, entities.PreemptionMode
SECOND = jobs.SECOND
_BACKOFF_S, _MOST_BACKOFF_S = 60, 960


class Fleet:
    """One resource group: what runs on it, what is kept, and the answers that are under way."""

    def __init__(
        self,
        nodes: tuple[entities.Node, ...],
        queues: tuple[entities.Queue, ...],
        policy: entities.Policy,
        *,
        seed: int,
    ) -> None:
        self.nodes, self.queues, self.policy = nodes, queues, policy
        self.chance = random.Random(seed)
        self.now, self.rounds, self._last_id = 0, 0, 0
        self.slow = 0.0  #: share of stops that overrun every deadline
        self.jobs: dict[int, jobs.Job] = {}
        self.kept: dict[int, jobs.Kept] = {}
        self.told: dict[int, jobs.Told] = {}
        self.edges: list[tuple[int, int, int]] = []  #: winner, loser, decision
        self.claims: dict[int, entities.Claim] = {}
        self.backoffs: dict[tuple[int, int], tuple[int, int]] = {}  #: (session, node) -> (until, seconds)
        self.answers: dict[int, decisions.Decision] = {}  #: of the last round, by session
        self.due: list[tuple[int, int, int, int, Callable[[jobs.Job], None]]] = []

    def new_id(self) -> int:
        """Return the next number; sessions, reservations and decisions share them."""
        self._last_id += 1
        return self._last_id

    # The fleet's answers

    def later(self, job: jobs.Job, after: int, act: Callable[[jobs.Job], None]) -> None:
        heapq.heappush(self.due, (self.now + after, self.new_id(), job.session.id, job.token, act))

    def confirm(self, job: jobs.Job) -> None:
        job.change(
            state=S.RUNNING,
            started_at=self.now,
            resume_slots=(),
            in_decision=False,
            stop_failed_since_start=False,
        )
        job.runs_since = self.now
        self.claims.pop(job.session.id, None)
        self.later(job, job.work, self._ended)

    def _ended(self, job: jobs.Job) -> None:
        self.gone(job.session.id, fate="finished")

    def stopped(self, job: jobs.Job) -> None:
        session = job.session
        told = self.told[job.decision or 0]
        mode = told.orders[session.id].mode
        told.fates[session.id] = "stopped"
        if mode is Mode.TERMINATE:
            self.gone(session.id)
            return
        clear = {
            "in_decision": False,
            "is_withdrawing": False,
            "stop_mode": None,
            "stop_deadline": None,
            "started_at": None,
            "times_preempted": session.times_preempted + 1,
        }
        if mode is Mode.SUSPEND:
            left = [
                entities.Allocation(a.node_id, a.slots - self.policy.releases(mode, a.slots))
                for a in session.allocations
            ]
            rest = tuple(a for a in left if a.slots)
            job.change(state=S.SUSPENDED, allocations=rest, resume_slots=session.allocations, **clear)
        else:
            attempt = session.attempt + 1
            job.change(state=S.PENDING, allocations=(), resume_slots=(), attempt=attempt, **clear)
        job.decision = None
        self.draw(session)
        self._conclude(told)

    def undo_dispatch(self, job: jobs.Job) -> None:
        session = job.session
        told = self.told[job.decision or 0]
        told.fates[session.id] = "stopped"
        clear = {"in_decision": False, "is_withdrawing": False, "stop_mode": None, "stop_deadline": None}
        if session.resume_slots:
            rest = [
                entities.Allocation(a.node_id, a.slots - self.policy.releases(Mode.SUSPEND, a.slots))
                for a in session.resume_slots
            ]
            job.change(state=S.SUSPENDED, allocations=tuple(a for a in rest if a.slots), **clear)
        else:
            job.change(state=S.PENDING, allocations=(), **clear)
        job.decision = None
        self.draw(session)
        self._conclude(told)

    def _asked_back(self, job: jobs.Job) -> None:
        """Answer a withdrawal: the victim runs on, unless its kill has begun."""
        told = self.told[job.decision or 0]
        session_id = job.session.id
        told.fates[session_id] = "undone"
        self.edges = [edge for edge in self.edges if edge[1:] != (session_id, told.id)]
        job.decision = None
        job.change(
            state=S.RUNNING, in_decision=False, is_withdrawing=False, stop_mode=None, stop_deadline=None
        )
        job.runs_since = self.now
        self.later(job, job.work, self._ended)
        self._conclude(told)

    # Reservations

    def draw(self, freed: entities.Session) -> None:
        """Give what a session has freed to the reservations that were promised it, oldest first."""
        for kept in sorted(self.kept.values(), key=lambda one: one.id):
            if freed.id in kept.waits_for:
                kept.waits_for.discard(freed.id)
                kept.drawn += kept.slots.minus_clamped(kept.drawn).minimum(self.free(kept.node_id))

    def expire(self, kept: jobs.Kept) -> None:
        place = (kept.holder, kept.node_id)
        _, seconds = self.backoffs.get(place, (0, _BACKOFF_S // 2))
        seconds = min(seconds * 2, _MOST_BACKOFF_S)
        self.end(kept, "wasted", "timed out")
        self.backoffs[place] = (self.now + seconds * SECOND, seconds)

    def end_of_holder(self, session_id: int, cause: str) -> None:
        for kept in [one for one in self.kept.values() if one.holder == session_id]:
            self.end(kept, "wasted" if self.told[kept.decision].has_lost else "withdrawn", cause)

    def end(self, kept: jobs.Kept, outcome: str, cause: str) -> None:
        del self.kept[kept.id]
        told = self.told[kept.decision]
        if outcome == "withdrawn" and any(victim not in told.fates for victim in told.orders):
            told.given_up = cause
        else:
            told.close(outcome, cause)
        self.withdraw(told)

    def withdraw(self, told: jobs.Told, only: set[int] | None = None) -> None:
        for victim, order in told.orders.items():
            job = self.jobs.get(victim)
            is_mine = job is not None and job.decision == told.id and (only is None or victim in only)
            if (
                job is None
                or not is_mine
                or job.session.state is not S.PREEMPTED
                or job.session.is_withdrawing
            ):
                continue
            is_kill = order.mode is not Mode.SUSPEND
            if order.action is decisions.Action.REQUEUE_SUSPENDED:
                continue
            if is_kill and told.at + order.grace_s * SECOND <= self.now:
                continue
            job.change(is_withdrawing=True)
            self.later(job, self.chance.randint(0, SECOND), self._asked_back)
            for kept in [one for one in self.kept.values() if victim in one.waits_for]:
                self.end(kept, "withdrawn", "its victim goes on")

    def _conclude(self, told: jobs.Told) -> None:
        if told.given_up and all(victim in told.fates for victim in told.orders):
            told.close("wasted" if told.has_lost else "withdrawn", told.given_up)

    def gone(self, session_id: int, fate: str = "") -> None:
        job = self.jobs.pop(session_id)
        self.claims.pop(session_id, None)
        self.edges = [edge for edge in self.edges if session_id not in edge[:2]]
        self.end_of_holder(session_id, "preemptor gone")
        self.draw(job.session)
        if job.decision is not None:
            told = self.told[job.decision]
            told.fates.setdefault(session_id, fate or "finished")
            self._conclude(told)

    # Room

    def free_signed(self, node: entities.Node) -> Iterator[tuple[str, int]]:
        """Return what is free of each kind on a node; below zero when more was given than there is."""
        given: dict[str, int] = {}
        parts = [
            a.slots for job in self.jobs.values() for a in job.session.allocations if a.node_id == node.id
        ]
        parts += [kept.drawn for kept in self.kept.values() if kept.node_id == node.id]
        for slots in parts:
            for kind, amount in slots:
                given[kind] = given.get(kind, 0) + amount
        for kind, amount in node.capacity:
            yield kind, amount - given.get(kind, 0)

    def free(self, node_id: int) -> resources.ResourceVector:
        """Return what is free on a node."""
        node = next(one for one in self.nodes if one.id == node_id)
        return resources.ResourceVector({kind: max(0, amount) for kind, amount in self.free_signed(node)})
