"""
What an agent says about its node: hello with all it holds, and heartbeats.

A hello is compared with what the controller believes. What the agent does not have is lost; what it has and should
not have is killed. Silence frees nothing (RELIABILITY 4.7).
"""

from __future__ import annotations

import logging

from django.db import transaction

from scheduler import clock, models
from scheduler.core import entities, states
from scheduler.protocol import fields, messages
from scheduler.services import actors, commands, endings, locks
from scheduler.services import work as unit

S = states.SessionState
log = logging.getLogger(__name__)
security = logging.getLogger("xce.security")
VERSION_LENGTH = 32
#: States in which a process, or its end report, must be on the node.
_HAS_PROCESS = (S.RUNNING, S.PREEMPTED, S.SUSPENDED, S.STOPPING, S.TERMINATING)


def hello(node: models.Node, report: messages.Hello) -> None:
    """Greet an agent: note its facts, open commands are sent again, and both sides' sessions are compared."""
    is_first = _note(node, report)
    with unit.begin(actors.Actor(None, f"agent {node.name}")) as work:
        work.tell("node.joined" if is_first else "node.hello", node=node, version=report.agent_version)
        work.command_ids.extend(commands.send_soon(node, now=work.now))
        work.ask_round(node.group_id)
    is_back(node)
    _compare(node, report)


def _note(node: models.Node, report: messages.Hello) -> bool:
    """Keep what an agent says of itself. Returns whether it is its first hello."""
    with transaction.atomic():
        status = models.AgentStatus.objects.select_for_update(no_key=True).get(node=node)
        is_first = status.hello_at is None
        status.version = report.agent_version[:VERSION_LENGTH]
        facts = {"host": dict(report.host_facts), "enforce": dict(report.enforce)}
        status.facts = {**status.facts, **facts, commands.PROTOCOL_FACT: report.protocol}
        status.hello_at = clock.now()
        status.save(update_fields=["version", "facts", "hello_at"])
    return is_first


def heartbeat(node: models.Node, report: messages.Heartbeat) -> None:
    """Note that the agent lives. A node that was suspect is ready again."""
    is_back(node)
    _kill_strangers(node, report.sessions)


def is_back(node: models.Node) -> None:
    """Make a suspect node ready: its agent has spoken."""
    if node.state != entities.NodeState.SUSPECT:
        return
    with unit.begin(actors.SYSTEM) as work:
        rows = models.Node.objects.filter(pk=node.pk, state=entities.NodeState.SUSPECT.value)
        if rows.update(state=entities.NodeState.READY.value, state_reason=""):
            work.tell("node.state_changed", node=node, state="ready", reason="its agent reports again")
            work.command_ids.extend(commands.send_soon(node, now=work.now))
            work.ask_round(node.group_id)


def _compare(node: models.Node, report: messages.Hello) -> None:
    known = {item.session for item in report.sessions}
    believed = models.Session.objects.filter(allocations__node=node, state__in=_HAS_PROCESS)
    for pk, public_id, epoch in believed.values_list("pk", "public_id", "epoch").order_by("pk"):
        if str(public_id) not in known:
            _lose(node, pk, epoch, report=report)
    _kill_strangers(node, report.sessions)


def _lose(node: models.Node, session_id: int, epoch: int, *, report: messages.Hello) -> None:
    with unit.begin(actors.SYSTEM) as work:
        session = locks.session(session_id)
        is_as_seen = session.epoch == epoch and session.state in _HAS_PROCESS
        if is_as_seen and not _kill_is_open(session, node) and not _is_younger(session, node, report):
            endings.lost(work, session, node, reason="not on its node any more")


def _is_younger(session: models.Session, node: models.Node, report: messages.Hello) -> bool:
    """Say whether the agent confirmed the session after it had written this hello: the list cannot know of it."""
    events = models.Event.objects.filter(
        session=session, type="session.started", data__attempt=session.attempt
    )
    event = events.order_by("number").last()
    if event is None or node.name not in event.data.get("nodes", []):
        return False
    is_this_boot = models.AgentStatus.objects.filter(node=node, boot=report.boot).exists()
    return is_this_boot and event.data.get("agent_ms", 0) > report.at_mono_ms


def _kill_is_open(session: models.Session, node: models.Node) -> bool:
    """Say whether the answer to a kill is still to come: its Gone or Ended tells more than the hello."""
    return models.AgentCommand.objects.filter(
        session=session, node=node, kind=models.AgentCommand.Kind.KILL, settled_at=None
    ).exists()


def _kill_strangers(node: models.Node, held: tuple[messages.HeldSession, ...]) -> None:
    """
    Answer what an agent holds and should not with a kill of that epoch, sent directly; it is asked again.

    An epoch that was never given is told, and not answered: that is no run that the controller has given up.
    """
    living = [item for item in held if item.state != fields.HeldState.ENDED]
    rows = models.Session.objects.filter(public_id__in=[item.session for item in living])
    here = rows.filter(allocations__node=node).values_list("public_id", "epoch")
    current = {str(public_id): epoch for public_id, epoch in here}
    for item in living:
        epoch = current.get(item.session)
        if epoch is not None and epoch - 1 <= item.epoch <= epoch:
            continue
        text = "node %s holds session %s epoch %s that it should not"
        security.warning(text, node.name, item.session, item.epoch)
        if epoch is None or item.epoch < epoch:
            _send_kill(node, item)


def _send_kill(node: models.Node, item: messages.HeldSession) -> None:
    try:
        commands.send_stale_kill(node, session=item.session, epoch=item.epoch)
    except Exception as error:  # noqa: BLE001 - whatever a broker client raises: it is seen again
        log.warning("the kill of session %s was not sent to %s: %s", item.session, node.name, error)
