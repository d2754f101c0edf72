"""Simulated agents: what they remember, and how they answer what comes too late."""

from __future__ import annotations

import dataclasses
import datetime

import pytest

from scheduler import clock, models
from scheduler.protocol import fields, messages
from scheduler.simulator import agents, fleet
from tests import model_factories

pytestmark = pytest.mark.django_db
SESSION = "00000000-0000-7000-8000-000000000001"
COMMAND = "00000000-0000-7000-8000-00000000000c"
NOW = datetime.datetime(2030, 1, 1, tzinfo=datetime.UTC)
ABOUT = {"command_id": COMMAND, "session": SESSION, "epoch": 1}


@pytest.fixture
def agent(monkeypatch):
    """An agent whose reports are kept in ``agent.said`` instead of being applied."""
    node = model_factories.a_node("n1", group=model_factories.a_group("g"))
    found = agents.Agent(node)
    found.said = []
    monkeypatch.setattr(found, "_send", found.said.append)
    start = messages.StartCommand(
        **ABOUT,
        attempt=1,
        argv=("/bin/true",),
        script="",
        env={},
        workdir="",
        slots={},
        indices={},
        nodes=("n1",),
        rank=0,
        wall_limit_s=None,
        warn_signal=15,
        exit0_checkpointed=False,
        grace_ms=0,
    )
    found.begin(start, NOW)
    found.answer(start, NOW)
    return found


def stop(action: fields.StopAction, grace_ms: int = 5000) -> messages.StopCommand:
    """Return a stop for the agent's session."""
    return messages.StopCommand(
        **ABOUT,
        action=action,
        mode=fields.StopMode.TERMINATE,
        signal=15,
        grace_ms=grace_ms,
        suspend_grace_ms=0,
        decision="",
        by=fields.StopBy.SCHEDULER,
    )


def kinds(agent) -> list[str]:
    """Return the kinds of reports so far."""
    return [report.TYPE for report in agent.said]


@pytest.mark.parametrize(("after_s", "answer"), [(4, "withdrawn"), (5, "withdraw-refused")])
def test_a_kill_is_taken_back_only_within_its_grace(agent, after_s, answer):
    agent.begin(stop(fields.StopAction.KILL), NOW)
    withdraw = messages.WithdrawCommand(**ABOUT, stops=COMMAND)
    agent.begin(withdraw, NOW)
    agent.answer(withdraw, NOW + datetime.timedelta(seconds=after_s))

    assert kinds(agent) == ["started", answer]


def test_a_suspend_is_taken_back_after_its_proof_too(agent):
    order = stop(fields.StopAction.SUSPEND)
    agent.begin(order, NOW)
    agent.answer(order, NOW)
    agent.heartbeat()
    agent.answer(messages.WithdrawCommand(**ABOUT, stops=COMMAND), NOW)
    agent.heartbeat()

    assert kinds(agent) == ["started", "stopped", "heartbeat", "withdrawn", "heartbeat"]
    held = [report.sessions[0].state for report in agent.said if isinstance(report, messages.Heartbeat)]
    assert held == [fields.HeldState.SUSPENDED, fields.HeldState.RUNNING]


def test_what_is_over_ends_once_and_is_no_longer_held(agent):
    order = stop(fields.StopAction.KILL)
    agent.begin(order, NOW)
    agent.answer(order, NOW)
    agent.answer(order, NOW)
    agent.answer(messages.WithdrawCommand(**ABOUT, stops=COMMAND), NOW)
    agent.hello()

    assert kinds(agent) == ["started", "ended", "withdraw-refused", "hello"]
    assert agent.said[-1].sessions == ()


def test_a_start_that_was_cancelled_is_refused_and_one_that_runs_is_not_cancelled(agent):
    cancel = messages.CancelStartCommand(**ABOUT)
    agent.answer(cancel, NOW)
    late = dataclasses.replace(cancel, epoch=2)
    agent.lose()
    agent.begin(late, NOW)
    agent.answer(late, NOW)

    assert kinds(agent) == ["started", "started-already", "start-refused"]


def test_an_own_end_says_whether_it_was_warned(agent):
    agent.begin(stop(fields.StopAction.KILL), NOW)
    agent.end(SESSION, exit_code=3)

    assert (agent.said[-1].exit_code, agent.said[-1].after_warning) == (3, True)


def test_commands_of_nodes_without_an_agent_stay_open():
    group = model_factories.a_group("g")
    node = model_factories.a_node("n1", group=group)
    session = model_factories.a_session(
        owner=model_factories.a_user(),
        queue=model_factories.a_queue(groups=[group]),
        node=node,
        state="running",
    )
    with clock.virtual(clock.Virtual(NOW)):
        row = models.AgentCommand.objects.create(
            command_id=COMMAND,
            node=node,
            session=session,
            epoch=1,
            kind="kill",
            body={},
            created_at=NOW,
            send_again_at=NOW,
        )
        assert fleet.Fleet().act() == 0
    row.refresh_from_db()
    assert row.settled_at is None
