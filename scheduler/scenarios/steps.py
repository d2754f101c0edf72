"""
The steps of a ``lifecycle`` case: what each does to the simulated cluster.

Every step takes the fields of its own table. Agents answer starts, resumes, withdrawals, cancels and kills by
themselves; a stop is proven when a step says so. Rounds run at ticks alone.
"""

from __future__ import annotations

import concurrent.futures
import contextvars
from collections.abc import Callable

from django.db import connections

from scheduler import models
from scheduler.core import states
from scheduler.protocol import messages
from scheduler.scenarios import cast, entries, errors, fields, reading, rules
from scheduler.services import actors, control, nodes, policies, queues, rounds
from scheduler.simulator import agents

S = states.SessionState
#: Rounds that a session that is to finish may need until it runs.
_ROUNDS_TO_START = 3


class Stage:
    """A cast that plays steps; keeps what lies between two steps."""

    def __init__(self, who: cast.Cast) -> None:
        self.cast = who
        self.world = who.world
        self.history = who.history
        self.fleet = who.world.fleet
        self.thought: rounds.Thought | None = None

    def session(self, found: fields.Fields) -> models.Session:
        """Return the session that a step names, as it is now."""
        name = found.text("id")
        if name not in self.history.sessions:
            raise found.fault("id", f"names {name}, and no step before brought such a session")
        return self.history.row(name)

    def actor(self, session: models.Session) -> actors.Actor:
        """Return the owner of a session as the one who acts."""
        return actors.of_user(session.owner)


# Sessions


def _running(stage: Stage, found: fields.Fields) -> None:
    for one in _new(stage, found, is_running=True):
        if one.state is S.SCHEDULED:
            stage.fleet.withhold_starts()
        elif one.state is not S.RUNNING:
            raise errors.NotExpressible(
                f"line {found.line}: a step brings RUNNING or SCHEDULED sessions alone"
            )
        stage.cast.run(one)
        stage.fleet.let_starts()


def _submit(stage: Stage, found: fields.Fields) -> None:
    for one in _new(stage, found, is_running=False):
        stage.cast.submit(one)


def _taken_by_other(stage: Stage, found: fields.Fields) -> None:
    found.take("owner", "somebody-else")
    for one in _new(stage, found, is_running=True):
        if not stage.cast.take(one):
            stage.history.remarks.append(f"{one.id} did not get the slots: they are kept")


def _new(stage: Stage, found: fields.Fields, *, is_running: bool) -> list[entries.SessionEntry]:
    new = reading.session(found, is_running=is_running)
    case = stage.cast.case
    for one in new:
        if one.id in stage.history.sessions:
            raise found.fault("id", f"brings {one.id} a second time")
        known = {"nodes": {node.id for node in case.nodes}, "queues": {queue.id for queue in case.queues}}
        reading.check_session(one, fault=lambda key, text: found.fault("id", text), **known)
    return new


# Time and rounds


def _tick(stage: Stage, found: fields.Fields) -> None:
    phase = found.word("phase", "whole", ("whole", "plan", "commit"))
    times = found.count("times", 1, least=1)
    if phase == "plan":
        stage.world.before_round()
        stage.thought = rounds.think(stage.world.group.pk)
    elif phase == "commit":
        if stage.thought is None:
            raise found.fault("phase", "is commit, and no phase plan came before")
        rounds.write(stage.thought)
        stage.thought = None
        stage.fleet.act()
    else:
        for _ in range(times):
            stage.world.tick()


def _tick_in_parallel(stage: Stage, found: fields.Fields) -> None:
    workers = found.count("workers", 2, least=1)
    stage.world.before_round()
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        contexts = [contextvars.copy_context() for _ in range(workers)]
        runs = [pool.submit(context.run, _round_apart, stage.world.group.pk) for context in contexts]
        for run in runs:
            run.result()
    stage.fleet.act()


def _round_apart(group_id: int) -> None:
    """Run a round over a connection of this thread's own."""
    try:
        rounds.run_group_round(group_id)
    finally:
        connections.close_all()


def _advance(stage: Stage, found: fields.Fields) -> None:
    stage.world.advance(found.count("seconds", 0))


# What agents say


def _stopped(stage: Stage, found: fields.Fields) -> None:
    session = stage.session(found)
    run = found.number("run")
    if run is not None and run != session.attempt:
        raise found.fault("run", f"is {run}, and the session is in run {session.attempt}")
    stops = stage.fleet.stopping(session)
    if not stops:
        stage.history.remarks.append(f"line {found.line}: nobody told {session.name} to stop")
    for agent, command in stops:
        agent.answer(command, stage.world.time.moment)


def _stop_failed(stage: Stage, found: fields.Fields) -> None:
    for agent, command in _stops(stage, found):
        agent.fail_to_stop(command)


def _started(stage: Stage, found: fields.Fields) -> None:
    for agent, command in _ordered(stage, found, messages.StartCommand):
        agent.answer(command, stage.world.time.moment)


def _start_failed(stage: Stage, found: fields.Fields) -> None:
    for agent, command in _ordered(stage, found, messages.StartCommand):
        assert isinstance(command, messages.StartCommand)
        agent.fail_to_start(command)


def _ordered(
    stage: Stage, found: fields.Fields, kind: type[messages.Command]
) -> list[tuple[agents.Agent, messages.Command]]:
    session = stage.session(found)
    open_ = stage.fleet.open_command(session, kind)
    if not open_:
        raise found.fault("id", f"names {session.name}, which has no open {kind.TYPE}")
    return open_


def _noted(stage: Stage, found: fields.Fields) -> None:
    """A warning or a signal reached the processes: no report tells it, the agent's journal alone knows."""
    _stops(stage, found)


def _stops(stage: Stage, found: fields.Fields) -> list[tuple[agents.Agent, messages.StopCommand]]:
    session = stage.session(found)
    stops = stage.fleet.stopping(session)
    if not stops:
        raise found.fault("id", f"names {session.name}, which nobody told to stop")
    return stops


def _finished(stage: Stage, found: fields.Fields) -> None:
    code = found.count("code", 0)
    session = stage.session(found)
    for _ in range(_ROUNDS_TO_START):
        if session.state == S.PENDING:
            stage.world.tick()
            session.refresh_from_db()
    if not session.allocations.exists():
        raise found.fault("id", f"names {session.name}, which does not run")
    for agent in stage.fleet.on(session):
        agent.end(str(session.public_id), exit_code=code)


def _failed(stage: Stage, found: fields.Fields) -> None:
    found.take("code", 1)
    session = stage.session(found)
    for agent in stage.fleet.on(session):
        agent.end(str(session.public_id), exit_code=found.count("code", 1, least=1))


def _late_exit_report(stage: Stage, found: fields.Fields) -> None:
    session = stage.session(found)
    number, code = found.count("run", 1, least=1), found.count("code", 0)
    run = models.Run.objects.filter(session=session, attempt=number).first()
    if run is None:
        raise found.fault("run", f"is {number}, and {session.name} had no such run")
    before = _picture(session)
    for name in run.node_names:
        agent = stage.fleet.agents[stage.world.nodes[name].pk]
        agent.report_late(str(session.public_id), epoch=run.epoch, exit_code=code)
    is_ignored = before == _picture(session)
    word = "ignored" if is_ignored else "applied"
    stage.history.remarks.append(f"{word}: exit report of run {number}")


def _picture(session: models.Session) -> list[object]:
    row = models.Session.objects.get(pk=session.pk)
    held = list(row.allocations.order_by("pk").values_list("node_id", "slots"))
    return [row.state, row.state_version, row.attempt, row.epoch, row.exit_code, held]


# What people do


def _person(act: Callable[[actors.Actor, models.Session], None]) -> Callable[[Stage, fields.Fields], None]:
    def step(stage: Stage, found: fields.Fields) -> None:
        session = stage.session(found)
        act(stage.actor(session), session)

    return step


def _set_job_priority(stage: Stage, found: fields.Fields) -> None:
    session = stage.session(found)
    control.change_session(stage.actor(session), session, job_priority=found.number("to"))


def _set_priority(stage: Stage, found: fields.Fields) -> None:
    session = stage.session(found)
    control.change_session(stage.actor(session), session, priority=found.number("to"))


def _set_preemptible(stage: Stage, found: fields.Fields) -> None:
    session = stage.session(found)
    control.change_session(stage.actor(session), session, is_preemptible=found.flag("to"))


def _opt_out(stage: Stage, found: fields.Fields) -> None:
    session = stage.session(found)
    control.change_session(stage.actor(session), session, is_preemptible=False)


def _admin_sets(stage: Stage, found: fields.Fields) -> None:
    group = models.ResourceGroup.objects.select_related("policy").get(pk=stage.world.group.pk)
    assert group.policy is not None
    policies.change_policy(
        actors.SYSTEM,
        group,
        changes=rules.changes(found),
        reason="a step of the case",
        expected_version=group.policy.version,
    )


def _set_queue(stage: Stage, found: fields.Fields) -> None:
    queue = models.Queue.objects.filter(slug=found.text("id")).first()
    if queue is None:
        raise found.fault("id", "names no queue of the case")
    changes = {"preemptible": found.flag("preemptible")} if found.take("preemptible") is not None else {}
    if found.take("state") is not None:
        changes["state"] = found.text("state")
    listed = found.words("preemptible_queues")
    queues.change_queue(
        actors.SYSTEM, queue, changes=changes, reason="a step of the case", preemptible_queues=listed
    )


# What becomes of nodes


def _node_state(state: str) -> Callable[[Stage, fields.Fields], None]:
    def step(stage: Stage, found: fields.Fields) -> None:
        node = _node(stage, found)
        nodes.set_node_state(actors.SYSTEM, node, state=state, reason="a step of the case")

    return step


def _silent(is_silent: bool) -> Callable[[Stage, fields.Fields], None]:
    def step(stage: Stage, found: fields.Fields) -> None:
        stage.fleet.agents[_node(stage, found).pk].is_silent = is_silent

    return step


def _agent_restarts(stage: Stage, found: fields.Fields) -> None:
    stage.fleet.agents[_node(stage, found).pk].hello()


def _node_reboots(stage: Stage, found: fields.Fields) -> None:
    agent = stage.fleet.agents[_node(stage, found).pk]
    agent.lose()
    agent.hello()


def _node(stage: Stage, found: fields.Fields) -> models.Node:
    name = found.text("node", found.take("id"))
    if name not in stage.world.nodes:
        raise found.fault("id", f"names {name}, which is no node of the case")
    return stage.world.nodes[name]


STEPS: dict[str, Callable[[Stage, fields.Fields], None]] = {
    "running": _running,
    "submit": _submit,
    "taken_by_other": _taken_by_other,
    "tick": _tick,
    "tick_in_parallel": _tick_in_parallel,
    "advance_s": _advance,
    "stopped": _stopped,
    "suspended": _stopped,
    "stop_failed": _stop_failed,
    "started": _started,
    "start_failed": _start_failed,
    "warned": _noted,
    "signal_delivered": _noted,
    "finished": _finished,
    "failed": _failed,
    "late_exit_report": _late_exit_report,
    "cancel": _person(control.cancel_session),
    "hold": _person(control.hold_session),
    "release": _person(control.release_session),
    "suspend": _person(control.suspend_session),
    "resume": _person(control.resume_session),
    "requeue": _person(control.requeue_session),
    "set_job_priority": _set_job_priority,
    "set_priority": _set_priority,
    "set_preemptible": _set_preemptible,
    "opt_out": _opt_out,
    "admin_sets": _admin_sets,
    "set_queue": _set_queue,
    "drain": _node_state("draining"),
    "undrain": _node_state("ready"),
    "agent_silent": _silent(True),
    "agent_speaks": _silent(False),
    "agent_restarts": _agent_restarts,
    "node_reboots": _node_reboots,
}
#: Steps that the case itself is made of: they say how the others are played.
FRAMES = ("for_each_mode", "loop")
