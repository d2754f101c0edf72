"""
The one place for time-outs: everything that waits has a deadline, and a rule for when it has passed.

Runs each second; every rule works in small transactions of its own and finds its work by looking.
"""

from __future__ import annotations

import datetime
import logging
from collections.abc import Callable

from django.conf import settings
from django.db import OperationalError
from django.db.models import DurationField, ExpressionWrapper, F

from scheduler import clock, errors, models, points
from scheduler.core import entities, states
from scheduler.selectors import consistency, nodes
from scheduler.services import (
    actors,
    backoffs,
    commands,
    control,
    listening,
    locks,
    lost_nodes,
    multi_node,
    orders,
    planned_changes,
    session_reports,
    transitions,
    victims,
    withdrawals,
)
from scheduler.services import work as unit

S = states.SessionState
log = logging.getLogger(__name__)


def run() -> None:
    """Apply every rule once. A rule that fails does not keep the others from their turn."""
    rules: tuple[Callable[[], None], ...] = (
        listening.note,
        send_commands,
        suspect_silent_nodes,
        lost_nodes.lose_sessions_of_nodes_that_are_down,
        lost_nodes.lose_fenced_sessions,
        expire_reservations,
        end_reservations_of_closed_nodes,
        flag_stuck_stops,
        cancel_late_starts,
        order_again,
        requeue_long_suspended,
        planned_changes.carry_out_due,
    )
    for rule in rules:
        try:
            rule()
            points.reach("reconcile.looked")
        except (errors.XceError, OperationalError) as error:
            log.warning("reconciler: %s: %s", rule.__name__, error)


def send_commands() -> None:
    """Send again what is not settled."""
    try:
        commands.send_due(clock.now())
    except Exception as error:  # noqa: BLE001 - whatever a broker client raises: tried again
        log.warning("commands were not sent: %s", error)


def suspect_silent_nodes() -> None:
    """Close a node whose agent was silent too long while we listened; its sessions keep what they hold."""
    limit = clock.now() - datetime.timedelta(seconds=nodes.SUSPECT_AFTER_S * settings.TIME_SCALE)
    if listening.since(limit) > limit:
        return
    silent = models.Node.objects.filter(state=entities.NodeState.READY.value, agent__last_report_at__lt=limit)
    for node in silent.order_by("pk"):
        with unit.begin(actors.SYSTEM) as work:
            rows = models.Node.objects.filter(pk=node.pk, state=entities.NodeState.READY.value)
            text = "its agent is silent"
            if rows.update(state=entities.NodeState.SUSPECT.value, state_reason=text):
                work.tell("node.state_changed", node=node, changed=("state",), state="suspect", reason=text)


def expire_reservations() -> None:
    """End what was reserved in vain for too long, and close the node to that session for a while (DESIGN 5.6)."""
    due = models.Reservation.objects.filter(deadline__lte=clock.now(), is_consumed=False)
    for pk, session_id in list(due.order_by("pk").values_list("pk", "session_id")):
        with unit.begin(actors.SYSTEM) as work:
            session = locks.session(session_id)
            kept = (
                models.Reservation.objects.filter(pk=pk, is_consumed=False).select_related("decision").first()
            )
            if kept is None:
                continue
            backoffs.close(work, session, [kept.node_id])
            withdrawals.give_up(work, kept, models.Outcome.Kind.WASTED, cause="timed out")


def end_reservations_of_closed_nodes() -> None:
    """End reservations on nodes that are not ready any more."""
    closed = models.Reservation.objects.filter(is_consumed=False).exclude(
        node__state=entities.NodeState.READY.value
    )
    for pk, session_id in list(closed.order_by("pk").values_list("pk", "session_id")):
        with unit.begin(actors.SYSTEM) as work:
            locks.session(session_id)
            kept = (
                models.Reservation.objects.filter(pk=pk, is_consumed=False).select_related("decision").first()
            )
            if kept is not None:
                withdrawals.end_reservation(work, kept, cause="node left ready")


def flag_stuck_stops() -> None:
    """Tell, once, of a stop that is not proven at its deadline: the session is stuck and holds its slots."""
    late = models.Session.objects.filter(
        state__in=states.BEING_STOPPED, state_deadline__lte=clock.now(), is_stuck=False
    )
    for pk in list(late.order_by("pk").values_list("pk", flat=True)):
        with unit.begin(actors.SYSTEM) as work:
            session = locks.session(pk)
            if session.state_deadline is None or session.state_deadline > work.now or session.is_stuck:
                continue
            transitions.touch(session, is_stuck=True)
            for allocation in session.allocations.select_related("node").order_by("node_id"):
                work.tell("session.stuck", session=session, node=allocation.node, state=session.state)
            session_reports.suspend_is_late(work, session)
            work.ask_round(session.group_id)


def cancel_late_starts() -> None:
    """Tell, once, of a dispatch that is not answered at its deadline, and order its cancel: the answer decides."""
    late = models.Session.objects.filter(
        state=S.SCHEDULED, state_deadline__lte=clock.now(), is_stuck=False, stop_goal=""
    )
    for pk in list(late.order_by("pk").values_list("pk", flat=True)):
        with unit.begin(actors.SYSTEM) as work:
            session = locks.session(pk)
            if not _is_late_start(session, work.now):
                continue
            transitions.touch(session, is_stuck=True, state_deadline=orders.answer_deadline(work.now))
            orders.cancel_start(work, session)
            work.tell("session.late", session=session, state=session.state)


def _is_late_start(session: models.Session, now: datetime.datetime) -> bool:
    """Say whether a start is late; one that is being undone or cancelled already is left to that."""
    if session.state != S.SCHEDULED or session.is_stuck or session.stop_goal:
        return False
    if multi_node.is_being_swept(session):
        return False
    cancels = session.commands.filter(kind=models.AgentCommand.Kind.CANCEL_START, settled_at=None)
    is_over = session.state_deadline is not None and session.state_deadline <= now
    return is_over and not cancels.exists()


def order_again() -> None:
    """Order anew, past its deadline, what a session in transition waits for and no open command asks for."""
    for pk in list(consistency.forgotten(clock.now()).order_by("pk").values_list("pk", flat=True)):
        with unit.begin(actors.SYSTEM) as work:
            session = locks.session(pk)
            if consistency.forgotten(work.now).filter(pk=pk).exists():
                orders.again(work, session, decision=victims.open_decision(session))


def requeue_long_suspended() -> None:
    """End what has been suspended longer than its group allows, and put it back into the queue (DESIGN 5.7)."""
    longest = F("group__policy__max_suspend_time") * datetime.timedelta(seconds=1)
    suspended = models.Session.objects.filter(
        state=S.SUSPENDED, group__policy__max_suspend_time__isnull=False
    )
    suspended = suspended.annotate(longest=ExpressionWrapper(longest, output_field=DurationField()))
    late = suspended.filter(state_since__lte=clock.now() - F("longest"))
    for pk in list(late.order_by("pk").values_list("pk", flat=True)):
        with unit.begin(actors.SYSTEM) as work:
            session = locks.session(pk)
            if session.state == S.SUSPENDED:
                control.ask_stop(
                    work,
                    session,
                    mode=entities.PreemptionMode.RESCHEDULE,
                    columns={},
                    reason="suspended too long",
                )
