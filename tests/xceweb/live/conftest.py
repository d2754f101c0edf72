"""A real Valkey for the channel layer, sockets of people, and events that commit."""

from __future__ import annotations

import pathlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any

import pytest
from channels import layers
from channels.db import database_sync_to_async
from django.conf import settings
from django.db import connections
from django.test import Client

from scheduler import models
from tests import worlds
from tests.xceweb.live import sockets
from xceweb.live import routing
from xceweb.stack import accounts, keys, valkey

ORIGIN = "http://testserver"


@pytest.fixture(scope="session")
def redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Start one server for all tests of the stream."""
    home: pathlib.Path = tmp_path_factory.mktemp("valkey")
    account = accounts.choose()
    for folder in (*[parent for parent in home.parents if "pytest" in parent.name], home):
        folder.chmod(0o755)
    accounts.give(home, account)
    running = valkey.start(home, secrets=keys.generate(), account=account)
    yield f"{running.url}/0"
    running.stop()


@pytest.fixture
def _layer(redis_url: str, settings: Any) -> None:
    settings.CHANNEL_LAYERS = {
        "default": {
            "BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer",
            "CONFIG": {"hosts": [redis_url]},
        }
    }
    settings.ALLOWED_HOSTS = ["testserver"]


@pytest.fixture
async def world(transactional_db: None, _layer: None) -> AsyncIterator[worlds.World]:
    """A committed small cluster; closes what the socket's threads opened, so that the database can be emptied."""
    yield await database_sync_to_async(worlds.a_world)()
    await layers.get_channel_layer().flush()
    await database_sync_to_async(connections.close_all)()


Opener = Callable[..., Awaitable[sockets.Socket]]


@pytest.fixture
async def open_socket() -> AsyncIterator[Opener]:
    """Return a function that opens a person's socket; all are closed at the end."""
    opened: list[sockets.Socket] = []

    async def open_(user: models.User | None, *, origin: str = ORIGIN) -> sockets.Socket:
        cookie = await database_sync_to_async(_cookie)(user) if user else ""
        headers = [(b"origin", origin.encode()), (b"host", b"testserver"), (b"cookie", cookie.encode())]
        socket = sockets.Socket(routing.application, headers)
        assert await socket.connect()
        opened.append(socket)
        return socket

    yield open_
    for socket in opened:
        await socket.disconnect()


def _cookie(user: models.User) -> str:
    client = Client()
    client.force_login(user)
    return f"{settings.SESSION_COOKIE_NAME}={client.cookies[settings.SESSION_COOKIE_NAME].value}"
