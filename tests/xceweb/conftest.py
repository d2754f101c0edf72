"""A small cluster with people in every role, and clients that are logged in."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from django.test import Client

from scheduler import models
from scheduler.selectors import decisions
from scheduler.simulator import world as simulator
from tests import worlds
from xceweb.common import pacing


@pytest.fixture
def world(db: None) -> worlds.World:
    """The cluster of ``tests.worlds``."""
    return worlds.a_world()


@pytest.fixture
def client_of(world: worlds.World) -> Callable[[str], Client]:
    """Return a function that logs a person of the world in."""

    def log_in(name: str) -> Client:
        client = Client()
        client.force_login(world.people[name])
        return client

    return log_in


@pytest.fixture
def owner(world: worlds.World) -> models.User:
    """The owner of the world's sessions."""
    return world.people["owner"]


@pytest.fixture
def stored(db: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[simulator.World]:
    """
    A simulated cluster whose last round stopped somebody; `decision` is that decision, `user` its owner.

    Whoever asks there for a re-run waits for nobody.
    """
    monkeypatch.setattr(pacing, "_count", lambda what, user_id: 0)
    rules = {"preemption_state": "on", "preemption_mode": "suspend"}
    with simulator.World(rules).running() as cluster:
        cluster.add_queue("q1")
        cluster.add_node("n1", {"cpu": 4000, "cuda.device": 2})
        cluster.obey()
        cluster.user = cluster.owner("u1")
        full = {"cpu": 4000, "cuda.device": 2}
        for name, rank in (("low", 1), ("middle", 1), ("high", 9)):
            cluster.submit(cluster.user, name=name, amounts=full, job_priority=rank)
            cluster.tick()
            cluster.advance(10)
        cluster.decision = decisions.require(cluster.user, models.Decision.objects.get().public_id)
        yield cluster
