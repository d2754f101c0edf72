"""Bells may be lost: a broker that is away costs a line of the log and nothing else."""

from __future__ import annotations

import asyncio
import socket

import pytest
from celery import current_app

from scheduler import models
from scheduler.services import bells
from tests.scheduler.services import conftest


@pytest.fixture(autouse=True)
def _rested():
    bells._pauses.clear()
    yield
    bells._pauses.clear()


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


def test_a_bell_that_could_not_be_rung_rests_longer_each_time_and_costs_nobody_else(monkeypatch):
    now, tries = [100.0], []
    monkeypatch.setattr(bells.time, "monotonic", lambda: now[0])

    def fail(group_id):
        tries.append(now[0])
        raise OSError

    monkeypatch.setattr(bells, "_ask", fail)
    for _ in range(40):
        bells.ring(last=0, group_ids=[1, 2, 3], command_ids=[])
        now[0] += 0.5

    assert tries == [100, 101, 103, 107, 112, 117]


def test_a_bell_that_rings_again_does_not_rest(monkeypatch):
    asked = []
    monkeypatch.setattr(bells, "_ask", lambda group_id: 1 / 0)
    bells.ring(last=0, group_ids=[1], command_ids=[])
    monkeypatch.setattr(bells, "_ask", asked.append)
    bells._pauses["round"]._until = 0

    bells.ring(last=0, group_ids=[1, 2], command_ids=[])
    bells.ring(last=0, group_ids=[3], command_ids=[])

    assert asked == [1, 2, 3]


def test_a_channel_store_that_has_halted_holds_nobody_up(monkeypatch, caplog):
    class Halted:
        async def group_send(self, group, message):
            await asyncio.Event().wait()

    monkeypatch.setattr(bells, "get_channel_layer", Halted)
    monkeypatch.setattr(bells, "HINT_S", 0.01)

    bells.ring(last=7, group_ids=[], command_ids=[])

    assert "bell hint was not rung" in caplog.text
