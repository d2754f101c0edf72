"""The commands that a session's transitions need, made from its row: start, resume, stop, kill, withdraw."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Collection, Iterator, Mapping, Sequence

from django.conf import settings

from scheduler import models, points
from scheduler.core import decisions, entities, states
from scheduler.protocol import fields, messages
from scheduler.services import bulk, commands
from scheduler.services import work as unit

#: How long an agent may take over a start, resume or withdrawal before the row counts as late, seconds.
ANSWER_S = 60
#: From the end of the grace to the deadline of a stop (DESIGN 5.1, RELIABILITY 4.4), seconds.
STOP_MARGIN_S = 10
#: Silence after which a node ends the sessions of a group that fences (RELIABILITY 4.7), seconds.
FENCE_AFTER_S = 300
#: XCE writes SIGSTP; RELIABILITY 4 says why it is only the notice of the stop that follows.
SIGTSTP = 20


def start(work: unit.Work, session: models.Session, grants: tuple[decisions.NodeGrant, ...]) -> None:
    """Order the start of a session that has just been SCHEDULED, on each of its nodes."""
    hosts = _hosts([grant.node_id for grant in grants])
    for node_id, message in _starts(session, grants, hosts):
        commands.order(work, session, node_id, message)
    models.Run.objects.create(
        session=session,
        attempt=session.attempt,
        epoch=session.epoch,
        node_names=[hosts[grant.node_id].name for grant in grants],
        dispatched_at=work.now,
    )


def start_all(
    work: unit.Work, starts: Sequence[tuple[models.Session, tuple[decisions.NodeGrant, ...]]]
) -> None:
    """Order the starts of many sessions that have just been SCHEDULED, in a fixed number of statements."""
    hosts = _hosts({grant.node_id for _, grants in starts for grant in grants})
    given: list[tuple[models.Session, int, messages.Command]] = []
    runs = []
    for session, grants in starts:
        given += [(session, node_id, message) for node_id, message in _starts(session, grants, hosts)]
        names = [hosts[grant.node_id].name for grant in grants]
        runs.append((session.pk, session.attempt, session.epoch, names, work.now, "", False))
    commands.order_all(work, given)
    bulk.insert(models.Run, _RUN, runs)


_RUN = ("session_id", "attempt", "epoch", "node_names", "dispatched_at", "how_ended", "was_checkpointed")


def _starts(
    session: models.Session, grants: tuple[decisions.NodeGrant, ...], hosts: Mapping[int, _Host]
) -> Iterator[tuple[int, messages.StartCommand]]:
    """Yield the start of a session on each of its nodes, with the node's id."""
    nodes = tuple(hosts[grant.node_id].name for grant in grants)
    for rank, grant in enumerate(grants):
        yield (
            grant.node_id,
            messages.StartCommand(
                command_id=commands.new_command_id(),
                session=str(session.public_id),
                epoch=session.epoch,
                attempt=session.attempt,
                argv=tuple(session.argv),
                script=session.script,
                env=session.environment | ({"XCE_PORT": str(session.port)} if session.port else {}),
                workdir=session.workdir,
                slots=grant.slots.as_dict(),
                indices={kind: tuple(numbers) for kind, numbers in grant.indices.items()},
                nodes=nodes,
                rank=rank,
                wall_limit_s=session.wall_limit,
                warn_signal=session.warning_signal,
                exit0_checkpointed=session.exit_0_after_warning == "checkpointed",
                grace_ms=grace_s(session, session.group.policy) * 1000,
                owner=session.owner.username if hosts[grant.node_id].is_multi_user else "",
                fence_ms=_fence_ms(session) if hosts[grant.node_id].can_fence else 0,
            ),
        )


@dataclasses.dataclass(frozen=True)
class _Host:
    """What a start must know of a node: its name, and what its agent said that it can do."""

    name: str
    is_multi_user: bool
    can_fence: bool


def _fence_ms(session: models.Session) -> int:
    """Return the silence after which the node ends the session by itself; 0 = it keeps it."""
    is_fenced = session.group.policy.silent_node == "fence"
    return int(FENCE_AFTER_S * settings.TIME_SCALE * 1000) if is_fenced else 0


def _hosts(node_ids: Collection[int]) -> dict[int, _Host]:
    rows = models.Node.objects.filter(pk__among=node_ids).values_list("pk", "name", "agent__facts")
    able = {pk: (name, (facts or {}).get("enforce", {})) for pk, name, facts in rows}
    return {
        pk: _Host(name, bool(can.get("multi_user")), bool(can.get("self_fence")))
        for pk, (name, can) in able.items()
    }


def resume(work: unit.Work, session: models.Session) -> None:
    """Order a session that has just been SCHEDULED for a resume to go on."""
    for node_id in _node_ids(session):
        message = messages.ResumeCommand(
            command_id=commands.new_command_id(), session=str(session.public_id), epoch=session.epoch
        )
        commands.order(work, session, node_id, message)


@dataclasses.dataclass(frozen=True)
class StopPlan:
    """How a session is stopped."""

    mode: entities.PreemptionMode  #: what becomes of it; suspend keeps its processes
    signal: int  #: the warning signal
    grace_s: int  #: seconds from warning to kill
    policy: models.PolicyVersion  #: the rules that stay in force for this stop
    only_on: tuple[int, ...] | None = None  #: ids of some of its nodes; None = all

    def deadline(self, now: datetime.datetime) -> datetime.datetime:
        """Return when a stop ordered now must be proven; after it the session is stuck."""
        is_suspend = self.mode is entities.PreemptionMode.SUSPEND
        seconds = self.policy.suspend_grace if is_suspend else self.grace_s
        return now + datetime.timedelta(seconds=seconds + STOP_MARGIN_S * settings.TIME_SCALE)


def stop(
    work: unit.Work,
    session: models.Session,
    plan: StopPlan,
    *,
    decision: models.Decision | None = None,
) -> None:
    """
    Order a stop: ``HookDetail.JOB_STOP`` to each node of the session (XCE AC8).

    Args:
        decision: the scheduler's decision; None = no preemption.
    """
    is_suspend = plan.mode is entities.PreemptionMode.SUSPEND
    for node_id in _node_ids(session) if plan.only_on is None else plan.only_on:
        message = messages.StopCommand(
            command_id=commands.new_command_id(),
            session=str(session.public_id),
            epoch=session.epoch,
            action=fields.StopAction.SUSPEND if is_suspend else fields.StopAction.KILL,
            mode=fields.StopMode(plan.mode.value),
            signal=plan.signal,
            grace_ms=plan.grace_s * 1000,
            suspend_grace_ms=plan.policy.suspend_grace * 1000,
            decision=str(decision.public_id) if decision else "",
            by=fields.StopBy.SCHEDULER if decision else fields.StopBy.PERSON,
        )
        commands.order(work, session, node_id, message, decision=decision)


def kill(
    work: unit.Work,
    session: models.Session,
    *,
    cause: str = "cancelled",
    grace: int | None = None,
    node_ids: list[int] | None = None,
) -> None:
    """Order the end of a session on each of its nodes, or on those named."""
    seconds = grace_s(session, session.group.policy) if grace is None else grace
    for node_id in _node_ids(session) if node_ids is None else node_ids:
        message = messages.KillCommand(
            command_id=commands.new_command_id(),
            session=str(session.public_id),
            epoch=session.epoch,
            cause=fields.KillCause(cause),
            signal=session.warning_signal,
            grace_ms=seconds * 1000,
        )
        commands.order(work, session, node_id, message)


def withdraw(work: unit.Work, session: models.Session) -> int:
    """
    Order the stop of a session to be taken back, on nodes where it is under way and where it is proven already.

    Returns:
        How many orders there were; 0 when no stop is open any more.
    """
    stops = _latest_stops(session)
    if not any(row.settled_at is None for row in stops):
        return 0
    for row in stops:
        _take_back(work, session, row)
    points.reach("withdrawal.ordered")
    return len(stops)


def continue_others(work: unit.Work, session: models.Session, *, but: int) -> int:
    """
    Take a stop back on the other nodes of a multi-node session whose stop failed on one: all continue (DESIGN 5.3).

    Returns:
        How many orders there were.
    """
    others = [row for row in _latest_stops(session) if row.node_id != but]
    for row in others:
        _take_back(work, session, row)
    return len(others)


def _take_back(work: unit.Work, session: models.Session, stop: models.AgentCommand) -> None:
    message = messages.WithdrawCommand(
        command_id=commands.new_command_id(),
        session=str(session.public_id),
        epoch=session.epoch,
        stops=str(stop.command_id),
    )
    commands.order(work, session, stop.node_id, message, decision=stop.decision)


def _latest_stops(session: models.Session) -> list[models.AgentCommand]:
    """Return, per node, the last stop of the present run, if it is open or answered by its proof."""
    rows = models.AgentCommand.objects.filter(
        session=session, epoch=session.epoch, kind=models.AgentCommand.Kind.STOP
    )
    latest = rows.order_by("node_id", "-pk").distinct("node_id").select_related("decision")
    return [row for row in latest if row.settled_at is None or row.settled_how == messages.Stopped.TYPE]


def _node_ids(session: models.Session) -> list[int]:
    """Return the nodes on which something of a session may run: not those where it has ended already."""
    rows = session.allocations.order_by("node_id").exclude(node__in=session.ended_nodes)
    return list(rows.values_list("node_id", flat=True))


def grace_s(session: models.Session, policy: models.PolicyVersion) -> int:
    """Return the seconds from warning to kill: the session's own wish, up to the group's grace."""
    own = session.grace_period
    return policy.grace_period if own is None else min(own, policy.grace_period)


def again(work: unit.Work, session: models.Session, *, decision: models.Decision | None) -> None:
    """
    Order anew what a session in transition waits for when no order is open any more: the answer to the last one said
    that something else was under way, and that never came to its end.

    Args:
        decision: whose victim the session is, if it is one.
    """
    policy = session.group.policy
    if session.state == states.SessionState.SCHEDULED and not session.stop_goal:
        cancel_start(work, session, decision=decision)
    elif (
        session.state == states.SessionState.SCHEDULED or session.stop_goal == entities.PreemptionMode.SUSPEND
    ):
        grace = grace_s(session, policy) if session.state != states.SessionState.SCHEDULED else 0
        plan = StopPlan(entities.PreemptionMode.SUSPEND, SIGTSTP, grace, policy)
        stop(work, session, plan, decision=decision)
    else:
        kill(work, session, grace=0)


def answer_deadline(now: datetime.datetime) -> datetime.datetime:
    """Return when the answer to a start or resume ordered now is late."""
    return now + datetime.timedelta(seconds=ANSWER_S * settings.TIME_SCALE)


def cancel_start(
    work: unit.Work, session: models.Session, *, decision: models.Decision | None = None
) -> None:
    """Order the agents to refuse a dispatch that is not confirmed yet (DESIGN 5.4)."""
    for node_id in _node_ids(session):
        message = messages.CancelStartCommand(
            command_id=commands.new_command_id(), session=str(session.public_id), epoch=session.epoch
        )
        commands.order(work, session, node_id, message, decision=decision)
