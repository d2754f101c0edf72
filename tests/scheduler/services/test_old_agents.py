"""An agent that speaks the first version of the protocol, from frozen data, with the controller of today (P18)."""

from __future__ import annotations

import datetime
import json

import pytest

from scheduler import clock, models
from scheduler.services import actors, commands, control, nodes, reports
from tests.scheduler.protocol import first_version, later_version
from tests.scheduler.services import conftest, staging


class FirstAgent:
    """Reads what the controller sends with the frozen reader, and answers with frozen reports."""

    def __init__(self, node, sent):
        self.node = node
        self.key_id, secret = nodes.enroll_node(actors.SYSTEM, node)
        self.secret = bytes.fromhex(secret)
        self.sent = sent
        self.seq = 0
        self.seen = []

    def take(self, kind):
        """Have the controller send what is open; return the newest command of a kind."""
        models.AgentCommand.objects.update(send_again_at=clock.now() - datetime.timedelta(seconds=1))
        commands.send_due(clock.now())
        self.seen += [first_version.read(text, secret=self.secret) for text in self.sent]
        self.sent.clear()
        return next(body for body in reversed(self.seen) if body["type"] == kind)

    def say(self, kind, sample=0, **changes):
        """Send a frozen report with other values."""
        self.seq += 1
        body = first_version.bodies(kind)[sample] | changes
        reports.receive(
            first_version.seal(body, boot="first", seq=self.seq, key_id=self.key_id, secret=self.secret)
        )

    def answer(self, command, kind, sample=0):
        """Answer the open command of one kind with a frozen report."""
        order = self.take(command)
        self.say(kind, sample, **{name: order[name] for name in ("session", "epoch", "command_id")})


@pytest.fixture
def sent(monkeypatch):
    """Collect the texts that are published."""
    found = []
    monkeypatch.setattr(
        commands.current_app, "send_task", lambda name, args, queue, expires: found.append(args[0])
    )
    return found


@pytest.fixture
def cluster(make_cluster, sent):
    cluster = make_cluster(**staging.RULES)
    cluster.agent = FirstAgent(cluster.node, sent)
    cluster.agent.say("hello", boot="first", sessions=[])
    return cluster


def test_p18_a_session_lives_its_whole_life_with_an_agent_of_the_first_version(cluster, refused):
    agent, me = cluster.agent, actors.of_user(cluster.alice)
    session = cluster.submit(cluster.alice, cpu="4")
    cluster.round()
    agent.answer("start", "started")
    states = [conftest.state_of(session)]
    control.suspend_session(me, session)
    agent.answer("stop", "stopped")
    states.append(conftest.state_of(session))
    control.resume_session(me, session)
    cluster.round()
    agent.answer("resume", "resumed")
    states.append(conftest.state_of(session))
    held = {"session": str(session.public_id), "epoch": 2, "state": "running"}
    agent.say("heartbeat", sessions=[held])
    agent.say("output-tail", session=held["session"], epoch=2)
    control.cancel_session(me, session)
    agent.answer("kill", "ended", 1)

    assert [*states, conftest.state_of(session)] == ["running", "suspended", "running", "terminated"]
    assert models.SessionOutput.objects.get().tail.startswith("step 1")
    assert models.Run.objects.get().exit_signal == 9
    assert refused() == []


def test_p18_a_session_is_preempted_withdrawn_and_its_rival_cancelled_with_such_an_agent(cluster, refused):
    agent, me = cluster.agent, actors.of_user(cluster.alice)
    low = cluster.submit(cluster.alice, cpu="4", job_priority=1)
    cluster.round()
    agent.answer("start", "started")
    high = cluster.submit(cluster.alice, cpu="4", job_priority=20)
    cluster.round()
    stop = agent.take("stop")
    control.cancel_session(me, high)
    agent.answer("withdraw", "withdrawn")
    cluster.submit(cluster.alice, cpu="4", job_priority=20)
    cluster.round()
    agent.answer("stop", "stop-failed")

    assert (stop["hook"], stop["action"], stop["by"]) == (65, "suspend", "scheduler")
    assert conftest.state_of(low) == "running"
    assert refused() == []


def test_p18_a_start_is_cancelled_and_another_fails_with_such_an_agent(cluster, refused):
    agent = cluster.agent
    first = cluster.submit(cluster.alice, cpu="4", job_priority=1)
    cluster.round()
    second = cluster.submit(cluster.alice, cpu="4", job_priority=20)
    cluster.round()
    agent.answer("cancel-start", "start-refused")
    cluster.round()
    agent.answer("start", "start-failed")

    assert conftest.state_of(first) == "pending"
    assert conftest.state_of(second) == "pending"
    assert agent.take("ack")["reports"]
    assert refused() == []


def test_p18_each_agent_is_spoken_to_in_the_highest_version_of_both(cluster, sent, monkeypatch):
    later_version.speak(monkeypatch)
    spoken = {}
    ours = later_version.LATER
    for protocol in (1, ours, ours + 1):
        cluster.agent.say("hello", boot="first", protocol=protocol, sessions=[])
        spoken[protocol] = json.loads(sent[-1])["v"]

    assert spoken == {1: 1, ours: ours, ours + 1: ours}


def test_p18_what_an_agent_cannot_understand_waits_until_it_can(cluster, sent, monkeypatch):
    later_version.speak(monkeypatch)
    cluster.submit(cluster.alice)
    cluster.round()
    row = models.AgentCommand.objects.get()
    models.AgentCommand.objects.update(body=row.body | {"account": "alice"})
    sent.clear()

    commands.send([row.pk])
    models.AgentStatus.objects.update(facts={commands.PROTOCOL_FACT: later_version.LATER})
    before = list(sent)
    commands.send([row.pk])

    assert before == []
    assert json.loads(sent[0])["body"]["account"] == "alice"
    assert models.AgentCommand.objects.get().settled_at is None


def test_p18_an_old_hello_that_comes_late_does_not_change_how_an_agent_is_spoken_to(cluster, monkeypatch):
    later_version.speak(monkeypatch)
    cluster.agent.say("hello", boot="first", protocol=2, sessions=[])
    cluster.agent.seq = 0
    cluster.agent.say("hello", boot="first", protocol=1, sessions=[])

    assert commands.find_peer(cluster.node.pk).version == 2
