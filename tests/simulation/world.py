"""
A cluster on virtual time: the real core, with what commits and agents make of its answers, in memory.

One step is one second: the fleet's answers that are due, deadlines, then one round whose decisions are checked against
the invariants and carried out. All chance comes from one seed. Source: DESIGN 3 to 6, RELIABILITY 9.
"""

from __future__ import annotations

import dataclasses
import heapq

from scheduler.core import decisions, entities, invariants, ordering, rounds, snapshot, states
from tests import strategies
from tests.simulation import fleet, jobs

S = states.SessionState
SECOND = jobs.SECOND
LACKS_SLOTS = frozenset(
    {
        *decisions.SHORT_OF_SLOTS,
        decisions.PendReason.HOLDS_CLAIM,
        decisions.PendReason.ROOM_CLAIMED,
        decisions.PendReason.AWAITING_VICTIMS,
        decisions.PendReason.AWAITING_RELEASE,
        decisions.PendReason.POLICY_FAILED,
    }
)


Fault = jobs.Fault


class World(fleet.Fleet):
    """One resource group with its nodes, queues, owners and everything that ever ran on it."""

    # What people do

    def submit(self, work_s: int, **fields: object) -> int:
        """Submit a session that runs for ``work_s`` seconds."""
        session_id = self.new_id()
        fixed = {"id": session_id, "state": S.PENDING, "submitted_at": self.now}
        session = entities.Session(**(fixed | fields))  # type: ignore[arg-type]
        self.jobs[session_id] = jobs.Job(session, work_s * SECOND)
        return session_id

    def cancel(self, session_id: int) -> None:
        """End a session that waits, for good."""
        job = self.jobs[session_id]
        if job.session.state is S.PENDING:
            self.gone(session_id)

    def edit(self, session_id: int, **fields: object) -> None:
        """Change priorities: what was reserved for it ends, and it may be met anew."""
        job = self.jobs[session_id]
        job.session = dataclasses.replace(job.session, **fields)
        self.edges = [edge for edge in self.edges if session_id not in edge[:2]]
        self.claims.pop(session_id, None)
        self.end_of_holder(session_id, "preemptor edited")

    # One step

    def step(self) -> None:
        """Let a second pass, then run one round."""
        self.now += SECOND
        while self.due and self.due[0][0] <= self.now:
            _, _, session_id, token, act = heapq.heappop(self.due)
            job = self.jobs.get(session_id)
            if job is not None and job.token == token:
                act(job)
        for kept in sorted(self.kept.values(), key=lambda one: one.id):
            if kept.id in self.kept and self.now > kept.deadline:
                self.expire(kept)
        self.round()

    def round(self) -> None:
        """Run the core on the picture of now, check what it says, and carry it out."""
        self.rounds += 1
        view = self.view()
        found: list[decisions.Decision] = []
        rounds.run_round(view, found.append)
        wrong = [*invariants.check_snapshot(view), *invariants.check_decisions(view, found)]
        if wrong:
            raise Fault(f"round {self.rounds}: {'; '.join(wrong)}")
        self.answers = {}
        for one in found:
            self._carry_out(one)
        self._no_cycle()

    def view(self) -> snapshot.Snapshot:
        """Return the picture of now."""
        sessions = tuple(self._seen(job.session) for job in self.jobs.values())
        owners = tuple(entities.Owner(owner) for owner in sorted({one.owner_id for one in sessions}))
        view = snapshot.Snapshot(
            group="g",
            now=self.now,
            policy=self.policy,
            is_starting=True,
            nodes=self.nodes,
            queues=self.queues,
            owners=owners,
            sessions=sessions,
            reservations=tuple(self._reservation(kept) for kept in self.kept.values()),
            edges=tuple(entities.Edge(winner, loser) for winner, loser, _ in self.edges),
            claims=tuple(claim for claim in self.claims.values() if self._waits(claim.session_id)),
            round_number=self.rounds,
        )
        return strategies.with_usage(view)

    def _waits(self, session_id: int) -> bool:
        return self.jobs[session_id].session.state in ordering.WAITING

    def _seen(self, session: entities.Session) -> entities.Session:
        closed = {
            node_id: until
            for (session_id, node_id), (until, _) in self.backoffs.items()
            if session_id == session.id and until > self.now
        }
        return dataclasses.replace(session, backoff=closed) if closed else session

    def _reservation(self, kept: jobs.Kept) -> entities.Reservation:
        return entities.Reservation(
            id=kept.id,
            session_id=kept.holder,
            node_id=kept.node_id,
            slots=kept.slots,
            drawn=kept.drawn,
            victim_ids=tuple(sorted(kept.waits_for)),
            deadline=kept.deadline,
            is_wait=kept.is_wait,
            is_binding=any(told.has_begun_to_kill(self.now, heir) for told, heir in self.counted(kept)),
        )

    def _no_cycle(self) -> None:
        above: dict[int, set[int]] = {}
        for winner, loser, _ in self.edges:
            above.setdefault(loser, set()).add(winner)
        for start in above:
            seen, todo = set(), list(above[start])
            while todo:
                one = todo.pop()
                if one == start:
                    raise Fault(f"round {self.rounds}: session {start} took from itself over {seen}")
                if one not in seen:
                    seen.add(one)
                    todo += above.get(one, ())

    # Decisions

    def _carry_out(self, one: decisions.Decision) -> None:
        if isinstance(one, decisions.Preempt):
            if not one.is_shadow:
                self._preempt(one)
            return
        self.answers[one.session_id] = one
        if isinstance(one, decisions.Dispatch):
            self._dispatch(one)
            return
        job = self.jobs[one.session_id]
        lacks = one.reason in LACKS_SLOTS
        since = (job.session.waiting_since or self.now) if lacks else None
        job.session = dataclasses.replace(job.session, waiting_since=since)
        if one.claim is not None:
            self.claims[one.session_id] = one.claim
        if one.wait is not None:
            told = self._tell(one.session_id, {})
            self._keep(one.session_id, one.wait, one.wait.releasing_ids, told, is_wait=True)

    def _tell(self, preemptor: int, orders: dict[int, decisions.VictimOrder]) -> jobs.Told:
        told = jobs.Told(self.new_id(), preemptor, self.now, orders)
        self.told[told.id] = told
        return told

    def _keep(
        self,
        holder: int,
        room: decisions.Preempt | decisions.Wait,
        waits_for: tuple[int, ...],
        told: jobs.Told,
        *,
        is_wait: bool,
    ) -> None:
        longest = max((o.grace_s for o in told.orders.values()), default=self.policy.grace_s)
        deadline = self.now + (longest + self.policy.in_flight_timeout_s) * SECOND
        if not self.free(room.node_id).covers(room.draw):
            raise Fault(f"round {self.rounds}: {holder} draws {room.draw} of {self.free(room.node_id)}")
        kept = jobs.Kept(
            self.new_id(),
            holder,
            room.node_id,
            room.slots,
            room.draw,
            set(waits_for),
            deadline,
            told.id,
            is_wait,
        )
        self.kept[kept.id] = kept

    def _preempt(self, one: decisions.Preempt) -> None:
        told = self._tell(one.preempting_jobid, {order.session_id: order for order in one.victims})
        waits_for = (*one.victim_jobids, *one.releasing_ids)
        old = self._taken_over(one, told) if one.takes_over is not None else None
        self._keep(one.preempting_jobid, one, waits_for, told, is_wait=False)
        if old is not None:
            mine = max(self.kept.values(), key=lambda kept: kept.id)
            mine.inherits = old.inherits | {old.decision}
            mine.deadline = mine.deadline if one.victims else old.deadline
        for order in one.victims:
            self.edges.append((one.preempting_jobid, order.session_id, told.id))
            self._order_stop(order, told)

    def _taken_over(self, one: decisions.Preempt, told: jobs.Told) -> jobs.Kept:
        old = self.kept.pop(one.takes_over or 0)
        self.edges.append((one.preempting_jobid, old.holder, told.id))
        self.told[old.decision].close("transferred", "taken over")
        others = {victim for kept in self.kept.values() for victim in kept.waits_for}
        needed = {*one.releasing_ids, *one.victim_jobids, *others}
        self.take_back(victim for victim in self.stops_of(old) if victim not in needed)
        return old

    def _order_stop(self, order: decisions.VictimOrder, told: jobs.Told) -> None:
        job = self.jobs[order.session_id]
        job.decision = told.id
        until = self.now + (order.grace_s + 10) * SECOND
        took = self.chance.randint(0, order.grace_s * SECOND)
        if self.chance.random() < self.slow:
            took += 3600 * SECOND
        if order.action is decisions.Action.CANCEL_DISPATCH:
            job.change(in_decision=True, stop_mode=order.mode, stop_deadline=until)
            self.later(job, took, self.undo_dispatch)
            return
        if job.session.state is S.RUNNING:
            job.work = max(SECOND, job.work - (self.now - job.runs_since))
        job.change(state=S.PREEMPTED, in_decision=True, stop_mode=order.mode, stop_deadline=until)
        self.later(job, took, self.stopped)

    def _dispatch(self, one: decisions.Dispatch) -> None:
        job = self.jobs[one.session_id]
        mine = next((k for k in self.kept.values() if k.holder == one.session_id), None)
        if mine is not None and mine.id == one.reservation_id:
            self._used(mine)
        elif mine is not None:
            self.end(mine, "withdrawn", "placed elsewhere")
        held = tuple(entities.Allocation(g.node_id, g.slots, g.indices) for g in one.grants)
        before = job.session.resume_slots if one.is_resume else ()
        job.change(state=S.SCHEDULED, allocations=held, resume_slots=before, waiting_since=None)
        job.session = dataclasses.replace(job.session, epoch=job.session.epoch + 1)
        for node in self.nodes:
            if min((amount for _, amount in self.free_signed(node)), default=0) < 0:
                raise Fault(f"round {self.rounds}: node {node.name} gave out more than it has")
        self.later(job, self.chance.randint(0, 2 * SECOND), self.confirm)

    def _used(self, mine: jobs.Kept) -> None:
        told = self.told[mine.decision]
        del self.kept[mine.id]
        stops = self.stops_of(mine)
        gone = [victim for victim in told.orders if told.fates.get(victim) in ("stopped", "finished")]
        self.take_back(stops)
        if len(gone) == len(told.orders):
            told.close("used")
        elif gone:
            told.close("partly", "no longer needed")
        else:
            self._close(told, "withdrawn", "no longer needed")
