"""Clients that show a keypair."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client

from scheduler.services import actors, keypairs
from tests import worlds
from tests.xceweb.api import clients


@pytest.fixture
def api_of(world: worlds.World) -> Callable[..., clients.Api]:
    """Return a function that makes a client of a person of the world, with a keypair of their own."""

    def make(name: str, **fields: object) -> clients.Api:
        person = world.people[name]
        administrator = actors.of_user(world.people["administrator"])
        row, secret = keypairs.issue(
            administrator, person, keypairs.Wish(name="test", **{"scope": "full", **fields})
        )
        return clients.Api(Client(), row, secret)

    return make
