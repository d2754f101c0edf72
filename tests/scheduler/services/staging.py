"""Sessions brought to where each report about a session has an effect, with the report that would have it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scheduler import models
from scheduler.protocol import fields, messages
from scheduler.services import actors, control
from tests.scheduler.services.conftest import Cluster

RULES = {"preemption_state": "on", "preemption_mode": "suspend", "cancel_unconfirmed_dispatch": True}
ENDED: dict[str, Any] = {
    "exit_code": 0,
    "signal": None,
    "after_warning": False,
    "checkpointed": False,
    "cpu_ms": 5,
    "peak_bytes": 1000,
    "ran_ms": 50,
    "known": True,
    "cause": fields.EndCause.SELF,
}
STOPPED: dict[str, Any] = {
    "method": fields.StopMethod.SIGNALS,
    "members": (),
    "cpu_ms": 9,
    "warned": False,
    "waited_ms": 3,
}
Facts = dict[str, Any]


def scheduled(cluster: Cluster) -> models.Session:
    """A dispatch whose start is not answered."""
    session = cluster.submit(cluster.alice, cpu="4", job_priority=1)
    cluster.round()
    return session


def cancelled(cluster: Cluster) -> models.Session:
    """A dispatch that is being cancelled for another session."""
    session = scheduled(cluster)
    cluster.submit(cluster.alice, cpu="4", job_priority=20)
    cluster.round()
    return session


def running(cluster: Cluster) -> models.Session:
    """A session that runs."""
    return cluster.run(cluster.alice, cpu="4", job_priority=1)


def preempted(cluster: Cluster) -> models.Session:
    """A victim that is told to stop."""
    return cluster.contest()[0]


def withdrawing(cluster: Cluster) -> models.Session:
    """A victim whose stop is asked back."""
    session, preemptor = cluster.contest()
    control.cancel_session(actors.of_user(cluster.alice), preemptor)
    return session


def resuming(cluster: Cluster) -> models.Session:
    """A suspended session whose resume is not answered."""
    session = running(cluster)
    control.suspend_session(actors.of_user(cluster.alice), session)
    cluster.agent.suspends(session)
    control.resume_session(actors.of_user(cluster.alice), session)
    cluster.round()
    return session


def terminating(cluster: Cluster) -> models.Session:
    """A session that is being ended."""
    session = running(cluster)
    control.cancel_session(actors.of_user(cluster.alice), session)
    return session


#: report -> (where it has an effect, what it says)
STAGES: dict[type[messages.Report], tuple[Callable[[Cluster], models.Session], Facts]] = {
    messages.Started: (scheduled, {"pid": 1, "started_mono_ms": 1, "boot": "b"}),
    messages.StartFailed: (scheduled, {"error": "no such program"}),
    messages.StartRefused: (cancelled, {"reason": fields.StartRefusal.CANCELLED}),
    messages.StartedAlready: (cancelled, {}),
    messages.Stopped: (preempted, STOPPED),
    messages.StopFailed: (preempted, {"running": (), "reason": "still running"}),
    messages.Withdrawn: (withdrawing, {}),
    messages.WithdrawRefused: (withdrawing, {"reason": fields.WithdrawRefusal.SUSPENDED}),
    messages.Resumed: (resuming, {"members": ()}),
    messages.ResumeFailed: (resuming, {"error": "stuck"}),
    messages.Ended: (terminating, ENDED),
    messages.Gone: (terminating, {}),
    messages.OutputTail: (terminating, {"tail": "forged", "size": 6, "truncated": False}),
}
#: Another answer to the same command, for reports whose command can be answered in two ways.
OTHERWISE: dict[type[messages.Report], type[messages.Report]] = {
    messages.Started: messages.StartFailed,
    messages.StartFailed: messages.Started,
    messages.Stopped: messages.StopFailed,
    messages.StopFailed: messages.Stopped,
    messages.StartRefused: messages.StartedAlready,
    messages.StartedAlready: messages.StartRefused,
    messages.Withdrawn: messages.WithdrawRefused,
    messages.WithdrawRefused: messages.Withdrawn,
    messages.Resumed: messages.ResumeFailed,
    messages.ResumeFailed: messages.Resumed,
}


#: Reports that never have an effect on a session, or only on the whole node.
OTHERS: dict[type[messages.Report], Facts] = {
    messages.Hello: {"agent_version": "test", "protocol": 1, "boot": "boot-1", "pid": 1, "host_facts": {}},
    messages.Heartbeat: {},
    messages.OutputPage: {"offset": 0, "data": "forged", "size": 6, "eof": True, "next_offset": 6},
}
KINDS = (*STAGES, *OTHERS)


def stage(cluster: Cluster, kind: type[messages.Report]) -> messages.Report:
    """Bring a session to where a report has an effect, if it ever has one; return the report, not yet sent."""
    prepare, facts = STAGES.get(kind) or (terminating, OTHERS[kind])
    session = prepare(cluster)
    session.refresh_from_db()
    about: Facts = {"session": str(session.public_id), "epoch": session.epoch}
    if kind in (messages.Hello, messages.Heartbeat):
        return kind(sessions=(messages.HeldSession(**about, state=fields.HeldState.RUNNING),), **facts)
    command = models.AgentCommand.objects.get(session=session, settled_at=None)
    if kind is not messages.OutputTail:
        about["command_id"] = str(command.command_id)
    return kind(**about, **facts)


def picture() -> dict[str, list[Any]]:
    """Return everything that a report about a session can change, but no times."""
    return {
        "sessions": list(
            models.Session.objects.order_by("pk").values_list(
                "state", "result", "attempt", "epoch", "state_version", "is_held", "is_counted"
            )
        ),
        "held": list(models.Allocation.objects.order_by("pk").values_list("session_id", "node_id", "slots")),
        "slots": list(models.NodeSlot.objects.order_by("pk").values_list("kind", "allocated", "reserved")),
        "commands": list(models.AgentCommand.objects.order_by("pk").values_list("kind", "settled_how")),
        "fates": list(models.VictimFate.objects.order_by("pk").values_list("victim_id", "fate")),
        "kept": list(models.Reservation.objects.order_by("pk").values_list("drawn", "is_consumed")),
        "outcomes": list(models.Outcome.objects.order_by("pk").values_list("kind", "cause")),
        "output": list(models.SessionOutput.objects.values_list("tail", "size")),
        "runs": list(models.Run.objects.order_by("pk").values_list("how_ended", "exit_code")),
        "events": list(models.Event.objects.order_by("pk").values_list("type", flat=True)),
    }
