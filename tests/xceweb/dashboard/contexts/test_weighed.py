"""Whether preemption would help a waiting session: as recorded, weighed again, or never."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from scheduler import models
from scheduler.selectors import counterfactuals
from tests import model_factories, worlds
from xceweb.dashboard.contexts import session_seen, weighed

ClientOf = Callable[[str], Client]


def load(world: worlds.World, who: str = "owner") -> dict[str, Any]:
    """Return the section of the world's waiting session."""
    row = models.PendReason.objects.get(session=world.waiting)
    shown = weighed.load(session_seen.look(world.people[who], world.waiting), row, {})
    assert shown is not None
    return shown


def a_crowd(world: worlds.World) -> models.Session:
    """Let one session hold every GPU and ask for them with another one, neither ranked higher."""
    values = {"owner": world.people["owner"], "queue": world.queues["normal"], "group": world.group}
    model_factories.a_session(state="running", slots={"cuda.device": 4}, **values)
    models.Session.objects.filter(pk=world.waiting.pk).update(slots={"cuda.device": 2})
    world.waiting.refresh_from_db()
    return world.waiting


def test_verdicts_that_no_round_kept_are_asked_for_and_found(
    world: worlds.World, client_of: ClientOf
) -> None:
    """The page says nothing about candidates until it knows."""
    session = a_crowd(world)
    models.PendReason.objects.filter(session=session).update(candidates=[])

    address = f"/sessions/{session.public_id}/"
    page = client_of("owner").get(address).content.decode()
    part = client_of("owner").get(address, {"part": "weighed"}).content.decode()

    assert load(world)["is_open"] is True
    assert f'hx-get="{address}?part=weighed"' in page
    assert "was a candidate" not in page
    assert "sessions were weighed" in part
    assert "not lower" in part


def test_weighed_again_nobody_is_shown_whom_the_viewer_may_not_see(world: worlds.World) -> None:
    """Nor counted."""
    session = a_crowd(world)
    hidden = {"owner": world.people["submitter"], "queue": world.queues["normal"], "group": world.group}
    model_factories.a_session(state="running", is_private=True, slots={"mem": 1}, **hidden)

    own = weighed.again(session_seen.look(world.people["owner"], session))
    every = weighed.again(session_seen.look(world.people["administrator"], session))

    assert len(every["candidates"]) == len(own["candidates"]) + 1


def test_where_there_is_room_meanwhile_that_is_said(world: worlds.World) -> None:
    """Nobody has to be weighed."""
    models.Session.objects.filter(pk=world.waiting.pk).update(slots={"cuda.device": 1})
    world.waiting.refresh_from_db()

    found = weighed.again(session_seen.look(world.people["owner"], world.waiting))

    assert found["sentence"] == "The next round starts it, or makes room."


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"node_count": 2}, "for a session on several nodes"),
        ({"is_private": True}, "for a private or system session"),
    ],
)
def test_for_some_nobody_is_ever_stopped(world: worlds.World, fields: dict[str, Any], said: str) -> None:
    """Whoever could be a candidate."""
    models.Session.objects.filter(pk=world.waiting.pk).update(**fields)
    world.waiting.refresh_from_db()

    assert said in load(world)["sentence"]
    assert said in weighed.again(session_seen.look(world.people["owner"], world.waiting))["sentence"]


def test_a_failure_is_said_and_the_page_stands(world: worlds.World, monkeypatch: pytest.MonkeyPatch) -> None:
    """An explanation breaks nothing."""
    monkeypatch.setattr(counterfactuals.snapshots, "load_snapshot", lambda group: 1 / 0)

    found = weighed.again(session_seen.look(world.people["owner"], world.waiting))

    assert found["sentence"] == "Could not be computed."


def test_a_session_that_does_not_wait_has_nothing_to_weigh(world: worlds.World, client_of: ClientOf) -> None:
    """No such part."""
    answer = client_of("owner").get(f"/sessions/{world.running.public_id}/", {"part": "weighed"})

    assert answer.status_code == 404
