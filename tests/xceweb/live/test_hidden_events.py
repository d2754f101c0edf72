"""No frame of the stream tells what is not for its reader, whatever they subscribe to (DESIGN 9, P06)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from channels.db import database_sync_to_async

from tests import canaries, worlds
from tests.xceweb.live.conftest import Opener

pytestmark = pytest.mark.django_db(transaction=True)
MARK = "quokka"


async def test_p06_no_frame_tells_what_is_not_for_its_reader(
    world: worlds.World, open_socket: Opener
) -> None:
    """The replay of everything, by every topic: with a summary states alone, of a private session nothing."""
    planted = await database_sync_to_async(canaries.plant)(world, MARK)
    named = (*planted.sessions, planted.private)
    topics = ["cluster", "group:gpu", "user:me", "decisions", *(f"session:{one.public_id}" for one in named)]

    heard = {
        person: [await _replay(await open_socket(world.people[person]), topic) for topic in topics]
        for person in ("submitter", "outsider", "operator")
    }

    texts = {person: json.dumps(frames) for person, frames in heard.items()}
    assert str(planted.sessions[0].public_id) in texts["submitter"]
    assert [person for person in ("submitter", "outsider") if MARK in texts[person]] == []
    assert [person for person, text in texts.items() if str(planted.private.public_id) in text] == []
    assert planted.hidden not in texts["operator"]
    assert f"{MARK}-running" in texts["operator"]


async def _replay(socket: Any, topic: str) -> Any:
    """Return what a subscription from the beginning is answered, without the name of the topic that was asked for."""
    frame = await socket.ask(type="subscribe", topic=topic, after=0)
    return {name: value for name, value in frame.items() if name != "topic"}
