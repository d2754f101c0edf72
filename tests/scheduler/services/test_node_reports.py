"""What an agent says about its node: hello is compared with what the controller believes; silence frees nothing."""

from __future__ import annotations

import datetime

import pytest

from scheduler import clock, models
from scheduler.protocol import fields, messages
from scheduler.services import actors, commands, control, reconcile, reports
from tests.scheduler.services import conftest, staging


@pytest.fixture
def stale_kills(monkeypatch):
    """Collect the kills that are sent directly, as (session, epoch)."""
    found = []
    monkeypatch.setattr(
        commands, "send_stale_kill", lambda node, session, epoch: found.append((session, epoch))
    )
    return found


def _held(session, *, epoch=1, state=fields.HeldState.RUNNING):
    return messages.HeldSession(session=str(session.public_id), epoch=epoch, state=state)


@pytest.mark.parametrize(
    ("restartable", "expected"), [(True, ("pending", "", 2)), (False, ("terminated", "lost", 1))]
)
def test_a_hello_without_a_session_that_should_be_there_loses_it(make_cluster, restartable, expected):
    cluster = make_cluster()
    session = cluster.run(cluster.alice, restartable=restartable)

    cluster.agent.hello()

    session.refresh_from_db()
    assert (session.state, session.result, session.attempt) == expected
    assert cluster.slot() == (0, 0)


def test_a_hello_with_all_it_should_hold_changes_nothing(make_cluster, stale_kills):
    cluster = make_cluster()
    session = cluster.run(cluster.alice)

    cluster.agent.hello(_held(session))

    assert conftest.state_of(session) == "running"
    assert stale_kills == []


def test_a_dispatch_that_the_agent_has_not_seen_is_not_lost(make_cluster):
    cluster = make_cluster()
    session = staging.scheduled(cluster)

    cluster.agent.hello()

    assert conftest.state_of(session) == "scheduled"
    assert len(cluster.agent.open_commands()) == 1


def test_a_victim_that_is_gone_is_lost_and_its_room_is_the_preemptors(make_cluster):
    cluster = make_cluster(**staging.RULES)
    victim, _ = cluster.contest()

    cluster.agent.hello()

    assert conftest.state_of(victim) == "pending"
    assert conftest.fate_of(victim) == "lost"
    assert cluster.slot() == (0, 4000)


def test_a_cancelled_session_waits_for_the_answer_to_its_kill(make_cluster):
    cluster = make_cluster()
    session = staging.terminating(cluster)

    cluster.agent.hello()
    assert conftest.state_of(session) == "terminating"
    cluster.agent.answers(session, messages.KillCommand, messages.Gone)

    session.refresh_from_db()
    assert (session.state, session.result) == ("terminated", "cancelled")


def test_a_stranger_is_killed_by_its_epoch(make_cluster, stale_kills):
    cluster = make_cluster()
    session = cluster.run(cluster.alice)
    cluster.agent.ends(session)

    cluster.agent.hello(_held(session, epoch=1))

    assert stale_kills == [(str(session.public_id), 1)]


def test_what_has_ended_there_is_no_stranger(make_cluster, stale_kills):
    cluster = make_cluster()
    session = cluster.run(cluster.alice)
    cluster.agent.ends(session)

    cluster.agent.hello(_held(session, state=fields.HeldState.ENDED))

    assert stale_kills == []


def test_a_heartbeat_finds_strangers_too(make_cluster, stale_kills):
    cluster = make_cluster()
    session = cluster.submit(cluster.alice)

    cluster.agent.send(messages.Heartbeat(sessions=(_held(session, epoch=3),)))

    assert stale_kills == [(str(session.public_id), 3)]


def test_a_kill_that_cannot_be_sent_costs_nothing(make_cluster, monkeypatch):
    cluster = make_cluster()
    session = cluster.submit(cluster.alice)
    monkeypatch.setattr(commands, "send_stale_kill", lambda *_, **__: 1 / 0)

    cluster.agent.hello(_held(session))

    assert models.AgentStatus.objects.get().hello_at is not None


def test_open_commands_are_sent_at_once_after_a_hello(make_cluster):
    cluster = make_cluster()
    staging.scheduled(cluster)
    later = clock.now() + datetime.timedelta(hours=1)
    models.AgentCommand.objects.update(send_again_at=later)

    cluster.agent.hello()

    assert models.AgentCommand.objects.get().send_again_at < later


def test_a_silent_node_is_suspect_keeps_what_it_holds_and_comes_back(make_cluster):
    cluster = make_cluster()
    session = cluster.run(cluster.alice, cpu="2")
    models.AgentStatus.objects.update(last_report_at=clock.now() - datetime.timedelta(seconds=16))

    reconcile.suspect_silent_nodes()
    waiting = cluster.submit(cluster.bob, cpu="2")
    cluster.round()

    assert models.Node.objects.get().state == "suspect"
    assert (conftest.state_of(session), conftest.state_of(waiting)) == ("running", "pending")
    assert cluster.slot() == (2000, 0)
    cluster.agent.send(messages.Heartbeat(sessions=(_held(session),)))
    assert models.Node.objects.get().state == "ready"


def test_a_hello_delivered_late_does_not_lose_what_started_since(make_cluster):
    cluster = make_cluster()
    early = cluster.agent.sealed(
        messages.Hello(agent_version="1", protocol=1, boot="b", pid=1, host_facts={}, sessions=())
    )
    session = cluster.run(cluster.alice)

    reports.receive(early)

    assert conftest.state_of(session) == "running"


def test_a_hello_does_not_lose_what_its_agent_confirmed_after_writing_it(make_cluster):
    cluster = make_cluster()
    session = cluster.submit(cluster.alice)
    cluster.round()
    cluster.agent.starts(session, at_mono_ms=10)

    hello = {"agent_version": "1", "protocol": 1, "boot": cluster.agent.boot, "pid": 1, "host_facts": {}}
    cluster.agent.send(messages.Hello(**hello, at_mono_ms=5))
    assert conftest.state_of(session) == "running"
    cluster.agent.send(messages.Hello(**hello, at_mono_ms=15))
    assert conftest.state_of(session) == "pending"


def test_p08_a_replayed_heartbeat_does_not_keep_a_silent_node_alive(make_cluster):
    cluster = make_cluster()
    text = cluster.agent.send(messages.Heartbeat())
    long_ago = clock.now() - datetime.timedelta(seconds=60)
    models.AgentStatus.objects.update(last_report_at=long_ago)
    reconcile.suspect_silent_nodes()

    reports.receive(text)

    assert models.Node.objects.get().state == "suspect"
    assert models.AgentStatus.objects.get().last_report_at == long_ago


def test_a_hello_of_an_earlier_boot_says_nothing_of_now(make_cluster):
    cluster = make_cluster()
    old = cluster.agent.sealed(
        messages.Hello(agent_version="1", protocol=1, boot="b", pid=1, host_facts={}, sessions=())
    )
    cluster.agent.send(messages.Heartbeat())
    cluster.agent.boot, cluster.agent.seq = "boot-2", 0
    cluster.agent.hello()
    session = cluster.run(cluster.alice)

    reports.receive(old)

    assert conftest.state_of(session) == "running"
    assert models.AgentStatus.objects.get().boot == "boot-2"


def test_a_shifted_clock_of_an_agent_plays_no_part(make_cluster):
    cluster = make_cluster()
    session = cluster.submit(cluster.alice)
    cluster.round()

    cluster.agent.answers(
        session,
        messages.StartCommand,
        messages.Started,
        pid=1,
        started_mono_ms=2**60,
        boot="b",
        at_mono_ms=2**62,
    )

    session.refresh_from_db()
    assert session.state == "running"
    assert abs((session.started_at - clock.now()).total_seconds()) < 60


def test_a_long_version_is_cut(make_cluster):
    cluster = make_cluster()

    cluster.agent.send(
        messages.Hello(agent_version="v" * 200, protocol=1, boot="b", pid=1, host_facts={}, sessions=())
    )

    assert models.AgentStatus.objects.get().version == "v" * 32


def test_a_hello_keeps_what_is_known_of_earlier_boots(make_cluster):
    cluster = make_cluster()
    cluster.agent.hello()
    cluster.agent.boot, cluster.agent.seq = "boot-2", 0
    cluster.agent.hello()

    cluster.agent.hello()

    assert models.AgentStatus.objects.get().facts["earlier_boots"] == ["boot-1"]


def test_a_suspended_session_that_its_node_lost_starts_anew(make_cluster):
    cluster = make_cluster()
    session = cluster.run(cluster.alice)
    control.suspend_session(actors.of_user(cluster.alice), session)
    cluster.agent.suspends(session)

    cluster.agent.hello()

    session.refresh_from_db()
    assert (session.state, session.attempt) == ("pending", 2)
