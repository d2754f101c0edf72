"""
The only writer of a session's state.

One function performs every change: it asks the core's table, writes the row (compare-and-set on state and version),
moves the ledgers, and tells the event, in the caller's transaction (DESIGN section 3; rule 3).
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from typing import Any, TypedDict, Unpack

from django.db.models import F

from scheduler import errors, models, points
from scheduler.core import decisions, states
from scheduler.services import claims, ledger, reservations
from scheduler.services import work as unit

S, T = states.SessionState, states.Trigger

#: The event that tells each trigger.
EVENTS: dict[T, str] = {
    T.DISPATCH: "session.scheduled",
    T.RESUME_DISPATCH: "session.resume_scheduled",
    T.CONFIRM: "session.started",
    T.DISPATCH_UNDONE: "session.dispatch_undone",
    T.RESUME_UNDONE: "session.resume_undone",
    T.CANCEL_WAITING: "session.ended",
    T.CANCEL: "session.cancel_asked",
    T.PREEMPT: "session.preempted",
    T.STOP_PROVEN_TERMINATE: "session.ended",
    T.STOP_PROVEN_REQUEUE: "session.requeued",
    T.STOP_PROVEN_SUSPEND: "session.suspended",
    T.WITHDRAWN: "session.withdrawn",
    T.STOP_ASKED: "session.stop_asked",
    T.ASKED_SUSPENDED: "session.suspended",
    T.ASKED_REQUEUED: "session.requeued",
    T.ASKED_UNDONE: "session.stop_failed",
    T.ENDED: "session.ended",
    T.LOST_REQUEUE: "session.requeued",
    T.LOST_END: "session.ended",
}
_SUSPENDED = frozenset({T.STOP_PROVEN_SUSPEND, T.ASKED_SUSPENDED, T.RESUME_UNDONE})
_REQUEUED = frozenset({T.STOP_PROVEN_REQUEUE, T.ASKED_REQUEUED, T.LOST_REQUEUE})
_PREEMPTED = frozenset({T.STOP_PROVEN_REQUEUE, T.STOP_PROVEN_SUSPEND, T.STOP_PROVEN_TERMINATE})
_FREES_ALL = _REQUEUED | {T.STOP_PROVEN_TERMINATE, T.ENDED, T.LOST_END, T.DISPATCH_UNDONE}


#: A session and the room that it starts on.
Start = tuple[models.Session, tuple[decisions.NodeGrant, ...]]


class Change(TypedDict, total=False):
    """What may go along with a transition; all of it optional."""

    grants: tuple[decisions.NodeGrant, ...]  #: DISPATCH: the slots and indices
    result: states.Result  #: triggers that end the session
    decision: models.Decision | None  #: the decision that the event belongs to
    deadline: datetime.datetime  #: when the new state, if transitional, must have ended
    columns: dict[str, Any]  #: further columns to write in the same update
    facts: dict[str, Any]  #: further facts for the event


def transition_session(
    work: unit.Work, session: models.Session, trigger: T, *, reason: str = "", **change: Unpack[Change]
) -> None:
    """
    Move one session by one trigger.

    Args:
        session: locked by ``locks.session`` or ``locks.rows``; brought up to date in place.
        reason: stable code of why, for the event and the row (``PREEMPTED_BY_SCHEDULER``, ``owner``, ...).

    Raises:
        ForbiddenTransition: the table has no such way.
        StaleState: the row is not as it was locked; nothing was written.
    """
    before = S(session.state)
    after = states.next_state(before, trigger)
    columns = _columns(work, session, trigger)
    if after == S.TERMINATED:
        columns |= _ending(work, change.get("result"), reason)
    columns |= change.get("columns", {})
    columns |= {"state_deadline": change.get("deadline"), "is_stuck": False}
    _write(session, before, columns)
    _move_ledgers(work, session, trigger, change.get("grants", ()))
    if after == S.TERMINATED:
        _forget_waiting(work, session)
    if after in (S.RUNNING, S.TERMINATED):
        claims.forget(session)
    facts: dict[str, Any] = {"result": session.result} if session.result else {}
    facts |= {"state": after.value, "before": before.value, "reason": reason, "attempt": session.attempt}
    work.tell(
        EVENTS[trigger],
        session=session,
        decision=change.get("decision"),
        changed=("state",),
        **(facts | change.get("facts", {})),
    )
    if trigger in _REQUEUED:
        points.reach("eviction.requeued")


def dispatch_all(
    work: unit.Work, starts: Sequence[Start], *, deadline: datetime.datetime, names: Mapping[int, str]
) -> None:
    """
    Move many pending sessions by ``DISPATCH`` in a fixed number of statements.

    Args:
        starts: sessions locked by ``locks.rows``, each with its grants; brought up to date in place.
        deadline: when the agents' answers are late.
        names: of the nodes, for the events.

    Raises:
        ForbiddenTransition: one of them does not wait any more.
        StaleState: one of them is not as it was locked; the caller rolls back.
    """
    for session, _ in starts:
        states.next_state(S(session.state), T.DISPATCH)
    columns = {**_columns(work, starts[0][0], T.DISPATCH), "state_deadline": deadline, "is_stuck": False}
    rows = models.Session.objects.filter(pk__among=[s.pk for s, _ in starts], state=S.PENDING.value)
    raised = {"epoch": F("epoch") + 1, "state_version": F("state_version") + 1, "is_counted": True}
    if rows.update(**(columns | raised)) != len(starts):
        raise errors.StaleState("a session does not wait any more")
    for session, grants in starts:
        columns |= {
            "epoch": session.epoch + 1,
            "state_version": session.state_version + 1,
            "is_counted": True,
        }
        for name, value in columns.items():
            setattr(session, name, value)
        facts = {"state": session.state, "before": S.PENDING.value, "reason": "", "attempt": session.attempt}
        where = [names.get(grant.node_id, "") for grant in grants]
        work.tell(EVENTS[T.DISPATCH], session=session, changed=("state",), **facts, nodes=where)
    ledger.charge_all(starts, now=work.now)


def _columns(work: unit.Work, session: models.Session, trigger: T) -> dict[str, Any]:
    after = states.next_state(S(session.state), trigger)
    columns: dict[str, Any] = {"state": after.value, "state_since": work.now}
    if trigger in (T.DISPATCH, T.RESUME_DISPATCH):
        is_resume = trigger == T.RESUME_DISPATCH
        columns |= {
            "epoch": session.epoch + 1,
            "waiting_since": None,
            "is_resume": is_resume,
            "ended_nodes": session.ended_nodes if is_resume else [],
        }
    if trigger == T.CONFIRM:
        columns |= {"started_at": work.now, "stop_failed_since_start": False, "dispatch_failures": 0}
    if trigger in _REQUEUED:
        columns |= {"attempt": session.attempt + 1, "is_resume": False}
    if trigger in _PREEMPTED:
        columns["times_preempted"] = session.times_preempted + 1
    if after in (S.RUNNING, S.PENDING, S.TERMINATED) or trigger in _SUSPENDED:
        columns |= {"stop_goal": "", "end_result": ""}
    if after in (S.RUNNING, S.PENDING):
        columns["result_reason"] = ""
    if trigger == T.ASKED_UNDONE:
        columns["is_held"] = False
    return columns


def _ending(work: unit.Work, result: states.Result | None, reason: str) -> dict[str, Any]:
    if result is None:
        raise errors.Violation("a session cannot end without a result")
    return {"result": result.value, "result_reason": reason, "ended_at": work.now}


def _write(session: models.Session, before: S, changes: dict[str, Any]) -> None:
    rows = models.Session.objects.filter(
        pk=session.pk, state=before.value, state_version=session.state_version
    )
    changes = {**changes, "state_version": session.state_version + 1}
    if rows.update(**changes) != 1:
        raise errors.StaleState(f"session {session.public_id} is no longer {before}")
    for name, value in changes.items():
        setattr(session, name, value)


def _move_ledgers(
    work: unit.Work, session: models.Session, trigger: T, grants: tuple[decisions.NodeGrant, ...]
) -> None:
    if trigger == T.DISPATCH:
        ledger.charge(session, grants, now=work.now)
    elif trigger == T.RESUME_DISPATCH:
        ledger.charge_resume(session)
    elif trigger in _SUSPENDED:
        _freed(work, session, ledger.release_kinds(session, session.stop_releases))
    elif trigger in _FREES_ALL:
        _freed(work, session, ledger.release_all(session))
        if trigger == T.DISPATCH_UNDONE:
            reservations.restore(session)


def _freed(work: unit.Work, session: models.Session, node_ids: list[int]) -> None:
    for node_id in node_ids:
        reservations.draw_freed(node_id, session)
    work.ask_round(session.group_id)


def _forget_waiting(work: unit.Work, session: models.Session) -> None:
    models.PendReason.objects.filter(session=session).delete()
    models.NodeBackoff.objects.filter(session=session).delete()
    work.ask_round(session.group_id)


def touch(session: models.Session, **changes: Any) -> None:
    """Write other columns of a locked session and raise its version, so that a round in flight drops its decision."""
    _write(session, S(session.state), changes)
