"""What each report about one session does. Every function gets the session locked, on the node that reported."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scheduler import clock, models
from scheduler.core import entities, states
from scheduler.protocol import fields, messages
from scheduler.services import answers, dispatches, endings, multi_node, orders, transitions, victims
from scheduler.services import work as unit

S, T = states.SessionState, states.Trigger
Kind = models.AgentCommand.Kind
_SUSPEND = entities.PreemptionMode.SUSPEND
_PROOF_MEMBERS = 50
#: How often a suspended session may run before those who look after its node are warned (RELIABILITY 4.3).
_ESCAPES_AT = 3


def apply(work: unit.Work, session: models.Session, node: models.Node, report: messages.Report) -> None:
    """Apply one report of the session's present run whose command, if it names one, was given."""
    _HANDLERS[type(report)](work, session, node, report)


def _is_open(session: models.Session, *kinds: Kind) -> bool:
    rows = models.AgentCommand.objects.filter(session=session, kind__in=kinds, settled_at=None)
    return rows.exists()


# Start and resume


def _started(work: unit.Work, session: models.Session, node: models.Node, report: messages.Report) -> None:
    dispatches.confirm(work, session, node, report)


def _start_failed(
    work: unit.Work, session: models.Session, node: models.Node, report: messages.StartFailed
) -> None:
    facts = {"node_name": node.name, "error": report.error}
    endings.nothing_ran(work, session, node, reason=dispatches.START_FAILED, facts=facts)


def _start_refused(
    work: unit.Work, session: models.Session, node: models.Node, report: messages.StartRefused
) -> None:
    facts = {"node_name": node.name, "why": str(report.reason)}
    if session.is_resume and session.state == S.SCHEDULED:
        dispatches.resume_undone(work, session, node, reason="start-refused", facts=facts)
    else:
        endings.nothing_ran(work, session, node, reason="start-refused", facts=facts)


def _resume_failed(
    work: unit.Work, session: models.Session, node: models.Node, report: messages.ResumeFailed
) -> None:
    facts = {"node_name": node.name, "error": report.error}
    dispatches.resume_undone(work, session, node, reason="resume-failed", facts=facts)


# Stop


def _stopped(work: unit.Work, session: models.Session, node: models.Node, report: messages.Stopped) -> None:
    """Apply the proof of a suspend. Where it was asked back meanwhile, that answer decides."""
    if session.state == S.SCHEDULED:
        dispatches.stopped_again(work, session)
    elif session.stop_goal == _SUSPEND and not _is_open(session, Kind.STOP, Kind.WITHDRAW):
        evidence = {
            "method": str(report.method),
            "members": [[m.pid, m.start_time, m.state] for m in report.members[:_PROOF_MEMBERS]],
            "cpu_ms": report.cpu_ms,
            "waited_ms": report.waited_ms,
            "warned": report.warned,
        }
        facts = {"waited_ms": report.waited_ms, "members": len(report.members)}
        _suspended(work, session, evidence=evidence, facts=facts)


def _suspended(
    work: unit.Work, session: models.Session, *, evidence: dict[str, Any], facts: dict[str, Any]
) -> None:
    if session.state == S.STOPPING:
        transitions.transition_session(work, session, T.ASKED_SUSPENDED, reason="person", facts=facts)
    elif session.state == S.PREEMPTED:
        transitions.transition_session(
            work,
            session,
            T.STOP_PROVEN_SUSPEND,
            reason=endings.PREEMPTED_BY_SCHEDULER,
            decision=victims.open_decision(session),
            facts=facts,
        )
        victims.close(work, session, victims.Fate.STOPPED, evidence)


def held_again(work: unit.Work, session: models.Session, node: models.Node) -> None:
    """Tell that a suspended session ran and is stopped again; the third time warn, and then say no more of it."""
    before = models.Event.objects.filter(
        session=session, type="session.held_again", data__epoch=session.epoch
    ).count()
    if before >= _ESCAPES_AT:
        return
    work.tell("session.held_again", session=session, node_name=node.name, epoch=session.epoch)
    if before + 1 == _ESCAPES_AT:
        work.tell("session.escapes", session=session, node=node, times=_ESCAPES_AT)


def _stop_failed(
    work: unit.Work, session: models.Session, node: models.Node, report: messages.StopFailed
) -> None:
    """Let a session run on that could not be suspended; on several nodes, once the others have continued too."""
    is_awaited = session.state in (S.STOPPING, S.PREEMPTED) and not multi_node.is_being_swept(session)
    if not is_awaited or session.stop_goal != _SUSPEND:
        return
    facts = {"node_name": node.name, "why": report.reason, "running": len(report.running)}
    decision = victims.open_decision(session)
    transitions.touch(session, stop_failed_since_start=True)
    if orders.continue_others(work, session, but=node.pk) == 0:
        _runs_on(work, session, reason="stop-failed", facts=facts)
    _give_up(work, session, decision, facts)


def suspend_is_late(work: unit.Work, session: models.Session) -> None:
    """
    Take a suspend back that not all of several nodes have proven in time: no node stays stopped while another may run
    (DESIGN 5.3). The session holds its slots until each has answered.
    """
    is_suspend = session.state in (S.STOPPING, S.PREEMPTED) and session.stop_goal == _SUSPEND
    if not is_suspend or multi_node.is_being_swept(session) or not multi_node.is_on_several(session):
        return
    late = session.commands.filter(kind=Kind.STOP, settled_at=None).order_by("node__name")
    names = ", ".join(late.values_list("node__name", flat=True))
    if orders.withdraw(work, session):
        transitions.touch(session, stop_failed_since_start=True)
        facts = {"node_name": names, "why": "not proven in time", "running": 0}
        _give_up(work, session, victims.open_decision(session), facts)


def _give_up(
    work: unit.Work, session: models.Session, decision: models.Decision | None, facts: dict[str, Any]
) -> None:
    """Close the turn of a victim whose suspend has failed; nobody counts on its room any more."""
    if decision is not None:
        work.tell("session.stop_failed", session=session, decision=decision, **facts)
        victims.close(work, session, victims.Fate.STOP_FAILED, facts)
        victims.end_reservation(work, session, decision, cause="a stop failed")
    work.ask_round(session.group_id)


def _runs_on(work: unit.Work, session: models.Session, *, reason: str, facts: dict[str, Any]) -> None:
    trigger = T.ASKED_UNDONE if session.state == S.STOPPING else T.WITHDRAWN
    decision = victims.open_decision(session)
    transitions.transition_session(work, session, trigger, reason=reason, decision=decision, facts=facts)


# Withdrawal


def _withdrawn(
    work: unit.Work, session: models.Session, node: models.Node, report: messages.Withdrawn
) -> None:
    is_awaited = session.state in (S.PREEMPTED, S.STOPPING) and not multi_node.is_being_swept(session)
    if not is_awaited or _is_open(session, Kind.WITHDRAW, Kind.STOP):
        return
    reason = "withdrawn" if session.state == S.PREEMPTED else "stop-failed"
    _runs_on(work, session, reason=reason, facts={})
    victims.close_withdrawn(work, session)
    work.ask_round(session.group_id)


def _withdraw_refused(
    work: unit.Work, session: models.Session, node: models.Node, report: messages.WithdrawRefused
) -> None:
    """Let the stop stand: its end is still to come, or its suspend is proven by the refusal."""
    if session.state != S.PREEMPTED:
        return
    facts = {"node_name": node.name, "why": str(report.reason)}
    work.tell("session.withdraw_refused", session=session, decision=victims.open_decision(session), **facts)
    is_suspended = report.reason == fields.WithdrawRefusal.SUSPENDED and session.stop_goal == _SUSPEND
    if is_suspended and session.node_count == 1 and not _is_open(session, Kind.WITHDRAW, Kind.STOP):
        _suspended(work, session, evidence=facts, facts=facts)


# End


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
    messages.WithdrawRefused: _withdraw_refused,
    messages.ResumeFailed: _resume_failed,
    messages.Ended: _ended,
    messages.Gone: _gone,
}


def output_tail(node: models.Node, report: messages.OutputTail) -> answers.Standing:
    """Keep the last lines that a node of an attempt wrote; an older report than the one kept changes nothing."""
    if report.command_id:
        return answers.Standing.UNFOUNDED
    rows = models.Run.objects.filter(
        session__public_id=report.session, epoch__lte=report.epoch, node_names__contains=[node.name]
    ).filter(session__epoch__gte=report.epoch)
    run = rows.order_by("-epoch").first()
    if run is None:
        return answers.Standing.UNFOUNDED
    rank = run.node_names.index(node.name)
    table: Any = models.RankOutput if rank else models.SessionOutput
    place = {"session_id": run.session_id, "attempt": run.attempt} | ({"rank": rank} if rank else {})
    kept, _ = table.objects.get_or_create(**place, defaults={"updated_at": clock.now()})
    told = {"tail": report.tail, "size": report.size, "is_truncated": report.truncated}
    rows = table.objects.filter(pk=kept.pk, size__lte=report.size).exclude(**told)
    is_news = rows.update(**told, updated_at=clock.now())
    return answers.Standing.EVIDENCE if is_news else answers.Standing.REPEATED
