"""Acting on several sessions of the list at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django import urls
from django.test import Client

from scheduler import models
from scheduler.services import many
from tests import model_factories, worlds

ClientOf = Callable[[str], Client]


def post(client: Client, action: str, *rows: models.Session, **fields: Any) -> str:
    """Send the ticked rows, and return the page that follows."""
    address = urls.reverse("dashboard:session-bulk", args=[action])
    answer = client.post(address, {"id": [row.public_id for row in rows], **fields}, follow=True)
    assert answer.status_code == 200
    return answer.content.decode()


def test_the_question_names_action_and_number_and_does_nothing(
    world: worlds.World, client_of: ClientOf
) -> None:
    """The way back has the filters of the list."""
    text = post(client_of("owner"), "cancel", world.waiting, world.victim, back="state=alive&page=2")

    assert "Cancel 2 sessions?" in text
    assert 'href="/sessions/?state=alive&amp;page=2"' in text
    assert not models.Session.objects.filter(result="cancelled").exists()


def test_each_row_has_its_outcome(world: worlds.World, client_of: ClientOf) -> None:
    """What was done, and why the other was refused."""
    text = post(client_of("owner"), "hold", world.waiting, world.running, confirmed="yes")

    assert "1 of 2 sessions is held" in text
    assert "A session that is running cannot be held." in text
    assert set(models.Session.objects.filter(is_held=True)) == {world.waiting}


def test_others_sessions_are_left_out_of_the_question(world: worlds.World, client_of: ClientOf) -> None:
    """And refused, should they be sent all the same; what is not visible is not there."""
    mine = model_factories.a_session(
        owner=world.people["viewer"], queue=world.queues["normal"], group=world.group, name="mine"
    )
    client = client_of("viewer")

    asked = post(client, "hold", mine, world.waiting)
    done = post(client, "hold", mine, world.waiting, confirmed="yes")

    assert "Hold 1 session?" in asked
    assert "1 of the ticked is left out" in asked
    assert str(world.waiting.public_id) not in asked
    assert "late-work" not in done
    assert set(models.Session.objects.filter(is_held=True)) == {mine}
    assert "tick the sessions first" in post(client_of("outsider"), "hold", world.waiting)


def test_all_that_match_are_those_of_the_filters(world: worlds.World, client_of: ClientOf) -> None:
    """Whatever is ticked besides."""
    text = post(client_of("owner"), "cancel", world.running, everything="yes", back="state=pending")

    assert "Cancel 1 session?" in text
    assert "late-work" in text
    assert "high-work" not in text


def test_too_many_and_none_are_told_on_the_list(
    world: worlds.World, client_of: ClientOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is done then."""
    monkeypatch.setattr(many, "MOST", 1)
    client = client_of("owner")

    assert "more than 1 sessions at once" in post(client, "hold", everything="yes", confirmed="yes")
    assert "tick the sessions first" in post(client, "hold")
    assert not models.Session.objects.filter(is_held=True).exists()
    assert client.post(urls.reverse("dashboard:session-bulk", args=["explode"])).status_code == 404
