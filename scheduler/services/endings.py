"""
How a run ends: by itself, by a stop that was proven, by a cancel, or with its node.

The agent's journal says whether the exit came after the warning: code 0 then means finished, unless the session said
that it only checkpointed; any other end after the warning follows the decision's mode (DESIGN section 3).
"""

from __future__ import annotations

from typing import Any

from scheduler import models
from scheduler.core import entities, states
from scheduler.protocol import fields, messages
from scheduler.services import commands, orders, reservations, transitions, withdrawals
from scheduler.services import work as unit

S, T, R = states.SessionState, states.Trigger, states.Result
Mode = entities.PreemptionMode
Fate = models.VictimFate.Fate
PREEMPTED_BY_SCHEDULER = "PREEMPTED_BY_SCHEDULER"


def ended(work: unit.Work, session: models.Session, node: models.Node, report: messages.Ended) -> None:
    """Apply the proof that no process of a session is left on one node."""
    if session.state == S.TERMINATED or session.state == S.PENDING:
        return
    if _is_multi_node(session) and not _all_ended(work, session, node):
        return
    _close_run(work, session, report)
    columns = {"exit_code": report.exit_code, "exit_signal": report.signal}
    facts = {
        "node_name": node.name,
        "exit_code": report.exit_code,
        "signal": report.signal,
        "ran_ms": report.ran_ms,
    }
    commands.settle_all(session, "ended", now=work.now)
    state = S(session.state)
    if state == S.PREEMPTED and _follows_mode(session, report):
        _stop_proven(work, session, columns, facts)
    elif state == S.STOPPING and session.stop_goal == Mode.RESCHEDULE and _follows_mode(session, report):
        transitions.transition_session(
            work, session, T.ASKED_REQUEUED, reason="person", columns=columns, facts=facts
        )
        _name_end(session, "requeued")
    else:
        _own_end(work, session, report, columns=columns, facts=facts)
    work.ask_round(session.group_id)


def _follows_mode(session: models.Session, report: messages.Ended) -> bool:
    """Say whether the exit counts as the effect of the stop, not as the session's own end."""
    if session.stop_goal == Mode.SUSPEND or not report.known:
        return session.stop_goal != Mode.SUSPEND
    if not report.after_warning and report.cause == fields.EndCause.SELF:
        return False
    if report.exit_code == 0:
        return report.checkpointed or session.exit_0_after_warning == "checkpointed"
    return True


def _stop_proven(
    work: unit.Work, session: models.Session, columns: dict[str, Any], facts: dict[str, Any]
) -> None:
    decision = open_decision(session)
    is_requeue = session.stop_goal == Mode.RESCHEDULE
    transitions.transition_session(
        work,
        session,
        T.STOP_PROVEN_REQUEUE if is_requeue else T.STOP_PROVEN_TERMINATE,
        reason=PREEMPTED_BY_SCHEDULER,
        decision=decision,
        result=R.PREEMPTED,
        columns=columns,
        facts=facts,
    )
    _name_end(session, "preempted", attempt=session.attempt - 1 if is_requeue else session.attempt)
    close_victim(work, session, Fate.STOPPED, facts)


def _own_end(
    work: unit.Work,
    session: models.Session,
    report: messages.Ended,
    *,
    columns: dict[str, Any],
    facts: dict[str, Any],
) -> None:
    result, reason = _result(session, report)
    was_victim = session.state == S.PREEMPTED
    if session.state == S.SCHEDULED:
        reservations.finish_used(work, session)
    transitions.transition_session(
        work, session, T.ENDED, reason=reason, result=result, columns=columns, facts=facts
    )
    _name_end(session, result.value)
    if was_victim:
        close_victim(work, session, Fate.FINISHED, facts)
    withdrawals.holder_gone(work, session, cause="preemptor ended")


def _result(session: models.Session, report: messages.Ended) -> tuple[states.Result, str]:
    if not report.known:
        return R.LOST, "exit status unknown"
    is_own = report.cause == fields.EndCause.SELF and not report.after_warning
    if session.state == S.TERMINATING and not is_own:
        return R(session.end_result or R.CANCELLED), "asked"
    if report.cause == fields.EndCause.WALL_TIME:
        return R.TIMEOUT, "wall time"
    if report.exit_code == 0:
        return R.SUCCESS, "exit code 0"
    return (
        R.FAILURE,
        f"exit code {report.exit_code}" if report.exit_code is not None else f"signal {report.signal}",
    )


def _is_multi_node(session: models.Session) -> bool:
    return session.node_count > 1


def _all_ended(work: unit.Work, session: models.Session, node: models.Node) -> bool:
    """
    Note the end on one node of a multi-node session, and end the others with it.

    Returns:
        Whether this was the last one.
    """
    ended_on = set(session.ended_nodes) | {node.pk}
    transitions.touch(session, ended_nodes=sorted(ended_on))
    rest = set(session.allocations.values_list("node_id", flat=True)) - ended_on
    if rest:
        orders.kill(work, session, cause="cancelled", grace=0, node_ids=sorted(rest))
    return not rest


def nothing_ran(work: unit.Work, session: models.Session) -> None:
    """End a session that was cancelled before anything of it ran."""
    commands.settle_all(session, "nothing ran", now=work.now)
    result = R(session.end_result or R.CANCELLED)
    transitions.transition_session(work, session, T.ENDED, reason="asked", result=result)
    _name_end(session, result.value)


def lost(work: unit.Work, session: models.Session, node: models.Node, *, reason: str) -> None:
    """Apply the proof that a node no longer has a session that it should have."""
    commands.settle_all(session, "lost", now=work.now)
    state = S(session.state)
    if state == S.TERMINATING:
        nothing_ran(work, session)
    elif state in states.HOLDING:
        was_victim = state == S.PREEMPTED
        _lost_from(work, session, node, reason=reason)
        if was_victim:
            close_victim(work, session, Fate.LOST)
    work.ask_round(session.group_id)


def _lost_from(work: unit.Work, session: models.Session, node: models.Node, *, reason: str) -> None:
    models.Run.objects.filter(session=session, attempt=session.attempt).update(
        ended_at=work.now, how_ended="lost"
    )
    facts = {"node_name": node.name}
    if session.restartable:
        transitions.transition_session(work, session, T.LOST_REQUEUE, reason=reason, facts=facts)
    else:
        transitions.transition_session(work, session, T.LOST_END, reason=reason, result=R.LOST, facts=facts)
    withdrawals.holder_gone(work, session, cause="preemptor's node lost")


def open_decision(session: models.Session) -> models.Decision | None:
    """Return the decision whose victim the session is now."""
    victim = models.Victim.objects.filter(session=session, fate=None).select_related("decision").last()
    return victim.decision if victim else None


def close_victim(
    work: unit.Work, session: models.Session, fate: Fate, evidence: dict[str, Any] | None = None
) -> None:
    """Write what became of a session as a victim, once."""
    for victim in models.Victim.objects.filter(session=session, fate=None):
        models.VictimFate.objects.create(victim=victim, fate=fate, evidence=evidence or {}, at=work.now)


def drop_run(session: models.Session) -> None:
    """Forget the run of a dispatch that never started."""
    models.Run.objects.filter(session=session, attempt=session.attempt, started_at=None).delete()


def _close_run(work: unit.Work, session: models.Session, report: messages.Ended) -> None:
    models.Run.objects.filter(session=session, attempt=session.attempt).update(
        ended_at=work.now,
        exit_code=report.exit_code,
        exit_signal=report.signal,
        cpu_ms=report.cpu_ms,
        peak_bytes=report.peak_bytes,
        ran_ms=report.ran_ms,
        was_checkpointed=report.checkpointed,
    )
    if report.ran_ms and session.state == S.SCHEDULED:
        models.Run.objects.filter(session=session, attempt=session.attempt, started_at=None).update(
            started_at=work.now
        )


def _name_end(session: models.Session, how: str, *, attempt: int | None = None) -> None:
    number = session.attempt if attempt is None else attempt
    if how == "requeued":
        number = session.attempt - 1
    models.Run.objects.filter(session=session, attempt=number).update(how_ended=how)
