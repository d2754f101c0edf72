"""The outbox: one open command per session and node, sent until it is settled."""

from __future__ import annotations

import datetime

import pytest

from scheduler import clock, models
from scheduler.protocol import messages, signing
from scheduler.services import actors, commands, control, nodes


@pytest.fixture
def sent(monkeypatch):
    """Collect what is published, as (queue, envelope)."""
    found = []
    monkeypatch.setattr(
        commands.current_app,
        "send_task",
        lambda name, args, queue, expires: found.append((queue, args[0])),
    )
    return found


def _due():
    models.AgentCommand.objects.update(send_again_at=clock.now() - datetime.timedelta(seconds=1))
    return commands.send_due(clock.now())


def test_a_newer_command_supersedes_the_open_one(make_cluster):
    cluster = make_cluster()
    session = cluster.submit(cluster.alice)
    cluster.round()

    control.cancel_session(actors.of_user(cluster.alice), session)

    start, kill = models.AgentCommand.objects.order_by("pk")
    assert (start.kind, start.settled_how) == ("start", "superseded")
    assert (kill.kind, kill.settled_at) == ("kill", None)


def test_an_open_command_is_sent_again_with_growing_pauses(make_cluster, sent, settings):
    cluster = make_cluster()
    cluster.submit(cluster.alice)
    cluster.round()
    pauses = []

    for _ in range(6):
        _due()
        row = models.AgentCommand.objects.get()
        pauses.append(round((row.send_again_at - row.sent_at).total_seconds() / settings.TIME_SCALE))

    assert pauses == [2, 4, 8, 16, 30, 30]
    assert {queue for queue, _ in sent} == {"node.n1"}


def test_where_nobody_listens_the_broker_does_not_fill_and_who_comes_back_is_sent_all(make_cluster, sent):
    cluster = make_cluster()
    cluster.submit(cluster.alice)
    cluster.round()
    models.Node.objects.update(state="suspect")
    for _ in range(12):
        _due()
    row = models.AgentCommand.objects.get()
    assert (row.send_again_at - row.sent_at).total_seconds() == pytest.approx(600)

    cluster.agent.node.refresh_from_db()
    cluster.agent.send(messages.Heartbeat())

    row.refresh_from_db()
    assert models.Node.objects.get().state == "ready"
    assert row.send_again_at <= clock.now()


def test_what_is_sent_again_is_the_same_command(make_cluster, sent):
    cluster = make_cluster()
    cluster.submit(cluster.alice)
    cluster.round()

    _due()
    _due()

    keys = {cluster.agent.key.key_id: cluster.agent.key}
    bodies = [signing.open_envelope(text, keys=keys, direction="down").body for _, text in sent]
    assert len(bodies) == 2
    assert bodies[0] == bodies[1]


def test_a_settled_command_is_not_sent_again(make_cluster, sent):
    cluster = make_cluster()
    cluster.run(cluster.alice)
    sent.clear()

    assert _due() == 0
    assert sent == []


def test_a_command_is_settled_once(make_cluster):
    cluster = make_cluster()
    cluster.run(cluster.alice)
    first = models.AgentCommand.objects.get()

    cluster.agent.send(
        messages.StartFailed(
            session=str(first.session.public_id), epoch=1, command_id=str(first.command_id), error="no"
        )
    )

    row = models.AgentCommand.objects.get()
    assert (row.settled_how, row.settled_at) == ("started", first.settled_at)


def test_without_a_valid_key_nothing_is_sent(make_cluster, sent):
    cluster = make_cluster()
    cluster.submit(cluster.alice)
    cluster.round()
    models.AgentKey.objects.update(revoked_at=clock.now())

    _due()

    assert sent == []
    assert models.AgentCommand.objects.get().settled_at is None


def test_a_command_is_read_also_where_the_clock_is_more_than_an_hour_ahead(make_cluster, monkeypatch):
    ends = []
    monkeypatch.setattr(
        commands.current_app, "send_task", lambda name, args, queue, expires: ends.append(expires)
    )
    cluster = make_cluster()
    cluster.submit(cluster.alice)
    cluster.round()
    _due()

    assert ends == [messages.PASSING_S]
    assert messages.PASSING_S > 3600 + 600


def test_the_newest_key_signs_during_a_rotation(make_cluster, sent):
    cluster = make_cluster()
    cluster.submit(cluster.alice)
    cluster.round()
    key_id, secret = nodes.enroll_node(actors.SYSTEM, cluster.node)

    _due()

    key = signing.NodeKey(key_id, "n1", bytes.fromhex(secret))
    assert signing.open_envelope(sent[-1][1], keys={key_id: key}, direction="down").key_id == key_id
