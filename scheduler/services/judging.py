"""
Reports about sessions: judged, and applied where they are evidence.

Reports of one node that came together are applied in one transaction, in their order: many sessions that start or end
at one time then cost one set of locks, one commit and one bell. Where one of them cannot be applied so, each is taken
alone.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Sequence

from django.db import transaction

from scheduler import clock, errors, logs, models, points
from scheduler.core import states
from scheduler.protocol import messages
from scheduler.services import actors, answers, locks, session_reports
from scheduler.services import work as unit

log = logging.getLogger(__name__)
security = logging.getLogger("xce.security")

_EFFECTIVE = (answers.Standing.EVIDENCE, answers.Standing.HELD_AGAIN)


def apply(node: models.Node, told: Sequence[messages.Report]) -> list[bool]:
    """
    Apply reports of one node, each about a session.

    Returns:
        For each whether it is done with; False asks for it again.
    """
    seen = _find(told)
    for report in told:
        if report.session in seen:
            log.info("%s reports %s", node.name, report.TYPE, extra=logs.about(session=report.session))
    if len(told) > 1:
        with contextlib.suppress(_NotTogether):
            return _apply_together(node, told, seen)
    return [_apply_alone(node, report, seen, among=len(told)) for report in told]


class _NotTogether(Exception):
    """One of several reports cannot be applied; nothing was."""


#: Public id -> id, owner and queue of a session.
_Seen = dict[str, tuple[int, int, int]]


def _find(told: Sequence[messages.Report]) -> _Seen:
    rows = models.Session.objects.filter(public_id__in={report.session for report in told})
    return {
        str(public_id): facts
        for public_id, *facts in rows.values_list("public_id", "pk", "owner_id", "queue_id")
    }


def _apply_together(node: models.Node, told: Sequence[messages.Report], seen: _Seen) -> list[bool]:
    ids, owner_ids, queue_ids = (
        (sorted(set(column)) for column in zip(*seen.values(), strict=True)) if seen else ([],) * 3
    )
    standings: list[answers.Standing | None] = []
    try:
        with unit.begin(_actor(node)) as work:
            locked = locks.together(ids, owner_ids=owner_ids, queue_ids=queue_ids)
            for report in told:
                session = locked.get(seen[report.session][0]) if report.session in seen else None
                standings.append(_judge(work, session, node, report) if session is not None else None)
            points.reach("report.judged")
    except (states.ForbiddenTransition, errors.Staleness) as error:
        log.info("%s reports of %s are taken one by one: %s", len(told), node.name, error)
        raise _NotTogether from None
    except Exception:
        log.exception("%s reports of %s could not be applied together", len(told), node.name)
        raise _NotTogether from None
    for report, standing in zip(told, standings, strict=True):
        tell(node, report, standing)
    return [True] * len(told)


def _apply_alone(node: models.Node, report: messages.Report, seen: _Seen, *, among: int) -> bool:
    """Apply one report; what fails unforeseen is told and raised, unless others came along with it."""
    if report.session not in seen:
        tell(node, report, None)
        return True
    try:
        return _apply(node, report, *seen[report.session])
    except Exception:
        if among == 1:
            raise
        log.exception("report %s of %s could not be applied", report.TYPE, node.name)
        return False


def _apply(node: models.Node, report: messages.Report, session_id: int, owner_id: int, queue_id: int) -> bool:
    try:
        with unit.begin(_actor(node)) as work:
            locked = locks.together([session_id], owner_ids=[owner_id], queue_ids=[queue_id])
            standing = _judge(work, locked[session_id], node, report)
            points.reach("report.judged")
    except states.ForbiddenTransition as error:
        log.info("report %s of %s changed nothing: %s", report.TYPE, node.name, error)
        with transaction.atomic():
            answers.take(locks.session(session_id), node, report, now=clock.now())
        return True
    except errors.Staleness as error:
        log.info("report %s of %s is asked for again: %s", report.TYPE, node.name, error)
        return False
    tell(node, report, standing)
    return True


def _actor(node: models.Node) -> actors.Actor:
    return actors.Actor(None, f"agent {node.name}")


def _judge(
    work: unit.Work, session: models.Session, node: models.Node, report: messages.Report
) -> answers.Standing:
    """Apply a report that is evidence; return what it was worth."""
    standing = answers.take(session, node, report, now=work.now)
    if not session.allocations.filter(node=node).exists():
        ran = _ran_there(session, node)
        standing = answers.Standing.REPEATED if ran else answers.Standing.FOREIGN
    elif standing in _EFFECTIVE and not answers.is_current(session, report):
        standing = answers.Standing.REPEATED
    if standing is answers.Standing.EVIDENCE:
        session_reports.apply(work, session, node, report)
    elif standing is answers.Standing.HELD_AGAIN:
        session_reports.held_again(work, session, node)
    return standing


def _ran_there(session: models.Session, node: models.Node) -> bool:
    return models.Run.objects.filter(session=session, node_names__contains=[node.name]).exists()


def tell(node: models.Node, report: messages.Report, standing: answers.Standing | None) -> None:
    """Write the line that a report without effect costs; None: it names no session of ours."""
    match standing:
        case None:
            security.warning("report %s of %s about no session of ours", report.TYPE, node.name)
        case answers.Standing.FOREIGN:
            security.warning("report %s of %s about a session of another node", report.TYPE, node.name)
        case answers.Standing.UNFOUNDED:
            security.warning("report %s of %s answers no command of ours", report.TYPE, node.name)
        case answers.Standing.REPEATED:
            security.info("report %s of %s is about what is settled or over", report.TYPE, node.name)
