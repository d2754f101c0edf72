"""Bells may be lost: a broker that is away costs a line of the log and nothing else."""

from __future__ import annotations

import socket

import pytest
from celery import current_app

from scheduler import models
from scheduler.services import bells
from tests.scheduler.services import conftest


@pytest.fixture
def no_broker(settings):
    """Point the broker at a port that nobody listens on, with the bounded publishing of the settings."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    before = current_app.conf.broker_url
    current_app.conf.broker_url = f"redis://127.0.0.1:{port}/0"
    current_app.pool.force_close_all()
    current_app.__dict__.pop("amqp", None)
    yield
    current_app.conf.broker_url = before
    current_app.__dict__.pop("amqp", None)


def test_a_broker_that_is_away_costs_a_line_of_the_log(no_broker, caplog):
    bells.ring(last=0, group_ids=[1], command_ids=[])

    assert "bell round was not rung" in caplog.text


@pytest.mark.django_db(transaction=True)
def test_work_is_done_without_a_broker_and_its_commands_wait(make_cluster, no_broker):
    cluster = make_cluster()
    session = cluster.submit(cluster.alice)

    cluster.round()

    assert conftest.state_of(session) == "scheduled"
    command = models.AgentCommand.objects.get()
    assert (command.sent_at, command.settled_at) == (None, None)


def test_a_bell_that_fails_does_not_keep_the_next_from_ringing(monkeypatch):
    asked = []
    monkeypatch.setattr(bells, "_send", lambda ids: 1 / 0)
    monkeypatch.setattr(bells, "_ask", asked.append)

    bells.ring(last=0, group_ids=[7], command_ids=[3])

    assert asked == [7]
