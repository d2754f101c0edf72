"""Steps of a ``lifecycle`` case: what agents say, or keep to themselves."""

from __future__ import annotations

from scheduler import models
from scheduler.core import states
from scheduler.protocol import messages
from scheduler.scenarios import fields, stages
from scheduler.simulator import agents

S = states.SessionState
#: Rounds that a session that is to finish may need until it runs.
_ROUNDS_TO_START = 3


def stopped(stage: stages.Stage, found: fields.Fields) -> None:
    """The agents prove the stop that they were told; nothing happens where nobody told them."""
    session = stage.session(found)
    run = found.number("run")
    if run is not None and run != session.attempt:
        raise found.fault("run", f"is {run}, and the session is in run {session.attempt}")
    stops = stage.fleet.stopping(session)
    if not stops:
        stage.history.remarks.append(f"line {found.line}: nobody told {session.name} to stop")
    for agent, command in stops:
        agent.answer(command, stage.world.time.moment)


def stop_failed(stage: stages.Stage, found: fields.Fields) -> None:
    """The agents could not prove a suspend, and undid it."""
    for agent, command in _stops(stage, found):
        agent.fail_to_stop(command)


def started(stage: stages.Stage, found: fields.Fields) -> None:
    """The agents confirm a start that waits for it."""
    for agent, command in _ordered(stage, found, messages.StartCommand):
        agent.answer(command, stage.world.time.moment)


def start_failed(stage: stages.Stage, found: fields.Fields) -> None:
    """Nothing could be started."""
    for agent, command in _ordered(stage, found, messages.StartCommand):
        assert isinstance(command, messages.StartCommand)
        agent.fail_to_start(command)


def _ordered(
    stage: stages.Stage, found: fields.Fields, kind: type[messages.Command]
) -> list[tuple[agents.Agent, messages.Command]]:
    session = stage.session(found)
    open_ = stage.fleet.open_command(session, kind)
    if not open_:
        raise found.fault("id", f"names {session.name}, which has no open {kind.TYPE}")
    return open_


def noted(stage: stages.Stage, found: fields.Fields) -> None:
    """A warning or a signal reached the processes: no report tells it, the agent's journal alone knows."""
    _stops(stage, found)


def _stops(stage: stages.Stage, found: fields.Fields) -> list[tuple[agents.Agent, messages.StopCommand]]:
    session = stage.session(found)
    stops = stage.fleet.stopping(session)
    if not stops:
        raise found.fault("id", f"names {session.name}, which nobody told to stop")
    return stops


def finished(stage: stages.Stage, found: fields.Fields) -> None:
    """A session ends by itself; one that waits is given a few rounds to start first."""
    code = found.count("code", 0)
    session = stage.session(found)
    for _ in range(_ROUNDS_TO_START):
        if session.state == S.PENDING:
            stage.world.tick()
            session.refresh_from_db()
    for agent in _running_it(stage, found, session):
        agent.end(str(session.public_id), exit_code=code)


def failed(stage: stages.Stage, found: fields.Fields) -> None:
    """A session ends by itself with an error."""
    found.take("code", 1)
    session = stage.session(found)
    for agent in _running_it(stage, found, session):
        agent.end(str(session.public_id), exit_code=found.count("code", 1, least=1))


def _running_it(stage: stages.Stage, found: fields.Fields, session: models.Session) -> list[agents.Agent]:
    told = [agent for agent in stage.fleet.on(session) if agent.run(str(session.public_id)) is not None]
    if not told:
        raise found.fault("id", f"names {session.name}, which does not run")
    return told


def late_exit_report(stage: stages.Stage, found: fields.Fields) -> None:
    """The agents report the end of an earlier run once more."""
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


def report_again(stage: stages.Stage, found: fields.Fields) -> None:
    """The last report about a session is delivered once more, or several times."""
    session = stage.session(found)
    for _ in range(found.count("times", 1, least=1, most=stages.MOST_TIMES)):
        for agent in stage.fleet.agents.values():
            agent.repeat(str(session.public_id))


def _picture(session: models.Session) -> list[object]:
    row = models.Session.objects.get(pk=session.pk)
    held = list(row.allocations.order_by("pk").values_list("node_id", "slots"))
    return [row.state, row.state_version, row.attempt, row.epoch, row.exit_code, held]
