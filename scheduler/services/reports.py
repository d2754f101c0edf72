"""
Take the reports of agents: open, fence, apply, acknowledge. Those that came together are taken together.

The node is the key's, never the body's. A report is accepted only for a session that is held on that node, with the
epoch of the run it speaks of; what was already applied changes nothing. A report that changes nothing costs one line
of the security log (P08): a warning where it has no ground, information where it was merely said again or late.
"""

from __future__ import annotations

import itertools
import logging
from collections.abc import Iterator, Sequence

from django.db import transaction

from scheduler import clock, models, points
from scheduler.protocol import errors as protocol_errors
from scheduler.protocol import messages, signing
from scheduler.services import (
    answers,
    commands,
    judging,
    node_reports,
    output_pages,
    report_texts,
    session_reports,
)

log = logging.getLogger(__name__)
security = logging.getLogger("xce.security")

#: Boots of a node's kernel before the present one; their reports may still come, but say nothing of now.
EARLIER_BOOTS = "earlier_boots"
BOOTS_KEPT = 1000
#: Reports of which nobody waits to hear that they were heard.
_UNANSWERED = (messages.OutputPage,)


def receive(text: str) -> None:
    """Apply one envelope. Never raises for what came from outside."""
    receive_many([text])


def receive_many(texts: Sequence[str]) -> None:
    """Apply envelopes, those of a node in their order. Never raises for what came from outside."""
    keys = _Keys()
    opened: dict[int, list[signing.Envelope]] = {}
    for text in texts:
        try:
            envelope = signing.open_envelope(text, keys=keys, direction="up")
        except protocol_errors.ProtocolError as error:
            security.warning("report refused: %s", error)
        else:
            opened.setdefault(keys.nodes[envelope.key_id].pk, []).append(envelope)
    if opened:
        points.reach("report.opened")
    for envelopes in opened.values():
        _take(keys.nodes[envelopes[0].key_id], envelopes, among=len(texts))


class _Keys(dict[str, signing.NodeKey]):
    """The keys that agents may sign with, each looked up when an envelope names it; `nodes`: key id -> its node."""

    def __init__(self) -> None:
        super().__init__()
        self.nodes: dict[str, models.Node] = {}

    def get(self, key_id: str, default: object = None) -> signing.NodeKey | None:  # type: ignore[override]
        """Return a key that is not revoked, or None."""
        if key_id not in self and "\x00" not in key_id:
            row = (
                models.AgentKey.objects.filter(key_id=key_id, revoked_at=None).select_related("node").first()
            )
            if row is not None:
                self.nodes[key_id] = row.node
                self[key_id] = signing.NodeKey(key_id, row.node.name, bytes(row.secret))
        return super().get(key_id)


def _take(node: models.Node, envelopes: Sequence[signing.Envelope], *, among: int) -> None:
    """Apply what one node said, and acknowledge what is done with. A fault of ours is raised if it harms no other."""
    status, _ = models.AgentStatus.objects.get_or_create(node=node)
    done: list[tuple[str, int]] = []
    for together in _runs(envelopes):
        news = _news(status, together)
        if news is not None and status.facts.get(commands.KEY_FACT) != news.key_id:
            _note_key(node, news.key_id)
        told = [report_texts.storable(envelope.body) for envelope in together]
        try:
            is_done = _apply(node, told, is_news=news is not None)
        except Exception:
            if among == 1:
                raise
            log.exception("report %s of %s could not be applied", told[0].TYPE, node.name)
            continue
        heard = [one for one, is_so in zip(together, is_done, strict=True) if is_so]
        done += [(one.boot, one.seq) for one in heard if not isinstance(one.body, _UNANSWERED)]
        if news is not None:
            status = _note_heard(node, news)
        points.reach("report.applied")
    if done:
        _acknowledge(node, done)
        points.reach("report.acknowledged")


def _runs(envelopes: Sequence[signing.Envelope]) -> Iterator[list[signing.Envelope]]:
    """Divide what a node said, in its order, into what may be applied together: reports about sessions in a row."""
    for is_about_session, said in itertools.groupby(envelopes, key=_is_about_session):
        if not is_about_session:
            yield from ([envelope] for envelope in said)
            continue
        for _, same in itertools.groupby(said, key=lambda envelope: (envelope.boot, envelope.key_id)):
            yield list(same)


def _is_about_session(envelope: signing.Envelope) -> bool:
    apart = (messages.Hello, messages.Heartbeat, messages.OutputTail, messages.OutputPage, messages.Gone)
    body = envelope.body
    return isinstance(body, messages.Report) and bool(body.session) and not isinstance(body, apart)


def _apply(node: models.Node, told: Sequence[messages.Message], *, is_news: bool) -> list[bool]:
    """Apply one report, or several about sessions; says of each whether it is done with."""
    match told:
        case [messages.Hello() | messages.Heartbeat() as said] if (
            said.session or said.command_id or said.epoch
        ):
            security.warning("report %s of %s names a session or a command", said.TYPE, node.name)
        case [messages.Hello() | messages.Heartbeat() as said] if not is_news:
            security.info("report %s of %s is repeated or late", said.TYPE, node.name)
        case [messages.Hello() as said]:
            node_reports.hello(node, said)
        case [messages.Heartbeat() as said]:
            node_reports.heartbeat(node, said)
        case [messages.Report(session="") as said]:
            security.warning("report %s of %s names no session", said.TYPE, node.name)
        case [messages.OutputTail() as said]:
            judging.tell(node, said, session_reports.output_tail(node, said))
        case [messages.OutputPage() | messages.Gone() as said] if output_pages.take(node, said):
            log.info("a page of output came from %s", node.name)
        case [messages.OutputPage() as said]:
            judging.tell(node, said, answers.Standing.UNFOUNDED)
        case _:
            return judging.apply(node, told)  # type: ignore[arg-type]
    return [True]


def _news(status: models.AgentStatus, said: Sequence[signing.Envelope]) -> signing.Envelope | None:
    """Return the latest of what was said that is news, if any is."""
    return max((one for one in said if _is_news(status, one)), key=lambda one: one.seq, default=None)


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


def _note_heard(node: models.Node, envelope: signing.Envelope) -> models.AgentStatus:
    with transaction.atomic():
        status = models.AgentStatus.objects.select_for_update(no_key=True).get(node=node)
        if not _is_news(status, envelope):
            return status
        if status.boot and envelope.boot != status.boot:
            earlier = [*status.facts.get(EARLIER_BOOTS, []), status.boot]
            status.facts = {**status.facts, EARLIER_BOOTS: earlier[-BOOTS_KEPT:]}
        status.last_report_at, status.boot, status.sequence = clock.now(), envelope.boot, envelope.seq
        status.save(update_fields=["facts", "last_report_at", "boot", "sequence"])
    return status


def _acknowledge(node: models.Node, done: Sequence[tuple[str, int]]) -> None:
    try:
        commands.acknowledge(node, done)
    except Exception as error:  # noqa: BLE001 - whatever a broker client raises: they are sent again
        log.warning("%s reports of %s were not acknowledged: %s", len(done), node.name, error)
