"""
How a run ends: by itself, by a stop that was proven, by a cancel, or with its node.

The agent's journal says whether the exit came after the warning: code 0 then means finished, unless the session said
that it only checkpointed; any other end after the warning follows the decision's mode (DESIGN section 3).
"""

from __future__ import annotations

import dataclasses
from typing import Any

from django.db.models import Q, Value
from django.db.models.functions import Coalesce, Greatest

from scheduler import models
from scheduler.core import entities, states
from scheduler.protocol import fields, messages
from scheduler.services import (
    commands,
    dispatches,
    multi_node,
    reservations,
    transitions,
    victims,
    withdrawals,
)
from scheduler.services import work as unit

S, T, R = states.SessionState, states.Trigger, states.Result
Mode = entities.PreemptionMode
PREEMPTED_BY_SCHEDULER = "PREEMPTED_BY_SCHEDULER"
ASKED = "asked"
_RESULTS = frozenset(result.value for result in R)


@dataclasses.dataclass(frozen=True)
class End:
    """What is known of an end."""

    how: str  #: one of ``multi_node.GRAVITY``
    reason: str  #: for the row and the event, at most 64 characters
    columns: dict[str, Any] = dataclasses.field(default_factory=dict)  #: of the session, written along
    facts: dict[str, Any] = dataclasses.field(default_factory=dict)  #: for the event


def ended(work: unit.Work, session: models.Session, node: models.Node, report: messages.Ended) -> None:
    """Apply the proof that no process of a session is left on one node."""
    if session.state in (S.TERMINATED, S.PENDING):
        return
    if node.pk in session.ended_nodes:
        dispatches.confirm(work, session, node, report)  # the others may have waited for just this answer
        return
    how, reason = _judge(session, report)
    is_cause = not multi_node.was_swept(session, report.cause) and multi_node.is_graver(session, how)
    _close_run(work, session, node, report, is_cause=is_cause)
    columns = {"exit_code": report.exit_code, "exit_signal": report.signal}
    facts = {
        "node_name": node.name,
        "exit_code": report.exit_code,
        "signal": report.signal,
        "ran_ms": report.ran_ms,
    }
    on_node(work, session, node, End(how, reason, columns, facts))


def lost(work: unit.Work, session: models.Session, node: models.Node, *, reason: str) -> None:
    """Apply the proof that a node no longer has a session that it should have."""
    is_expected = session.state == S.TERMINATING or multi_node.is_being_swept(session)
    end = End("", ASKED) if is_expected else End(R.LOST.value, reason, facts={"node_name": node.name})
    on_node(work, session, node, end)


def nothing_ran(
    work: unit.Work, session: models.Session, node: models.Node, *, reason: str, facts: dict[str, Any]
) -> None:
    """Apply that a start came to nothing on one node."""
    if session.is_resume or session.state not in (S.SCHEDULED, S.TERMINATING):
        return
    how = "" if session.state == S.TERMINATING else multi_node.UNDONE
    on_node(work, session, node, End(how, reason if how else ASKED, facts=facts))


def on_node(work: unit.Work, session: models.Session, node: models.Node, end: End) -> None:
    """Apply the end on one node; with the last one the session is over, or waits again."""
    if session.state in (S.TERMINATED, S.PENDING):
        return
    whole = multi_node.gravest(work, session, node, how=end.how, reason=end.reason)
    if whole is None:
        return
    if multi_node.is_on_several(session) and end.columns:
        end = dataclasses.replace(end, columns=_cause_of(session))
    commands.settle_all(session, "ended", now=work.now)
    _conclude(work, session, dataclasses.replace(end, how=whole[0], reason=whole[1]))
    work.ask_round(session.group_id)


def _conclude(work: unit.Work, session: models.Session, end: End) -> None:
    state = S(session.state)
    if state == S.SCHEDULED and end.how == multi_node.UNDONE:
        dispatches.undone(work, session, reason=end.reason, facts=end.facts)
    elif state != S.TERMINATING and end.how == R.LOST:
        _lose(work, session, end)
    elif state == S.PREEMPTED and end.how == multi_node.FOLLOWS_STOP:
        _stop_proven(work, session, end)
    elif state == S.STOPPING and end.how == multi_node.FOLLOWS_STOP:
        transitions.transition_session(
            work, session, T.ASKED_REQUEUED, reason="person", columns=end.columns, facts=end.facts
        )
        _name_end(work, session, "requeued", attempt=session.attempt - 1)
    else:
        _own_end(work, session, end)


# What one report says


def _judge(session: models.Session, report: messages.Ended) -> tuple[str, str]:
    """Return how a node's end counts, and why."""
    if session.state == S.TERMINATING and not (report.known and _is_own(report)):
        return "", ASKED
    if multi_node.was_swept(session, report.cause):
        return "", "another node ended"
    if _follows_stop(session, report):
        return multi_node.FOLLOWS_STOP, PREEMPTED_BY_SCHEDULER
    if not report.known:
        is_fenced = report.cause == fields.EndCause.FENCED
        return R.LOST.value, "its node was silent and ended it" if is_fenced else "exit status unknown"
    if report.cause == fields.EndCause.WALL_TIME:
        return R.TIMEOUT.value, "wall time"
    if report.exit_code == 0:
        return R.SUCCESS.value, "exit code 0"
    code = f"exit code {report.exit_code}" if report.exit_code is not None else f"signal {report.signal}"
    return R.FAILURE.value, code


def _is_own(report: messages.Ended) -> bool:
    return report.cause == fields.EndCause.SELF and not report.after_warning


def _follows_stop(session: models.Session, report: messages.Ended) -> bool:
    """Say whether the exit counts as the effect of the stop, not as the session's own end."""
    is_requeue = session.state == S.STOPPING and session.stop_goal == Mode.RESCHEDULE
    if not (session.state == S.PREEMPTED or is_requeue) or report.cause == fields.EndCause.WALL_TIME:
        return False
    if not report.known:
        return session.stop_goal != Mode.SUSPEND
    if _is_own(report):
        return False
    if report.exit_code == 0:
        return report.checkpointed or session.exit_0_after_warning == "checkpointed"
    return True


# What becomes of the session


def _stop_proven(work: unit.Work, session: models.Session, end: End) -> None:
    """
    End or requeue a victim. One that ends instead of being suspended is requeued where it may start anew.
    """
    is_gone_from_suspend = session.stop_goal == Mode.SUSPEND and session.restartable
    is_requeue = session.stop_goal == Mode.RESCHEDULE or is_gone_from_suspend
    transitions.transition_session(
        work,
        session,
        T.STOP_PROVEN_REQUEUE if is_requeue else T.STOP_PROVEN_TERMINATE,
        reason=PREEMPTED_BY_SCHEDULER,
        decision=victims.open_decision(session),
        result=R.PREEMPTED,
        columns=end.columns,
        facts=end.facts,
    )
    _name_end(work, session, "preempted", attempt=session.attempt - 1 if is_requeue else session.attempt)
    victims.close(work, session, victims.Fate.STOPPED, end.facts)


def _own_end(work: unit.Work, session: models.Session, end: End) -> None:
    result = R(end.how) if end.how in _RESULTS else R(session.end_result or R.CANCELLED)
    if session.state == S.SCHEDULED:
        reservations.finish_used(work, session)
    transitions.transition_session(
        work, session, T.ENDED, reason=end.reason, result=result, columns=end.columns, facts=end.facts
    )
    _name_end(work, session, result.value)
    victims.close(work, session, victims.Fate.FINISHED, end.facts)
    withdrawals.holder_gone(work, session, cause="preemptor ended")


def _lose(work: unit.Work, session: models.Session, end: End) -> None:
    trigger = T.LOST_REQUEUE if session.restartable else T.LOST_END
    transitions.transition_session(
        work, session, trigger, reason=end.reason, result=R.LOST, columns=end.columns, facts=end.facts
    )
    _name_end(work, session, "lost", attempt=session.attempt - 1 if session.restartable else session.attempt)
    victims.close(work, session, victims.Fate.LOST, end.facts)
    withdrawals.holder_gone(work, session, cause="preemptor's node lost")


# The run


def _close_run(
    work: unit.Work, session: models.Session, node: models.Node, report: messages.Ended, *, is_cause: bool
) -> None:
    """
    Add what a run cost on one node, and write down how it ended where this node's end is the gravest so far.

    Of several nodes the processor time is that of all together, memory and length those of the node that had most.
    """
    runs = models.Run.objects.filter(session=session, attempt=session.attempt)
    is_over = session.state == S.TERMINATING or not multi_node.leaves_others(session, node)
    runs.update(
        ended_at=work.now if is_over else None,
        cpu_ms=Coalesce("cpu_ms", 0) + report.cpu_ms,
        peak_bytes=Greatest(Coalesce("peak_bytes", 0), report.peak_bytes),
        ran_ms=Greatest(Coalesce("ran_ms", 0), report.ran_ms),
    )
    unknown = Q() if is_cause else Q(exit_code=None, exit_signal=None)
    runs.filter(unknown).update(
        exit_code=report.exit_code, exit_signal=report.signal, was_checkpointed=report.checkpointed
    )
    if report.ran_ms and session.state == S.SCHEDULED:
        runs.filter(started_at=None).update(started_at=work.now)


def _cause_of(session: models.Session) -> dict[str, Any]:
    """Return the exit of the node whose end is that of the whole session, as columns of the session."""
    runs = models.Run.objects.filter(session=session, attempt=session.attempt)
    return dict(runs.values("exit_code", "exit_signal").get())


def _name_end(work: unit.Work, session: models.Session, how: str, *, attempt: int | None = None) -> None:
    number = session.attempt if attempt is None else attempt
    runs = models.Run.objects.filter(session=session, attempt=number)
    runs.update(how_ended=how, ended_at=Coalesce("ended_at", Value(work.now)))
