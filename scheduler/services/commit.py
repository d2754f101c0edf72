"""
The committer: the round's callback. It collects the decisions, and turns them into rows in one go.

Commit is by compare-and-set: every session that a decision touches must still have the version of the snapshot, its
node must be ready, and for a preemption the policy version must be the one in force (P12). A decision whose ground
moved is dropped alone; the others stand, and another round is asked for (DESIGN section 4).
"""

from __future__ import annotations

import collections
import logging
from collections.abc import Callable

from django.db import IntegrityError, transaction

from scheduler import errors, models
from scheduler.core import decisions, entities, release, states
from scheduler.protocol.errors import ProtocolError
from scheduler.selectors import snapshot as snapshots
from scheduler.services import (
    account_limits,
    claims,
    commit_preemption,
    decided,
    dispatches,
    locks,
    orders,
    pend_reasons,
    recording,
    reservations,
    transitions,
    withdrawals,
)
from scheduler.services import work as unit

log = logging.getLogger(__name__)


class Committer:
    """Callable as ``decisions.Decide``; ``finish`` writes."""

    def __init__(self, work: unit.Work, group: models.ResourceGroup, loaded: snapshots.Loaded) -> None:
        self.work = work
        self.group = group
        self.loaded = loaded
        self.dropped = 0
        self.counts: collections.Counter[str] = collections.Counter()
        self._dispatches: list[decisions.Dispatch] = []
        self._preempts: list[decisions.Preempt] = []
        self._pends: list[decisions.Pend] = []
        self._sessions: dict[int, models.Session] = {}
        self._stopped: set[int] = set()  #: told to stop by a decision of this round
        self._unsayable: dict[int, str] = {}  #: sessions whose start cannot be said to an agent, and why
        self._without_ground: set[int] = set()  #: sessions whose preemption or wait was dropped

    def __call__(self, decision: decisions.Decision) -> None:
        """Take one decision of the core."""
        match decision:
            case decisions.Dispatch():
                self._dispatches.append(decision)
            case decisions.Preempt():
                self._preempts.append(decision)
            case decisions.Pend():
                self._pends.append(decision)

    def finish(self, *, started: float) -> None:
        """
        Write all decisions, in the order: dispatches, preemptions, waits and claims, reasons.

        Args:
            started: monotonic seconds when the round began, for the stored round.
        """
        policy_id = locks.share_policy(self.group.pk)
        self._lock()
        self._record = recording.RoundRecord(self.work, self.group, self.loaded, started=started)
        for dispatch in self._one_by_one():
            self._try(dispatch, lambda d=dispatch: self._dispatch(d))
        self._hold_unsayable()
        if policy_id == self.loaded.policy_id:
            self._make_room()
        else:
            self.dropped += len(self._preempts)
            self._without_ground |= {p.preempting_jobid for p in self._preempts if not p.is_shadow}
            self._without_ground |= {p.session_id for p in self._pends if p.wait or p.claim}
        self._pend(self._record)
        self._record.close(self.counts, [*self._dispatches, *self._preempts, *self._pends])

    def _make_room(self) -> None:
        for preempt in self._preempts:
            if not self._try(preempt, lambda p=preempt: self._preempt(p)) and not preempt.is_shadow:
                self._without_ground.add(preempt.preempting_jobid)
        for pend in self._pends:
            if pend.wait is not None and not self._try(pend, lambda p=pend: self._wait(p)):
                self._without_ground.add(pend.session_id)
            if pend.claim is not None and not self._try(pend, lambda p=pend: self._claim(p)):
                self._without_ground.add(pend.session_id)

    def _hold_unsayable(self) -> None:
        if self._unsayable:
            self._lock()  # the rows in memory are as what was rolled back had made them
        for session_id, why in self._unsayable.items():
            row = self._sessions[session_id]
            self._try(None, lambda r=row, w=why: dispatches.cannot_be_ordered(self.work, r, why=w))

    def _lock(self) -> None:
        named = decided.touched(self.loaded, self._dispatches, self._preempts, self._pends)
        touched, held = locks.ground_of(named)
        seen = {s.id: s for s in self.loaded.snapshot.sessions if s.id in touched}
        granted = {g.node_id for d in self._dispatches for g in d.grants} | {
            p.node_id for p in self._preempts
        }
        waited = {p.wait.node_id for p in self._pends if p.wait}
        owner_ids = {session.owner_id for session in seen.values()}
        queue_ids = {session.queue_id for session in seen.values()}
        self._sessions = locks.rows(
            owner_ids=owner_ids,
            queue_ids=queue_ids,
            node_ids=held | granted | waited,
            session_ids=touched,
        )
        self._limits = account_limits.AccountLimits(self.group.pk, owner_ids=owner_ids, queue_ids=queue_ids)
        self._leaving = {pk for pk, session in seen.items() if release.is_being_stopped(session)}
        self._ready = set(
            models.Node.objects.filter(group=self.group, state=entities.NodeState.READY.value).values_list(
                "pk", flat=True
            )
        )

    def _try(self, decision: decisions.Decision | None, write: Callable[[], None]) -> bool:
        """
        Write one decision whole or not at all; None = several together, which are tried one by one if they fail.

        Returns:
            Whether it was written.
        """
        marks = len(self.work.events), len(self.work.command_ids)
        stored, stopped = self._record.mark(), set(self._stopped)
        try:
            with transaction.atomic():
                write()
        except (errors.Staleness, states.ForbiddenTransition, ProtocolError, IntegrityError) as error:
            del self.work.events[marks[0] :], self.work.command_ids[marks[1] :]
            self._record.back_to(stored)
            self._stopped = stopped
            if decision is not None:
                self.dropped += 1
                log.info("dropped %s: %s", type(decision).__name__, error)
                if isinstance(decision, decisions.Dispatch) and isinstance(error, ProtocolError):
                    self._unsayable[decision.session_id] = str(error)
            return False
        return True

    def _current(self, session_id: int) -> models.Session:
        """Return the locked row if it is still as the snapshot saw it."""
        row = self._sessions.get(session_id)
        if row is None or row.state_version != self.loaded.versions[session_id]:
            raise errors.StaleState(f"session {session_id} changed while the round was thinking")
        return row

    def _require_leaving(self, session_id: int) -> None:
        """Raise unless a session that others count on is being stopped: since before, or by this very round."""
        if session_id in self._stopped:
            return
        self._current(session_id)
        if session_id not in self._leaving:
            raise errors.StaleState(f"session {session_id} is not being stopped after all")

    def _require_ready(self, node_id: int) -> None:
        if node_id not in self._ready:
            raise errors.StaleState(f"node {node_id} is not ready any more")

    def _one_by_one(self) -> list[decisions.Dispatch]:
        """Write all plain starts together; return the dispatches that are left, all of them where that failed."""
        resumes = {d.session_id for d in self._dispatches if d.is_resume}
        keeping = models.Reservation.objects.filter(session__among=[d.session_id for d in self._dispatches])
        special = resumes | set(keeping.values_list("session_id", flat=True)) if self._dispatches else resumes
        plain = [d for d in self._dispatches if d.session_id not in special and self._has_ground(d)]
        if not plain:
            return self._dispatches
        if not self._try(None, lambda: self._start_all(plain)):
            self._lock()  # the rows in memory are as what was rolled back had made them
            return self._dispatches
        written = {d.session_id for d in plain}
        return [d for d in self._dispatches if d.session_id not in written]

    def _has_ground(self, dispatch: decisions.Dispatch) -> bool:
        """Say whether session and nodes are still as the snapshot saw them."""
        row = self._sessions.get(dispatch.session_id)
        is_current = row is not None and row.state_version == self.loaded.versions[dispatch.session_id]
        return is_current and all(grant.node_id in self._ready for grant in dispatch.grants)

    def _start_all(self, plain: list[decisions.Dispatch]) -> None:
        """Start pending sessions without reservation: what ``_dispatch`` does, in a fixed number of statements."""
        starts = [(self._sessions[d.session_id], d.grants) for d in plain]
        self._limits.require_all(starts)
        models.PendReason.objects.filter(session__among=[d.session_id for d in plain]).delete()
        deadline = orders.answer_deadline(self.work.now)
        transitions.dispatch_all(self.work, starts, deadline=deadline, names=self.loaded.names)
        orders.start_all(self.work, starts)
        self.counts["dispatch"] += len(plain)

    def _dispatch(self, dispatch: decisions.Dispatch) -> None:
        session = self._current(dispatch.session_id)
        deadline = orders.answer_deadline(self.work.now)
        models.PendReason.objects.filter(session=session).delete()
        if dispatch.is_resume:
            transitions.transition_session(
                self.work,
                session,
                states.Trigger.RESUME_DISPATCH,
                deadline=deadline,
                facts=self._where(dispatch),
            )
            orders.resume(self.work, session)
        else:
            self._start(session, dispatch)
        self.counts["dispatch"] += 1

    def _start(self, session: models.Session, dispatch: decisions.Dispatch) -> None:
        for grant in dispatch.grants:
            self._require_ready(grant.node_id)
        self._limits.require(session, dispatch.grants)
        kept = models.Reservation.objects.filter(session=session).first()
        if kept is not None:
            self._close_reservation(session, kept, dispatch)
        transitions.transition_session(
            self.work,
            session,
            states.Trigger.DISPATCH,
            grants=dispatch.grants,
            deadline=orders.answer_deadline(self.work.now),
            facts=self._where(dispatch),
        )
        orders.start(self.work, session, dispatch.grants)

    def _close_reservation(
        self, session: models.Session, kept: models.Reservation, dispatch: decisions.Dispatch
    ) -> None:
        if dispatch.reservation_id == kept.pk:
            reservations.consume(kept)
            withdrawals.not_needed(self.work, kept)
        else:
            commit_preemption.placed_elsewhere(self.work, kept)

    def _where(self, dispatch: decisions.Dispatch) -> dict[str, object]:
        names = [self.loaded.names.get(grant.node_id, "") for grant in dispatch.grants]
        return {"nodes": names}

    def _preempt(self, preempt: decisions.Preempt) -> None:
        preemptor = self._current(preempt.preempting_jobid)
        if preempt.is_shadow:
            recording.shadow(self.work, preempt, preemptor, record=self._record)
            return
        self._require_ready(preempt.node_id)
        victims = [self._current(session_id) for session_id in preempt.victim_jobids]
        for session_id in preempt.releasing_ids:
            self._require_leaving(session_id)
        commit_preemption.write(self.work, preempt, preemptor=preemptor, victims=victims, record=self._record)
        self._stopped.update(preempt.victim_jobids)
        self.counts["preempt"] += 1

    def _wait(self, pend: decisions.Pend) -> None:
        assert pend.wait is not None
        session = self._current(pend.session_id)
        self._require_ready(pend.wait.node_id)
        for session_id in pend.wait.releasing_ids:
            self._require_leaving(session_id)
        commit_preemption.write_wait(self.work, pend, session=session, record=self._record)

    def _claim(self, pend: decisions.Pend) -> None:
        assert pend.claim is not None
        claims.write(self.work, self._current(pend.session_id), pend.claim)

    def _pend(self, record: recording.RoundRecord) -> None:
        self.counts["pend"] = len(self._pends)
        for pend in decided.barred(self.loaded, self._pends):
            self._try(pend, lambda p=pend: self._give_room_back(p))
        for pend in self._pends:
            if pend.reason == decisions.PendReason.DEPENDENCY_IMPOSSIBLE:
                self._try(pend, lambda p=pend: self._end_impossible(p))
        grounded = [pend for pend in self._pends if pend.session_id not in self._without_ground]
        pend_reasons.write(self.work, grounded, record=record)

    def _give_room_back(self, pend: decisions.Pend) -> None:
        cause = f"preemptor may not start: {pend.reason.value.replace('-', ' ')}"
        withdrawals.holder_barred(self.work, self._current(pend.session_id), cause=cause)

    def _end_impossible(self, pend: decisions.Pend) -> None:
        transitions.transition_session(
            self.work,
            self._current(pend.session_id),
            states.Trigger.CANCEL_WAITING,
            reason="dependency-impossible",
            result=states.Result.CANCELLED,
        )
