"""The stream over HTTP: the same events as on a socket, for as long as whoever asked may see them."""

from __future__ import annotations

import asyncio
import base64
from typing import Any

import pytest
from channels.db import database_sync_to_async
from django.conf import settings as live_settings
from django.db import connection
from django.test import Client

from scheduler import models
from scheduler.services import actors, keypairs
from tests import worlds
from tests.xceweb.live.conftest import StreamOpener
from tests.xceweb.live.test_consumers import atell
from xceweb.live import feeds, log, replay

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _rung_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the timer never look at rights."""
    monkeypatch.setattr(feeds, "RECHECK_S", 100_000)


@database_sync_to_async
def keypair(world: worlds.World, name: str = "owner") -> tuple[models.Keypair, dict[str, str]]:
    """Return a keypair of a person, and the header that shows it."""
    row, secret = keypairs.issue(actors.SYSTEM, world.people[name], keypairs.Wish(name="test", scope="read"))
    pair = base64.b64encode(f"{row.access_key}:{secret}".encode()).decode()
    return row, {"authorization": f"Basic {pair}"}


@database_sync_to_async
def log_in(user: models.User) -> tuple[Client, dict[str, str]]:
    """Return a browser of a person who is logged in, and its cookie."""
    client = Client()
    client.force_login(user)
    name = live_settings.SESSION_COOKIE_NAME
    return client, {"cookie": f"{name}={client.cookies[name].value}"}


async def test_a_stream_replays_and_then_tells_what_happens(
    world: worlds.World, open_stream: StreamOpener
) -> None:
    """With the numbers of the socket's frames, and an id to come again with."""
    _, header = await keypair(world)
    stream = await open_stream("after=5", **header)

    first = await stream.until("events")
    number = await atell(world)

    assert (stream.status, stream.headers["content-type"]) == (200, "text/event-stream")
    assert (stream.headers["cache-control"], stream.headers["x-accel-buffering"]) == ("no-store", "no")
    assert [event["number"] for event in first["data"]["events"]] == [6, 7]
    assert (first["data"]["prev"], first["data"]["last"], first["id"]) == (5, 7, 7)
    assert await stream.next_numbers() == [number]


async def test_a_reader_that_comes_again_goes_on_from_its_last_id(
    world: worlds.World, open_stream: StreamOpener
) -> None:
    """Which counts before the number of the address, which is that of the first time."""
    _, header = await keypair(world)
    stream = await open_stream("after=0", last_event_id="6", **header)

    assert await stream.next_numbers() == [7]


async def test_without_a_number_a_stream_begins_now(world: worlds.World, open_stream: StreamOpener) -> None:
    """An empty batch tells where."""
    _, header = await keypair(world)
    stream = await open_stream(**header)

    first = await stream.until("events")

    assert (first["data"]["events"], first["id"]) == ([], 7)


async def test_a_stream_of_a_topic_brings_that_alone(world: worlds.World, open_stream: StreamOpener) -> None:
    """As a socket's."""
    _, header = await keypair(world)
    stream = await open_stream(f"after=0&topic=session:{world.waiting.public_id}", **header)

    assert await stream.next_numbers() == [3]


async def test_far_behind_means_resync(
    world: worlds.World, open_stream: StreamOpener, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The pages of the same address have the rest."""
    monkeypatch.setattr(replay, "RESYNC_AFTER", 3)
    _, header = await keypair(world)
    stream = await open_stream("after=0", **header)

    assert (await stream.until("resync"))["id"] == 7


async def test_a_quiet_stream_shows_that_it_lives(
    world: worlds.World, open_stream: StreamOpener, settings: Any
) -> None:
    """With a comment, which readers pass over, and the number that it stands at now."""
    settings.TIME_SCALE = 0.01
    _, header = await keypair(world)
    stream = await open_stream("topic=user:me", **header)
    await stream.until("events")
    await atell(world, "group.policy_changed", group_id=world.elsewhere.pk)

    found = [await stream.until("events"), await stream.message()]

    assert ([one["id"] for one in found], found[1]["comment"]) == ([8, -1], "ping")


@pytest.mark.parametrize("how", ["revoked", "deactivated"])
async def test_a_keypair_that_ends_ends_its_stream_at_once(
    world: worlds.World, open_stream: StreamOpener, how: str
) -> None:
    """And nothing that happens afterwards is told."""
    row, header = await keypair(world)
    stream = await open_stream(**header)
    await stream.until("events")

    await database_sync_to_async(_end)(how, row)
    await atell(world)

    found = await stream.message()
    assert (found["event"], found["data"]["code"]) == ("end", 4401 if how == "revoked" else 4403)
    assert await stream.has_ended()


def _end(how: str, row: models.Keypair) -> None:
    if how == "revoked":
        keypairs.revoke(actors.SYSTEM, row)
    else:
        row.user.is_active = False
        row.user.save()


async def test_a_keypair_that_is_over_ends_its_stream_at_the_next_look(
    world: worlds.World, open_stream: StreamOpener, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing rings when time passes."""
    monkeypatch.setattr(feeds, "RECHECK_S", 0.1)
    row, header = await keypair(world)
    stream = await open_stream(**header)
    await stream.until("events")

    await models.Keypair.objects.filter(pk=row.pk).aupdate(expires_at=row.created_at)

    assert (await stream.until("end"))["data"]["code"] == 4401


async def test_a_logout_ends_the_streams_of_its_cookie(
    world: worlds.World, open_stream: StreamOpener
) -> None:
    """Keypairs of the same person go on."""
    client, cookie = await log_in(world.people["owner"])
    _, header = await keypair(world)
    of_cookie, of_keypair = await open_stream(**cookie), await open_stream(**header)
    for stream in (of_cookie, of_keypair):
        await stream.until("events")

    await database_sync_to_async(client.post)("/accounts/logout/")
    number = await atell(world)

    assert (await of_cookie.until("end"))["data"]["code"] == 4401
    assert await of_keypair.next_numbers() == [number]


async def test_a_role_that_ends_ends_the_stream_of_its_group(
    world: worlds.World, open_stream: StreamOpener
) -> None:
    """The topic is all that the connection had."""
    _, header = await keypair(world, "operator")
    stream = await open_stream("topic=group:gpu", **header)
    await stream.until("events")

    await database_sync_to_async(models.GroupRole.objects.filter(user__username="operator").delete)()

    assert (await stream.until("error"))["data"]["code"] == "not-found"
    assert (await stream.message())["event"] == "end"


@pytest.mark.parametrize(
    ("query", "status"),
    [("topic=group:nowhere", 404), ("topic=all", 400), ("after=x", 400), ("after=-1", 400)],
)
async def test_what_cannot_be_followed_is_refused_before_the_stream_begins(
    world: worlds.World, open_stream: StreamOpener, query: str, status: int
) -> None:
    """In the form of all errors."""
    _, header = await keypair(world)
    stream = await open_stream(query, **header)

    assert (stream.status, stream.headers["content-type"]) == (status, "application/problem+json")


async def test_nobody_reads_a_stream_without_a_log_in(world: worlds.World, open_stream: StreamOpener) -> None:
    """401, as everywhere."""
    assert (await open_stream()).status == 401


async def test_one_connection_too_many_is_refused(
    world: worlds.World, open_stream: StreamOpener, settings: Any
) -> None:
    """Until another one has gone."""
    settings.LIVE_PER_PERSON = 1
    _, header = await keypair(world)
    first = await open_stream(**header)
    await first.until("events")

    refused = await open_stream(**header)
    await first.leave()
    accepted = await open_stream(**header)

    assert (refused.status, (await refused.body())["code"]) == (429, "too-many-streams")
    assert (accepted.status, (await accepted.until("events"))["event"]) == (200, "events")


async def test_a_waiting_stream_holds_no_connection_to_the_database(
    world: worlds.World, open_stream: StreamOpener
) -> None:
    """Streams of many readers would hold all that the server may have."""
    _, header = await keypair(world)
    before = await _connections()

    for _ in range(3):
        await (await open_stream(**header)).until("events")

    for _ in range(100):  # the reader that all of them share looks now and then
        if await _connections() <= before:
            return
        await asyncio.sleep(0.05)
    pytest.fail(f"{await _connections()} connections instead of {before}")


@database_sync_to_async
def _connections() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()")
        return int(cursor.fetchone()[0])


async def test_the_reader_outlives_the_connection_that_started_it(
    world: worlds.World, open_stream: StreamOpener, settings: Any
) -> None:
    """What runs for all must not depend on the first request."""
    settings.TIME_SCALE = 100
    _, header = await keypair(world)
    first, second = await open_stream(**header), await open_stream(**header)
    for stream in (first, second):
        await stream.until("events")

    await first.leave()
    number = await atell(world)

    assert await second.next_numbers() == [number]
    await second.leave()
    assert not log.reader()._tasks
