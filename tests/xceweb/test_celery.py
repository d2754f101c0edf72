"""A broker that is away is looked for every few seconds, for ever, by workers and by agents."""

from __future__ import annotations

from typing import Any

import kombu
import pytest

from scheduler.agent import app as agent
from xceweb import celery as controller

APPS = {"controller": controller.app, "agent": agent.make_app("redis://127.0.0.1:1/0")}


@pytest.mark.parametrize("name", APPS)
@pytest.mark.parametrize(("asked", "pause"), [({}, 5), ({"interval_max": 1}, 1), ({"interval_max": 30}, 5)])
def test_no_pause_between_two_tries_is_longer_than_five_seconds(
    monkeypatch: pytest.MonkeyPatch, name: str, asked: dict[str, Any], pause: int
) -> None:
    """Workers leave the pauses to the connection, which waits up to half a minute."""
    seen: list[dict[str, Any]] = []
    monkeypatch.setattr(kombu.Connection, "_ensure_connection", lambda self, *args, **more: seen.append(more))
    with APPS[name].connection_for_read() as link:
        link.ensure_connection(None, 3, callback=None, **asked)

    assert [more["interval_max"] for more in seen] == [pause]


@pytest.mark.parametrize("name", APPS)
def test_nobody_gives_the_broker_up(name: str) -> None:
    """Celery's default is a hundred tries."""
    assert APPS[name].conf.broker_connection_max_retries is None
