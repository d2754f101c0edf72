"""
Which report answers which command.

A report that answers a command is evidence only when that command was given: to this node, for this run of this
session, and of a kind that can be answered so. What was answered before is not answered again (P02, P08).
"""

from __future__ import annotations

import datetime
import enum

from scheduler import models
from scheduler.core import states
from scheduler.protocol import messages
from scheduler.services import commands

Kind = models.AgentCommand.Kind

#: What may be said to each kind of command; ``Gone`` may be said to all, and ``Ended`` needs no command.
_POSSIBLE: dict[Kind, tuple[type[messages.Report], ...]] = {
    Kind.START: (messages.Started, messages.StartFailed, messages.StartRefused),
    Kind.STOP: (messages.Stopped, messages.StopFailed, messages.Withdrawn),
    Kind.RESUME: (messages.Resumed, messages.ResumeFailed, messages.StartRefused),
    Kind.WITHDRAW: (messages.Withdrawn, messages.WithdrawRefused),
    Kind.CANCEL_START: (messages.StartRefused, messages.StartedAlready),
    Kind.KILL: (),
}


class Standing(enum.Enum):
    """What a report is worth."""

    EVIDENCE = enum.auto()  #: the answer to a command, or an end that nobody ordered
    HELD_AGAIN = (
        enum.auto()
    )  #: a later proof of a suspend that was proven: the session had run, and is stopped again
    REPEATED = enum.auto()  #: the command is answered already, or the run is over
    UNFOUNDED = enum.auto()  #: no such command was given, or there was no such run
    FOREIGN = enum.auto()  #: the session never was on that node


def take(
    session: models.Session, node: models.Node, report: messages.Report, *, now: datetime.datetime
) -> Standing:
    """Judge a report, and settle the command that it answers; one about another run settles nothing else."""
    if not report.command_id:
        return Standing.EVIDENCE if isinstance(report, messages.Ended) else Standing.UNFOUNDED
    rows = models.AgentCommand.objects.filter(session=session, node=node, command_id=report.command_id)
    row = rows.first()
    if row is None or not _fits(session, row, report):
        return Standing.UNFOUNDED
    is_new = row.settled_at is None or row.settled_how == commands.SUPERSEDED
    is_again = not is_new and _is_held_again(session, row, report)
    if is_new:
        rows.update(settled_at=row.settled_at or now, settled_how=report.TYPE, answered_ms=report.at_mono_ms)
    if is_again:
        rows.update(answered_ms=report.at_mono_ms)
        return Standing.HELD_AGAIN
    return Standing.EVIDENCE if is_new or isinstance(report, messages.Ended) else Standing.REPEATED


def _is_held_again(session: models.Session, row: models.AgentCommand, report: messages.Report) -> bool:
    """Say whether a suspended session was stopped once more, later than by all that was said of it before."""
    is_proven = isinstance(report, messages.Stopped) and row.settled_how == report.TYPE
    is_later = row.answered_ms is not None and report.at_mono_ms > row.answered_ms
    return is_proven and is_later and session.state == states.SessionState.SUSPENDED


def is_current(session: models.Session, report: messages.Report) -> bool:
    """Say whether a report speaks of the session's present run."""
    if report.epoch == session.epoch:
        return True
    is_resuming = session.is_resume and session.state == states.SessionState.SCHEDULED
    return isinstance(report, messages.Ended) and is_resuming and report.epoch == session.epoch - 1


def _fits(session: models.Session, row: models.AgentCommand, report: messages.Report) -> bool:
    if isinstance(report, messages.Ended):
        return row.epoch == report.epoch or is_current(session, report)
    is_possible = isinstance(report, (messages.Gone, *_POSSIBLE[Kind(row.kind)]))
    return is_possible and row.epoch == report.epoch
