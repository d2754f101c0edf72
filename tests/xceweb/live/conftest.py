"""A real Valkey for the channel layer, sockets and streams of people, and events that commit."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
from channels import layers
from channels.db import database_sync_to_async
from django.conf import settings as live_settings
from django.db import connections
from django.test import Client

from scheduler import models
from tests import worlds
from tests.xceweb.live import sockets, streams
from xceweb import asgi
from xceweb.live import routing

ORIGIN = "http://testserver"


@pytest.fixture
def _layer(settings: Any) -> None:
    """Use the real server that the test run started, apart from other workers of the run."""
    prefix = f"test-{os.environ.get('PYTEST_XDIST_WORKER', 'main')}"
    settings.CHANNEL_LAYERS = {
        "default": {
            "BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer",
            "CONFIG": {"hosts": [settings.ENV["REDIS_URL"]], "prefix": prefix},
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
    """Return a function that opens the socket of a person or of a client; all are closed at the end."""
    opened: list[sockets.Socket] = []

    async def open_(user: models.User | Client | None, *, origin: str = ORIGIN) -> sockets.Socket:
        cookie = await database_sync_to_async(_cookie)(user) if user else ""
        headers = [(b"origin", origin.encode()), (b"host", b"testserver"), (b"cookie", cookie.encode())]
        socket = sockets.Socket(routing.application, headers)
        assert await socket.connect()
        opened.append(socket)
        return socket

    yield open_
    for socket in opened:
        await socket.disconnect()


def _cookie(user: models.User | Client) -> str:
    client = user if isinstance(user, Client) else Client()
    if isinstance(user, models.User):
        client.force_login(user)
    return f"{live_settings.SESSION_COOKIE_NAME}={client.cookies[live_settings.SESSION_COOKIE_NAME].value}"


StreamOpener = Callable[..., Awaitable[streams.Stream]]


@pytest.fixture
async def open_stream() -> AsyncIterator[StreamOpener]:
    """Return a function that asks for events as a stream with some headers; all end at the end."""
    opened: list[streams.Stream] = []

    async def open_(query: str = "", **headers: str) -> streams.Stream:
        stream = streams.Stream(asgi.django_application, query, headers)
        opened.append(stream)
        await stream.begin()
        return stream

    yield open_
    for stream in opened:
        await stream.leave()
