"""
Take the reports of agents: open, fence, apply, acknowledge.

The node is the key's, never the body's. A report is accepted only for a session that is held on that node, with the
epoch of the run it speaks of; what was already applied changes nothing. A report that opens no key changes nothing
and costs one line of the security log (P08).
"""

from __future__ import annotations

import logging

from django.db import transaction

from scheduler import clock, errors, models
from scheduler.core import states
from scheduler.protocol import errors as protocol_errors
from scheduler.protocol import messages, signing
from scheduler.services import actors, commands, locks, node_reports, session_reports
from scheduler.services import work as unit

log = logging.getLogger(__name__)
security = logging.getLogger("xce.security")

_NODE_REPORTS = (messages.Hello, messages.Heartbeat)
#: Reports whose loss costs nothing: not acknowledged, not fenced by commands.
_EPHEMERAL = (messages.Heartbeat, messages.OutputTail, messages.OutputPage)


def receive(text: str) -> None:
    """Apply one envelope. Never raises for what came from outside."""
    try:
        envelope = signing.open_envelope(text, keys=_keys(text), direction="up")
    except protocol_errors.ProtocolError as error:
        security.warning("report refused: %s", error)
        return
    node = models.Node.objects.filter(name=envelope.node).first()
    if node is None:
        security.warning("report refused: node %s is gone", envelope.node)
        return
    apply(node, envelope)
    if not isinstance(envelope.body, _EPHEMERAL):
        _acknowledge(node, envelope)


def _keys(text: str) -> dict[str, signing.NodeKey]:
    rows = models.AgentKey.objects.filter(revoked_at=None).select_related("node")
    return {row.key_id: signing.NodeKey(row.key_id, row.node.name, bytes(row.secret)) for row in rows}


def apply(node: models.Node, envelope: signing.Envelope) -> None:
    """Apply one opened report of a node."""
    _heard(node, envelope)
    report = envelope.body
    if isinstance(report, messages.Hello):
        node_reports.hello(node, report)
    elif isinstance(report, messages.Heartbeat):
        node_reports.heartbeat(node, report)
    elif isinstance(report, messages.OutputTail):
        session_reports.output_tail(node, report)
    elif isinstance(report, messages.Report):
        _about_session(node, report)


def _heard(node: models.Node, envelope: signing.Envelope) -> None:
    status, _ = models.AgentStatus.objects.get_or_create(node=node)
    with transaction.atomic():
        rows = models.AgentStatus.objects.filter(pk=status.pk)
        rows.update(last_report_at=clock.now(), boot=envelope.boot, sequence=envelope.seq)


def _about_session(node: models.Node, report: messages.Report) -> None:
    seen = models.Session.objects.filter(public_id=report.session).values_list("pk", flat=True).first()
    if seen is None:
        security.warning("report %s of %s about no session of ours", report.TYPE, node.name)
        return
    try:
        with unit.begin(actors.Actor(None, f"agent {node.name}")) as work:
            session = locks.session(seen)
            if not _is_held_there(session, node):
                commands.settle(session, report.command_id, "stale", now=work.now)
                _refuse_elsewhere(node, session, report)
                return
            session_reports.apply(work, session, node, report)
    except (states.ForbiddenTransition, errors.Staleness) as error:
        log.info("report %s of %s changed nothing: %s", report.TYPE, node.name, error)


def _is_held_there(session: models.Session, node: models.Node) -> bool:
    return session.allocations.filter(node=node).exists()


def _refuse_elsewhere(node: models.Node, session: models.Session, report: messages.Report) -> None:
    known = models.Run.objects.filter(session=session, node_names__contains=[node.name]).exists()
    if not known:
        security.warning("report %s of %s about a session of another node", report.TYPE, node.name)


def _acknowledge(node: models.Node, envelope: signing.Envelope) -> None:
    try:
        commands.acknowledge(node, boot=envelope.boot, seq=envelope.seq)
    except Exception as error:  # noqa: BLE001 - whatever a broker client raises: it is sent again
        log.warning("report of %s was not acknowledged: %s", node.name, error)
