"""
Take the reports of agents: open, fence, apply, acknowledge.

The node is the key's, never the body's. A report is accepted only for a session that is held on that node, with the
epoch of the run it speaks of; what was already applied changes nothing. A report that changes nothing costs one line
of the security log (P08): a warning where it has no ground, information where it was merely said again or late.
"""

from __future__ import annotations

import dataclasses
import logging

from django.db import transaction

from scheduler import clock, errors, logs, models, points
from scheduler.core import states
from scheduler.protocol import errors as protocol_errors
from scheduler.protocol import messages, signing
from scheduler.services import (
    actors,
    answers,
    commands,
    locks,
    node_reports,
    output_pages,
    report_texts,
    session_reports,
)
from scheduler.services import work as unit

log = logging.getLogger(__name__)
security = logging.getLogger("xce.security")

#: Boots of a node's kernel before the present one; their reports may still come, but say nothing of now.
EARLIER_BOOTS = "earlier_boots"
BOOTS_KEPT = 1000
#: Reports of which nobody waits to hear that they were heard.
_UNANSWERED = (messages.OutputPage,)
_EFFECTIVE = (answers.Standing.EVIDENCE, answers.Standing.HELD_AGAIN)


def receive(text: str) -> None:
    """Apply one envelope. Never raises for what came from outside."""
    try:
        envelope = signing.open_envelope(text, keys=_keys(text), direction="up")
    except protocol_errors.ProtocolError as error:
        security.warning("report refused: %s", error)
        return
    points.reach("report.opened")
    node = models.Node.objects.filter(name=envelope.node).first()
    if node is None:
        security.warning("report refused: node %s is gone", envelope.node)
        return
    is_applied = apply(node, dataclasses.replace(envelope, body=report_texts.storable(envelope.body)))
    points.reach("report.applied")
    if is_applied and not isinstance(envelope.body, _UNANSWERED):
        _acknowledge(node, envelope)
        points.reach("report.acknowledged")


def _keys(text: str) -> dict[str, signing.NodeKey]:
    rows = models.AgentKey.objects.filter(revoked_at=None).select_related("node")
    return {row.key_id: signing.NodeKey(row.key_id, row.node.name, bytes(row.secret)) for row in rows}


def apply(node: models.Node, envelope: signing.Envelope) -> bool:
    """
    Apply one opened report of a node.

    Returns:
        Whether it is done with; False asks for it again.
    """
    status, _ = models.AgentStatus.objects.get_or_create(node=node)
    is_news = _is_news(status, envelope)
    if is_news and status.facts.get(commands.KEY_FACT) != envelope.key_id:
        _note_key(node, envelope.key_id)
    is_done = _apply(node, envelope.body, is_news=is_news)
    if is_news:
        _note_heard(node, envelope)
    return is_done


def _apply(node: models.Node, report: messages.Message, *, is_news: bool) -> bool:
    match report:
        case messages.Hello() | messages.Heartbeat() if report.session or report.command_id or report.epoch:
            security.warning("report %s of %s names a session or a command", report.TYPE, node.name)
        case messages.Hello() | messages.Heartbeat() if not is_news:
            security.info("report %s of %s is repeated or late", report.TYPE, node.name)
        case messages.Hello():
            node_reports.hello(node, report)
        case messages.Heartbeat():
            node_reports.heartbeat(node, report)
        case messages.Report(session=""):
            security.warning("report %s of %s names no session", report.TYPE, node.name)
        case messages.OutputTail():
            _tell(node, report, session_reports.output_tail(node, report))
        case messages.OutputPage() | messages.Gone() if output_pages.take(node, report):
            log.info("a page of output came from %s", node.name)
        case messages.OutputPage():
            _tell(node, report, answers.Standing.UNFOUNDED)
        case messages.Report():
            return _about_session(node, report)
    return True


def _is_news(status: models.AgentStatus, envelope: signing.Envelope) -> bool:
    """
    Say whether a report is later than all before.

    One that is repeated, delayed or of an earlier boot says nothing about the node as it is now.
    """
    if envelope.boot == status.boot:
        return envelope.seq > status.sequence
    return envelope.boot not in status.facts.get(EARLIER_BOOTS, [])


def _note_key(node: models.Node, key_id: str) -> None:
    """Answer an agent with the key that it signs with, from this report on."""
    with transaction.atomic():
        status = models.AgentStatus.objects.select_for_update(no_key=True).get(node=node)
        status.facts = {**status.facts, commands.KEY_FACT: key_id}
        status.save(update_fields=["facts"])


def _note_heard(node: models.Node, envelope: signing.Envelope) -> None:
    with transaction.atomic():
        status = models.AgentStatus.objects.select_for_update(no_key=True).get(node=node)
        if not _is_news(status, envelope):
            return
        if status.boot and envelope.boot != status.boot:
            earlier = [*status.facts.get(EARLIER_BOOTS, []), status.boot]
            status.facts = {**status.facts, EARLIER_BOOTS: earlier[-BOOTS_KEPT:]}
        status.last_report_at, status.boot, status.sequence = clock.now(), envelope.boot, envelope.seq
        status.save(update_fields=["facts", "last_report_at", "boot", "sequence"])


def _about_session(node: models.Node, report: messages.Report) -> bool:
    seen = models.Session.objects.filter(public_id=report.session).values_list("pk", flat=True).first()
    if seen is None:
        security.warning("report %s of %s about no session of ours", report.TYPE, node.name)
        return True
    if not isinstance(report, messages.OutputTail):
        log.info("%s reports %s", node.name, report.TYPE, extra=logs.about(session=report.session))
    try:
        with unit.begin(actors.Actor(None, f"agent {node.name}")) as work:
            _judge(work, locks.session(seen), node, report)
            points.reach("report.judged")
    except states.ForbiddenTransition as error:
        log.info("report %s of %s changed nothing: %s", report.TYPE, node.name, error)
        with transaction.atomic():
            answers.take(locks.session(seen), node, report, now=clock.now())
    except errors.Staleness as error:
        log.info("report %s of %s is asked for again: %s", report.TYPE, node.name, error)
        return False
    return True


def _judge(work: unit.Work, session: models.Session, node: models.Node, report: messages.Report) -> None:
    """Apply a report that is evidence; one without ground costs a line of the security log."""
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
    _tell(node, report, standing)


def _tell(node: models.Node, report: messages.Report, standing: answers.Standing) -> None:
    """Write the line that a report without effect costs."""
    match standing:
        case answers.Standing.FOREIGN:
            security.warning("report %s of %s about a session of another node", report.TYPE, node.name)
        case answers.Standing.UNFOUNDED:
            security.warning("report %s of %s answers no command of ours", report.TYPE, node.name)
        case answers.Standing.REPEATED:
            security.info("report %s of %s is about what is settled or over", report.TYPE, node.name)


def _ran_there(session: models.Session, node: models.Node) -> bool:
    return models.Run.objects.filter(session=session, node_names__contains=[node.name]).exists()


def _acknowledge(node: models.Node, envelope: signing.Envelope) -> None:
    try:
        commands.acknowledge(node, boot=envelope.boot, seq=envelope.seq)
    except Exception as error:  # noqa: BLE001 - whatever a broker client raises: it is sent again
        log.warning("report of %s was not acknowledged: %s", node.name, error)
