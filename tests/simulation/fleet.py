"""
What machines and the books make of decisions: answers after a while, slots that are freed, room that is kept.

Source: DESIGN 3, 5.5, 5.6.
"""

from __future__ import annotations

import abc
import heapq
import random
from collections.abc import Callable, Iterable, Iterator

from scheduler.core import decisions, entities, invariants, resources, snapshot, states
from scheduler.core.preemption import handover
from tests.simulation import jobs

S, Mode = states.SessionState, entities.PreemptionMode
SECOND = jobs.SECOND
_BACKOFF_S, _MOST_BACKOFF_S = 60, 960


class Fleet(abc.ABC):
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
        self.passed_on: dict[int, jobs.Told] = {}  #: those of which a stop passed to another decision
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
            self.end_lost_or_withdrawn(kept, cause)

    def end_lost_or_withdrawn(self, kept: jobs.Kept, cause: str) -> None:
        is_lost = any(told.has_lost(heir) for told, heir in self.counted(kept))
        self.end(kept, "wasted" if is_lost else "withdrawn", cause)

    def counted(self, kept: jobs.Kept) -> list[tuple[jobs.Told, int | None]]:
        """Return the decisions whose victims a reservation answers for, each with the heir to ask of it."""
        own: list[tuple[jobs.Told, int | None]] = [
            (self.told[decision], None) for decision in (kept.decision, *kept.inherits)
        ]
        return own + [(told, kept.decision) for told in self.passed_on.values()]

    def end(self, kept: jobs.Kept, outcome: str, cause: str) -> None:
        """End a reservation, pass on the stops that another can go on with, and take back the rest."""
        del self.kept[kept.id]
        told = self.told[kept.decision]
        stops = self.stops_of(kept)
        left = [victim for victim in stops if not self._pass_on(victim)]
        self._close(told, outcome, cause)
        for victim in left:
            self._ask_back(victim)

    def stops_of(self, kept: jobs.Kept) -> list[int]:
        """Return the open stops that only this reservation still needs: its decision's, and those it took on."""
        holding = {one.decision for one in self.kept.values()}
        found = []
        for victim in sorted({*self.told[kept.decision].of(), *kept.waits_for}):
            job = self.jobs.get(victim)
            if job is None or job.decision is None or job.session.state is not S.PREEMPTED:
                continue
            heir = self.told[job.decision].heirs.get(victim, job.decision)
            if heir not in holding or heir == kept.decision:
                found.append(victim)
        return found

    def _close(self, told: jobs.Told, outcome: str, cause: str) -> None:
        if outcome != "withdrawn":
            told.close(outcome, cause)
        elif any(victim not in told.fates for victim in told.of()):
            told.given_up = cause
        else:
            told.close("transferred" if told.heirs else "withdrawn", "handed over" if told.heirs else cause)

    def _conclude(self, told: jobs.Told) -> None:
        if told.given_up and all(victim in told.fates for victim in told.of()):
            cause, told.given_up = told.given_up, ""
            self._close(told, "wasted" if told.has_lost() else "withdrawn", cause)

    def _pass_on(self, victim: int) -> bool:
        """Let the next holder that could itself have stopped a victim go on with its stop."""
        job = self.jobs[victim]
        told = self.told[job.decision or 0]
        heirs = {kept.holder: kept for kept in self.kept.values() if victim in kept.waits_for}
        action = told.orders[victim].action
        found = handover.next_holder(self.view(), victim, heirs, action) if heirs else None
        if found is None:
            return False
        self._is_legal(victim, found, action)
        told.heirs[victim] = heirs[found.session_id].decision
        self.passed_on[told.id] = told
        self.edges = [edge for edge in self.edges if edge[1:] != (victim, told.id)]
        self.edges.append((found.session_id, victim, told.id))
        return True

    def _is_legal(self, victim: int, found: handover.NextHolder, action: decisions.Action) -> None:
        """Ask the invariants, which know nothing of hand-overs, whether the heir might have stopped the victim."""
        before = handover.as_before(self.jobs[victim].session, action)
        why = invariants.why_illegal(self.view(), self.jobs[found.session_id].session, before, found.axis)
        if why:
            raise jobs.Fault(f"session {found.session_id} goes on with the stop of session {victim}: {why}")

    def _ask_back(self, victim: int) -> None:
        """Take a stop back while it can be; whoever counts on it waits anew."""
        job = self.jobs[victim]
        told = self.told[job.decision or 0]
        order = told.orders[victim]
        is_kill = order.mode is not Mode.SUSPEND
        if job.session.is_withdrawing or order.action is decisions.Action.REQUEUE_SUSPENDED:
            return
        if is_kill and told.at + order.grace_s * SECOND <= self.now:
            return
        job.change(is_withdrawing=True)
        self.later(job, self.chance.randint(0, SECOND), self._asked_back)
        for kept in [one for one in self.kept.values() if victim in one.waits_for]:
            if kept.id in self.kept:
                self.end_lost_or_withdrawn(kept, "its victim goes on")

    def take_back(self, victims: Iterable[int]) -> None:
        """Pass on or take back stops that are not needed any more."""
        for victim in victims:
            if not self._pass_on(victim):
                self._ask_back(victim)

    @abc.abstractmethod
    def view(self) -> snapshot.Snapshot:
        """Return the picture of now."""

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
