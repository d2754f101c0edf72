"""The stream over a real broker and database: replay, relay, gaps, rights, limits."""

from __future__ import annotations

from typing import Any

import pytest
from channels.db import database_sync_to_async
from django.contrib.sessions.models import Session

from scheduler import models
from scheduler.services import actors, work
from tests import model_factories, worlds
from tests.xceweb.live import sockets
from tests.xceweb.live.conftest import Opener
from xceweb.live import consumers, feeds, log, replay, routing

pytestmark = pytest.mark.django_db(transaction=True)


def tell(world: worlds.World, type_: str = "session.changed", **about: Any) -> int:
    """Commit one event as a service does, hint included; return its number."""
    about = about or {"session": world.running}
    with work.begin(actors.SYSTEM) as unit:
        unit.tell(type_, **about)
    return models.EventCounter.objects.get(id=1).last


atell = database_sync_to_async(tell)


async def test_a_subscription_from_now_on_starts_at_the_newest_number(
    world: worlds.World, open_socket: Opener
) -> None:
    """An empty batch tells where the client stands."""
    socket = await open_socket(world.people["owner"])

    frame = await socket.ask(type="subscribe", topic="cluster", after=None)

    assert frame["events"] == []
    assert frame["prev"] == frame["last"] == 7


async def test_a_committed_event_reaches_the_subscriber_by_its_hint(
    world: worlds.World, open_socket: Opener, settings: Any
) -> None:
    """Polling is too slow to have brought it."""
    settings.TIME_SCALE = 100
    socket = await open_socket(world.people["owner"])
    await socket.ask(type="subscribe", topic="user:me", after=None)

    number = await atell(world)

    frame = await socket.receive()
    assert [(number, "high-work")] == [(e["number"], e["text"].split("**")[1]) for e in frame["events"]]
    assert (number - 1, number) == (frame["prev"], frame["last"])


async def test_an_event_whose_hint_was_lost_is_found_by_looking(
    world: worlds.World, open_socket: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The reader polls anyway."""
    monkeypatch.setattr(log, "POLL_S", 0.05)
    socket = await open_socket(world.people["owner"])
    await socket.ask(type="subscribe", topic="cluster", after=None)

    await database_sync_to_async(model_factories.an_event)("session.changed", session=world.running)

    assert await socket.next_numbers() == [8]


async def test_a_reconnect_by_number_loses_nothing_and_doubles_nothing(
    world: worlds.World, open_socket: Opener
) -> None:
    """What happened while the client was away comes once, in order."""
    first = await open_socket(world.people["owner"])
    last = (await first.ask(type="subscribe", topic="cluster", after=None))["last"]
    await first.disconnect()
    missed = [await atell(world) for _ in range(3)]

    second = await open_socket(world.people["owner"])
    frame = await second.ask(type="subscribe", topic="cluster", after=last)
    live = await atell(world)

    assert missed == [event["number"] for event in frame["events"]]
    assert last == frame["prev"]
    assert [live] == await second.next_numbers()


async def test_asking_again_after_a_gap_gives_the_rest(world: worlds.World, open_socket: Opener) -> None:
    """A client that noticed another ``prev`` subscribes again with what it holds."""
    socket = await open_socket(world.people["owner"])
    await socket.ask(type="subscribe", topic="cluster", after=None)

    frame = await socket.ask(type="subscribe", topic="cluster", after=2)

    assert [event["number"] for event in frame["events"]] == [3, 4, 5, 6, 7]
    assert (frame["prev"], frame["last"]) == (2, 7)


async def test_batches_of_one_topic_join_without_a_gap(world: worlds.World, open_socket: Opener) -> None:
    """Events that the viewer may not see lie between two batches, and ``prev`` is still what the client holds."""
    socket = await open_socket(world.people["owner"])
    start = await socket.ask(type="subscribe", topic="user:me", after=None)
    await atell(world, "group.policy_changed", group_id=world.elsewhere.pk)
    await atell(world)
    frame = await socket.receive()

    assert start["last"] == frame["prev"]
    assert [event["number"] for event in frame["events"]] == [9]


async def test_far_behind_means_resync(
    world: worlds.World, open_socket: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The client fetches the page anew instead of being told each step."""
    monkeypatch.setattr(replay, "RESYNC_AFTER", 3)
    socket = await open_socket(world.people["owner"])

    frame = await socket.ask(type="subscribe", topic="cluster", after=1)

    assert frame == {"type": "resync", "topic": "cluster", "last": 7}


async def test_a_number_from_another_installation_means_resync(
    world: worlds.World, open_socket: Opener
) -> None:
    """A client that is ahead of the log has seen another log."""
    socket = await open_socket(world.people["owner"])

    frame = await socket.ask(type="subscribe", topic="cluster", after=9_999)

    assert frame == {"type": "resync", "topic": "cluster", "last": 7}


async def test_old_events_are_read_from_the_database_when_memory_has_let_them_go(
    world: worlds.World, open_socket: Opener
) -> None:
    """The reader starts at the newest number; what is older is not in its memory."""
    socket = await open_socket(world.people["administrator"])

    frame = await socket.ask(type="subscribe", topic="cluster", after=0)

    assert [event["number"] for event in frame["events"]] == [1, 2, 3, 4, 5, 6, 7]


async def test_a_viewer_reads_state_and_queue_but_no_name(world: worlds.World, open_socket: Opener) -> None:
    """The text of the same event depends on who reads it."""
    socket = await open_socket(world.people["viewer"])

    frame = await socket.ask(type="subscribe", topic="cluster", after=0)

    text = " ".join(event["text"] for event in frame["events"])
    assert "A session in **normal**" in text
    assert "work" not in text
    assert "gpu-1" not in text


async def test_an_outsider_gets_no_event_of_the_group(world: worlds.World, open_socket: Opener) -> None:
    """Not even that it happened."""
    socket = await open_socket(world.people["outsider"])

    frame = await socket.ask(type="subscribe", topic="cluster", after=0)

    assert frame["events"] == []


@pytest.mark.parametrize("topic", ["group:gpu", "session:{session}", "group:nowhere"])
async def test_a_topic_that_is_not_visible_does_not_exist(
    world: worlds.World, open_socket: Opener, topic: str
) -> None:
    """Hidden and missing answer alike."""
    socket = await open_socket(world.people["outsider"])

    frame = await socket.ask(type="subscribe", topic=topic.format(session=world.running.public_id), after=0)

    assert (frame["type"], frame["code"]) == ("error", "not-found")


async def test_a_topic_of_one_session_brings_that_session_alone(
    world: worlds.World, open_socket: Opener
) -> None:
    """The others' events stay away."""
    socket = await open_socket(world.people["owner"])

    frame = await socket.ask(type="subscribe", topic=f"session:{world.waiting.public_id}", after=0)

    assert [event["number"] for event in frame["events"]] == [3]


async def test_a_victims_topic_brings_what_becomes_of_its_decision(
    world: worlds.World, open_socket: Opener
) -> None:
    """Whether the room was used is told by an event of the other session; the victim's page waits for it."""
    socket = await open_socket(world.people["owner"])

    frame = await socket.ask(type="subscribe", topic=f"session:{world.victim.public_id}", after=0)

    assert [event["number"] for event in frame["events"]] == [1, 4, 5, 6]


@pytest.fixture
def _rechecks_often(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Look at rights every 0.3 s, and never lose patience with a client that is slow to answer pings."""
    settings.TIME_SCALE = 0.005
    monkeypatch.setattr(consumers, "MOST_MISSED_PONGS", 10_000)


@pytest.mark.usefixtures("_rechecks_often")
async def test_a_role_that_ended_closes_its_topics(world: worlds.World, open_socket: Opener) -> None:
    """Rights are looked at again on a timer."""
    socket = await open_socket(world.people["viewer"])
    await socket.ask(type="subscribe", topic="group:gpu", after=None)

    await database_sync_to_async(models.GroupRole.objects.filter(user__username="viewer").delete)()

    assert (await socket.until("error"))["code"] == "not-found"


@pytest.mark.usefixtures("_rechecks_often")
@pytest.mark.parametrize("how", ["logout", "deactivated", "password"])
async def test_a_log_in_that_ended_closes_the_socket(
    world: worlds.World, open_socket: Opener, how: str
) -> None:
    """4401 asks for a new log-in, 4403 says that there is no access any more."""
    socket = await open_socket(world.people["owner"])

    await database_sync_to_async(_end)(how)

    assert {"deactivated": 4403}.get(how, 4401) == await socket.close_code()


def _end(how: str) -> None:
    user = models.User.objects.filter(username="olivia")
    if how == "logout":
        Session.objects.all().delete()
    elif how == "deactivated":
        user.update(is_active=False)
    else:
        user.update(password="!")


async def test_nobody_is_let_in_without_a_log_in(world: worlds.World, open_socket: Opener) -> None:
    """The socket opens and closes with a code that the page can read."""
    socket = await open_socket(None)

    assert await socket.close_code() == 4401


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "http://testserver:81", "https://testserver", "null", ""]
)
async def test_a_page_of_another_origin_gets_no_socket(world: worlds.World, origin: str) -> None:
    """Scheme, host and port count."""
    headers = [(b"origin", origin.encode()), (b"host", b"testserver")]

    assert not await sockets.Socket(routing.application, headers).connect()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x",
        "[]",
        '{"type":"shout"}',
        '{"type":"subscribe"}',
        '{"type":"subscribe","topic":"cluster","after":-1}',
    ],
)
async def test_a_frame_that_cannot_be_read_gets_an_error(
    world: worlds.World, open_socket: Opener, text: str
) -> None:
    """The socket lives on."""
    socket = await open_socket(world.people["owner"])

    await socket.send_text(text)

    assert (await socket.receive())["code"] == "bad-frame"
    assert (await socket.ask(type="subscribe", topic="cluster", after=None))["type"] == "events"


async def test_a_topic_of_no_known_form_is_named_as_such(world: worlds.World, open_socket: Opener) -> None:
    """The error says which there are."""
    socket = await open_socket(world.people["owner"])

    frame = await socket.ask(type="subscribe", topic="everything", after=None)

    assert frame["code"] == "bad-topic"


async def test_a_frame_above_8_kib_ends_the_socket(world: worlds.World, open_socket: Opener) -> None:
    """Nobody fills the server's memory through a socket."""
    socket = await open_socket(world.people["owner"])

    await socket.send_text("x" * (consumers.MOST_BYTES_IN + 1))

    assert await socket.close_code() == 1009


async def test_a_socket_has_at_most_20_topics(world: worlds.World, open_socket: Opener) -> None:
    """The 21st is refused, an ended one makes room."""
    socket = await open_socket(world.people["administrator"])
    sessions = await database_sync_to_async(_many)(world, feeds.MOST_TOPICS + 1)
    for session in sessions[: feeds.MOST_TOPICS]:
        await socket.ask(type="subscribe", topic=f"session:{session.public_id}", after=None)

    refused = await socket.ask(type="subscribe", topic="cluster", after=None)
    await socket.send(type="unsubscribe", topic=f"session:{sessions[0].public_id}")
    accepted = await socket.ask(type="subscribe", topic="cluster", after=None)

    assert (refused["code"], accepted["type"]) == ("too-many-topics", "events")


def _many(world: worlds.World, count: int) -> list[models.Session]:
    owner, queue = world.people["owner"], world.queues["normal"]
    return [model_factories.a_session(owner=owner, queue=queue, group=world.group) for _ in range(count)]


async def test_a_client_that_never_answers_pings_is_let_go(
    world: worlds.World, open_socket: Opener, settings: Any
) -> None:
    """A half-open connection does not live for ever."""
    settings.TIME_SCALE = 0.001
    socket = await open_socket(world.people["owner"])

    assert await socket.close_code() == consumers.SILENT


async def test_a_ping_keeps_the_number_of_a_quiet_topic_current(
    world: worlds.World, open_socket: Opener, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Events that the viewer may not see move the number on, so that a resume does not start far back."""
    settings.TIME_SCALE = 0.01
    monkeypatch.setattr(consumers, "MOST_MISSED_PONGS", 10_000)
    socket = await open_socket(world.people["owner"])
    await socket.ask(type="subscribe", topic="user:me", after=None)

    await atell(world, "group.policy_changed", group_id=world.elsewhere.pk)

    frame = await socket.until("events")
    assert (frame["events"], frame["last"]) == ([], 8)


async def test_the_last_socket_stops_the_reader(world: worlds.World, open_socket: Opener) -> None:
    """Nothing polls for nobody."""
    socket = await open_socket(world.people["owner"])
    await socket.ask(type="subscribe", topic="cluster", after=None)

    await socket.disconnect()

    assert not log.reader()._tasks


async def test_frames_without_end_from_a_client_end_its_socket(
    world: worlds.World, open_socket: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each may cost a question to the database."""
    monkeypatch.setattr(consumers, "FRAMES_IN_A_SECOND", 0)
    monkeypatch.setattr(consumers, "MOST_FRAMES_IN", 3)
    socket = await open_socket(world.people["owner"])

    for _ in range(4):
        await socket.send(type="pong")

    assert await socket.close_code() == 4429


async def test_a_person_with_too_many_sockets_gets_no_further_one(
    world: worlds.World, open_socket: Opener, settings: Any
) -> None:
    """One that closes makes room."""
    settings.LIVE_PER_PERSON = 1
    first = await open_socket(world.people["owner"])
    await first.ask(type="subscribe", topic="cluster", after=None)

    refused = await open_socket(world.people["owner"])
    assert await refused.close_code() == 4429
    await first.disconnect()

    third = await open_socket(world.people["owner"])
    assert (await third.ask(type="subscribe", topic="cluster", after=None))["type"] == "events"


async def test_a_long_replay_comes_in_frames_of_at_most_8_kib(
    world: worlds.World, open_socket: Opener
) -> None:
    """Which join."""
    for _ in range(40):
        await atell(world)
    socket = await open_socket(world.people["owner"])

    await socket.send(type="subscribe", topic="cluster", after=0)
    first, second = await socket.receive(), await socket.receive()

    assert (first["prev"], first["last"]) == (0, second["prev"])
    assert [len(first["events"]) > 10, second["last"]] == [True, 47]


@pytest.mark.parametrize("act", ["_send", "close"])
async def test_a_client_that_has_gone_is_no_failure(act: str) -> None:
    """Servers say so by an OSError when something is sent to it, and tell of its disconnect soon."""
    sent: list[Any] = []

    async def gone(message: Any) -> None:
        sent.append(message)
        raise ConnectionResetError

    consumer = consumers.StreamConsumer()
    consumer.base_send = gone

    await getattr(consumer, act)(*([feeds.PING] if act == "_send" else [4408]))

    assert len(sent) == 1
