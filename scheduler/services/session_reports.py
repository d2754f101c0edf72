"""What each report about one session does. Every function gets the session locked, on the node that reported."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scheduler import clock, models
from scheduler.core import entities, states
from scheduler.protocol import messages
from scheduler.services import commands, endings, reservations, transitions, withdrawals
from scheduler.services import work as unit

S, T = states.SessionState, states.Trigger
#: Tries of a dispatch that fails before the session is held (DESIGN 11).
DISPATCH_TRIES = 5


def apply(work: unit.Work, session: models.Session, node: models.Node, report: messages.Report) -> None:
    """Apply one report; a report of another epoch only settles the command that it answers."""
    commands.settle(session, report.command_id, report.TYPE, now=work.now)
    if not _is_current(session, report):
        return
    handler = _HANDLERS.get(type(report))
    if handler is not None:
        handler(work, session, node, report)


def _is_current(session: models.Session, report: messages.Report) -> bool:
    if report.epoch == session.epoch:
        return True
    ended_before_resume = (
        session.is_resume and session.state == S.SCHEDULED and report.epoch == session.epoch - 1
    )
    return isinstance(report, messages.Ended) and ended_before_resume


def _started(work: unit.Work, session: models.Session, node: models.Node, report: Any) -> None:
    if session.state != S.SCHEDULED or _others_open(session):
        return
    models.Run.objects.filter(session=session, attempt=session.attempt, started_at=None).update(
        started_at=work.now
    )
    facts = {"nodes": [node.name], "resumed": session.is_resume}
    transitions.transition_session(work, session, T.CONFIRM, facts=facts)
    reservations.finish_used(work, session)
    work.ask_round(session.group_id)


def _others_open(session: models.Session) -> bool:
    """Say whether another node of a multi-node session has not confirmed yet."""
    kinds = (models.AgentCommand.Kind.START, models.AgentCommand.Kind.RESUME)
    return models.AgentCommand.objects.filter(session=session, kind__in=kinds, settled_at=None).exists()


def _start_failed(
    work: unit.Work, session: models.Session, node: models.Node, report: messages.StartFailed
) -> None:
    if session.state == S.TERMINATING:
        endings.nothing_ran(work, session)
        return
    failures = session.dispatch_failures + 1
    columns: dict[str, Any] = {"dispatch_failures": failures}
    if failures >= DISPATCH_TRIES:
        columns["is_held"] = True
    facts = {"node_name": node.name, "error": report.error, "tries": failures}
    commands.settle_all(session, "start-failed", now=work.now)
    transitions.transition_session(
        work, session, T.DISPATCH_UNDONE, reason="start-failed", columns=columns, facts=facts
    )
    endings.drop_run(session)
    if failures >= DISPATCH_TRIES:
        withdrawals.holder_gone(work, session, cause="held after failed starts")
        work.tell(
            "session.held", session=session, changed=("is_held",), reason="start-failed", tries=failures
        )


def _start_refused(
    work: unit.Work, session: models.Session, node: models.Node, report: messages.StartRefused
) -> None:
    if session.state == S.TERMINATING:
        endings.nothing_ran(work, session)
        return
    trigger = T.RESUME_UNDONE if session.is_resume else T.DISPATCH_UNDONE
    transitions.transition_session(
        work, session, trigger, reason="start-refused", facts={"why": str(report.reason)}
    )
    endings.close_victim(work, session, models.VictimFate.Fate.STOPPED)
    if trigger == T.DISPATCH_UNDONE:
        endings.drop_run(session)


def _stopped(work: unit.Work, session: models.Session, node: models.Node, report: messages.Stopped) -> None:
    if _stop_open_elsewhere(session):
        return
    evidence = {
        "method": str(report.method),
        "members": [[m.pid, m.start_time, m.state] for m in report.members[:50]],
        "cpu_ms": report.cpu_ms,
        "waited_ms": report.waited_ms,
        "warned": report.warned,
    }
    if session.state == S.PREEMPTED:
        decision = endings.open_decision(session)
        transitions.transition_session(
            work,
            session,
            T.STOP_PROVEN_SUSPEND,
            reason="PREEMPTED_BY_SCHEDULER",
            decision=decision,
            facts={"waited_ms": report.waited_ms, "members": len(report.members)},
        )
        endings.close_victim(work, session, models.VictimFate.Fate.STOPPED, evidence)
    elif session.state == S.STOPPING and session.stop_goal == entities.PreemptionMode.SUSPEND:
        facts = {"waited_ms": report.waited_ms, "members": len(report.members)}
        transitions.transition_session(work, session, T.ASKED_SUSPENDED, reason="person", facts=facts)


def _stop_open_elsewhere(session: models.Session) -> bool:
    return models.AgentCommand.objects.filter(
        session=session, kind=models.AgentCommand.Kind.STOP, settled_at=None
    ).exists()


def _stop_failed(
    work: unit.Work, session: models.Session, node: models.Node, report: messages.StopFailed
) -> None:
    columns = {"stop_failed_since_start": True}
    facts = {"node_name": node.name, "why": report.reason, "running": len(report.running)}
    if session.state == S.STOPPING:
        transitions.transition_session(
            work, session, T.ASKED_UNDONE, reason="stop-failed", columns=columns, facts=facts
        )
    elif session.state == S.PREEMPTED:
        decision = endings.open_decision(session)
        transitions.transition_session(
            work, session, T.WITHDRAWN, reason="stop-failed", decision=decision, columns=columns, facts=facts
        )
        work.tell("session.stop_failed", session=session, decision=decision, **facts)
        endings.close_victim(work, session, models.VictimFate.Fate.STOP_FAILED, facts)
        _end_reservation_of(work, decision, cause="a stop failed")
    work.ask_round(session.group_id)


def _end_reservation_of(work: unit.Work, decision: models.Decision | None, *, cause: str) -> None:
    kept = (
        models.Reservation.objects.filter(decision=decision, is_consumed=False).first() if decision else None
    )
    if kept is not None:
        withdrawals.end_reservation(work, kept, cause=cause)


def _withdrawn(
    work: unit.Work, session: models.Session, node: models.Node, report: messages.Withdrawn
) -> None:
    if session.state != S.PREEMPTED:
        return
    decision = endings.open_decision(session)
    transitions.transition_session(work, session, T.WITHDRAWN, reason="withdrawn", decision=decision)
    endings.close_victim(work, session, models.VictimFate.Fate.WITHDRAWN)
    models.PreemptionEdge.objects.filter(decision=decision, loser=session).delete()
    work.ask_round(session.group_id)


def _resume_failed(
    work: unit.Work, session: models.Session, node: models.Node, report: messages.ResumeFailed
) -> None:
    if session.state == S.SCHEDULED and session.is_resume:
        facts = {"node_name": node.name, "error": report.error}
        transitions.transition_session(work, session, T.RESUME_UNDONE, reason="resume-failed", facts=facts)


def _ended(work: unit.Work, session: models.Session, node: models.Node, report: messages.Ended) -> None:
    endings.ended(work, session, node, report)


def _gone(work: unit.Work, session: models.Session, node: models.Node, report: messages.Gone) -> None:
    endings.lost(work, session, node, reason="gone from its node")


_HANDLERS: dict[type[messages.Report], Callable[[unit.Work, models.Session, models.Node, Any], None]] = {
    messages.Started: _started,
    messages.StartedAlready: _started,
    messages.Resumed: _started,
    messages.StartFailed: _start_failed,
    messages.StartRefused: _start_refused,
    messages.Stopped: _stopped,
    messages.StopFailed: _stop_failed,
    messages.Withdrawn: _withdrawn,
    messages.ResumeFailed: _resume_failed,
    messages.Ended: _ended,
    messages.Gone: _gone,
}


def output_tail(node: models.Node, report: messages.OutputTail) -> None:
    """Keep the last lines of an attempt's output; an older report than the one kept changes nothing."""
    rows = models.Run.objects.filter(
        session__public_id=report.session, epoch__lte=report.epoch, node_names__contains=[node.name]
    )
    run = rows.order_by("-epoch").first()
    if run is None:
        return
    kept, _ = models.SessionOutput.objects.get_or_create(
        session_id=run.session_id, attempt=run.attempt, defaults={"updated_at": clock.now()}
    )
    models.SessionOutput.objects.filter(pk=kept.pk, size__lte=report.size).update(
        tail=report.tail.replace("\x00", "\ufffd"),
        size=report.size,
        is_truncated=report.truncated,
        updated_at=clock.now(),
    )
