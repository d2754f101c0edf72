"""A dispatch on its way: confirmed by every node, or undone."""

from __future__ import annotations

from typing import Any

from scheduler import models
from scheduler.core import entities, states
from scheduler.protocol import messages
from scheduler.services import (
    claims,
    commands,
    multi_node,
    orders,
    reservations,
    transitions,
    victims,
    withdrawals,
)
from scheduler.services import work as unit

S, T = states.SessionState, states.Trigger
#: Tries of a dispatch that fails before the session is held (DESIGN 11).
TRIES = 5
START_FAILED = "start-failed"
CANNOT_BE_ORDERED = "cannot-be-ordered"
#: Mark of a resume that failed on one node while others may run: they are stopped again first.
UNDO_RESUME = "undo"
_AWAITED = (
    models.AgentCommand.Kind.START,
    models.AgentCommand.Kind.RESUME,
    models.AgentCommand.Kind.CANCEL_START,
)


def confirm(work: unit.Work, session: models.Session, node: models.Node, report: messages.Report) -> None:
    """
    Apply that a session runs on one node: RUNNING once every node has said so.

    A dispatch that was to be cancelled came too late for it: the plan that counted on its room is dropped.
    """
    if session.state != S.SCHEDULED or _is_being_undone(session):
        return
    _cancel_is_too_late(work, session, node)
    if _is_open(session, _AWAITED):
        return
    models.Run.objects.filter(session=session, attempt=session.attempt, started_at=None).update(
        started_at=work.now
    )
    facts = {"nodes": [node.name], "resumed": session.is_resume, "agent_ms": report.at_mono_ms}
    transitions.transition_session(work, session, T.CONFIRM, facts=facts)
    reservations.finish_used(work, session)
    decision = victims.open_decision(session)
    if decision is not None:
        victims.close_withdrawn(work, session)
        victims.end_reservation(work, session, decision, cause="its dispatch had started already")
    work.ask_round(session.group_id)


def _cancel_is_too_late(work: unit.Work, session: models.Session, node: models.Node) -> None:
    """Settle a cancel of this very dispatch on a node that runs it: its answer can be no other any more."""
    cancels = models.AgentCommand.objects.filter(
        session=session,
        node=node,
        epoch=session.epoch,
        kind=models.AgentCommand.Kind.CANCEL_START,
        settled_at=None,
    )
    cancels.update(settled_at=work.now, settled_how=messages.StartedAlready.TYPE)


def _is_being_undone(session: models.Session) -> bool:
    return multi_node.is_being_swept(session) or session.stop_goal == UNDO_RESUME


def _is_open(session: models.Session, kinds: tuple[models.AgentCommand.Kind, ...]) -> bool:
    rows = models.AgentCommand.objects.filter(session=session, kind__in=kinds, settled_at=None)
    return rows.exists()


def undone(work: unit.Work, session: models.Session, *, reason: str, facts: dict[str, Any]) -> None:
    """
    Give back what a dispatch held of which nothing ran: the session waits again, after five failures held.

    A reservation that it had started on is restored, unless its own room was taken by cancelling it.
    """
    columns: dict[str, Any] = {}
    if reason == START_FAILED:
        failures = session.dispatch_failures + 1
        columns = {"dispatch_failures": failures, "is_held": session.is_held or failures >= TRIES}
        facts = {**facts, "tries": failures}
    if victims.close(work, session, victims.Fate.STOPPED):
        withdrawals.holder_gone(work, session, cause="its dispatch was cancelled")
    commands.settle_all(session, reason, now=work.now)
    transitions.transition_session(
        work, session, T.DISPATCH_UNDONE, reason=reason, columns=columns, facts=facts
    )
    models.Run.objects.filter(session=session, attempt=session.attempt).delete()
    if columns.get("is_held"):
        withdrawals.holder_gone(work, session, cause="held after failed starts")
        claims.end(work, session, cause="held")
        work.tell("session.held", session=session, changed=("is_held",), reason=reason, tries=failures)


def cannot_be_ordered(work: unit.Work, session: models.Session, *, why: str) -> None:
    """Hold a pending session whose start cannot be said to an agent; it would be tried, and fail, in each round."""
    transitions.touch(session, is_held=True)
    withdrawals.holder_gone(work, session, cause="held: it cannot be ordered from an agent")
    claims.end(work, session, cause="held")
    work.tell("session.held", session=session, changed=("is_held",), reason=CANNOT_BE_ORDERED, why=why)


def resume_undone(
    work: unit.Work, session: models.Session, node: models.Node, *, reason: str, facts: dict[str, Any]
) -> None:
    """Return a session to SUSPENDED that cannot resume on one node; where it may run already it is stopped again."""
    if session.state != S.SCHEDULED or not session.is_resume or session.stop_goal == UNDO_RESUME:
        return
    others = tuple(pk for pk in _node_ids(session) if pk != node.pk)
    if others:
        policy = session.group.policy
        plan = orders.StopPlan(entities.PreemptionMode.SUSPEND, orders.SIGTSTP, 0, policy, others)
        transitions.touch(session, stop_goal=UNDO_RESUME)
        orders.stop(work, session, plan)
        return
    _suspended_again(work, session, reason=reason, facts=facts)


def stopped_again(work: unit.Work, session: models.Session) -> None:
    """Apply that one node of a failed resume is stopped again; the last one returns the session to SUSPENDED."""
    if session.stop_goal == UNDO_RESUME and not _is_open(session, (models.AgentCommand.Kind.STOP,)):
        _suspended_again(work, session, reason="resume-failed", facts={})


def _suspended_again(work: unit.Work, session: models.Session, *, reason: str, facts: dict[str, Any]) -> None:
    commands.settle_all(session, reason, now=work.now)
    transitions.transition_session(work, session, T.RESUME_UNDONE, reason=reason, facts=facts)
    victims.close(work, session, victims.Fate.STOPPED)


def _node_ids(session: models.Session) -> list[int]:
    rows = session.allocations.order_by("node_id").exclude(node__in=session.ended_nodes)
    return list(rows.values_list("node_id", flat=True))
