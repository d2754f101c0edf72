"""Health: what fails is named to everybody, why to administrators alone, and pages go on without the machine."""

from __future__ import annotations

import datetime
from typing import Any

import pytest
from django.db import DatabaseError, connection
from django.test import Client

import scheduler
from scheduler import models
from scheduler.services import listening
from tests import model_factories
from xceweb.common import health


@pytest.fixture(autouse=True)
def _no_store(settings: Any) -> None:
    """Hints stay in this process."""
    settings.CHANNEL_LAYERS = {"default": {"BACKEND": "channels.layers.InMemoryChannelLayer"}}


def verbose(client: Client, address: str = "/readyz?verbose") -> tuple[int, list[str]]:
    """Return status and lines."""
    answer = client.get(address)
    return answer.status_code, answer.content.decode().splitlines()


def test_alive_asks_nothing(client: Client) -> None:
    """Not even the database."""
    assert client.get("/livez").json() == {"status": "alive"}
    assert verbose(client, "/livez?verbose") == (200, ["[+]process ok", "livez check passed"])


def test_the_version_is_that_of_the_product(client: Client) -> None:
    """And of the API."""
    assert client.get("/version").json() == {"version": scheduler.VERSION, "api": "v1"}


@pytest.mark.django_db
def test_ready_means_that_pages_can_be_served(client: Client) -> None:
    """Although the scheduler is not there."""
    assert client.get("/readyz").json() == {"status": "ready"}
    status, lines = verbose(client)
    assert (status, lines[:3], lines[-1]) == (
        200,
        ["[+]database ok", "[+]migrations ok", "[+]hints ok"],
        "readyz check passed",
    )
    assert lines[3:5] == ["[-]scheduler failed: reason withheld", "[+]outbox ok"]


@pytest.mark.django_db
def test_a_database_that_is_behind_is_not_ready(client: Client) -> None:
    """A stranger is told what failed, an administrator what to do."""
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM django_migrations WHERE app = 'scheduler'")

    stranger = client.get("/readyz")
    client.force_login(model_factories.an_administrator())
    administrator = client.get("/readyz")

    assert (stranger.status_code, stranger.json()) == (503, {"status": "not ready", "failed": ["migrations"]})
    assert "run migrate" in administrator.json()["detail"]


@pytest.mark.django_db
def test_without_a_database_nobody_is_asked_for(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever was logged in cannot be recognised then, and a check that would ask it is not made."""

    def away() -> str:
        raise DatabaseError("password of somebody")

    client.force_login(model_factories.an_administrator())
    checks = [health.Check("database", away, is_needed=True), *health.CHECKS[1:]]
    monkeypatch.setattr(health, "CHECKS", tuple(checks))

    status, lines = verbose(client)

    assert (status, lines[-1]) == (503, "readyz check failed")
    assert [line.partition(": ")[2] for line in lines[:-1]] == ["reason withheld"] * 5


@pytest.mark.django_db
@pytest.mark.parametrize(("age_s", "status"), [(1, 200), (60, 503)])
def test_a_scheduler_that_does_not_look_fails_its_own_check(client: Client, age_s: int, status: int) -> None:
    """With the seconds for an administrator."""
    listening.note()
    late = models.Listening.objects.get().last_at - datetime.timedelta(seconds=age_s)
    models.Listening.objects.update(last_at=late)

    assert verbose(client, "/readyz/scheduler")[0] == status
    client.force_login(model_factories.an_administrator())
    _, (line,) = verbose(client, "/readyz/scheduler")
    assert ("has not looked for 60 s" in line) == (status == 503)


@pytest.mark.django_db
def test_a_store_of_hints_that_is_away_fails_its_own_check(client: Client, settings: Any) -> None:
    """Pages look by themselves every few seconds."""
    settings.CHANNEL_LAYERS = {
        "default": {
            "BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer",
            "CONFIG": {"hosts": ["redis://127.0.0.1:9/0"]},
        }
    }

    assert verbose(client, "/readyz/hints") == (503, ["[-]hints failed: reason withheld"])
    assert client.get("/readyz").status_code == 200


@pytest.mark.django_db
def test_there_is_no_check_of_another_name(client: Client) -> None:
    """404, as everywhere."""
    assert client.get("/readyz/weather").status_code == 404
