"""A small cluster with people in every role, and clients that are logged in."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client

from scheduler import models
from tests import worlds


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
