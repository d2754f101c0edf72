"""Whoever loses a log-in or a role loses the socket's part of it at once, long before the timer."""

from __future__ import annotations

from typing import Any

import pytest
from channels.db import database_sync_to_async
from django.contrib.auth.models import Group as Team
from django.test import Client

from scheduler import models
from scheduler.services import actors, bells, people
from tests import worlds
from tests.xceweb.live.conftest import Opener


@pytest.fixture(autouse=True)
def _rung_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the timer never look."""
    monkeypatch.setattr("xceweb.live.feeds.RECHECK_S", 100_000)


@pytest.mark.parametrize("how", ["logout", "deactivated", "password"])
async def test_a_log_in_that_ends_closes_the_socket_at_once(
    world: worlds.World, open_socket: Opener, how: str
) -> None:
    """By the page, or by whatever saves the person."""
    owner, client = world.people["owner"], Client()
    await database_sync_to_async(client.force_login)(owner)
    socket = await open_socket(client)

    await database_sync_to_async(_end)(how, owner, client)

    assert {"deactivated": 4403}.get(how, 4401) == await socket.close_code()


def _end(how: str, user: models.User, client: Client) -> None:
    if how == "logout":
        client.post("/accounts/logout/")
        return
    if how == "deactivated":
        user.is_active = False
    else:
        user.set_password("another long one")
    user.save()


@pytest.mark.parametrize("how", ["role", "team role", "left team", "emptied team"])
async def test_a_role_that_ends_closes_its_topics_at_once(
    world: worlds.World, open_socket: Opener, how: str
) -> None:
    """A role of one's own, a team's, or the membership in it."""
    person = world.people["outsider" if "team" in how else "viewer"]
    team = await database_sync_to_async(_team)(world, person)
    if how == "role":
        await database_sync_to_async(team.delete)()
    socket = await open_socket(person)
    await socket.ask(type="subscribe", topic="group:gpu", after=None)

    await database_sync_to_async(_take_away)(how, person, team)

    assert (await socket.until("error"))["code"] == "not-found"


def _team(world: worlds.World, person: models.User) -> Team:
    team = Team.objects.create(name="night")
    person.groups.add(team)
    people.set_role(actors.SYSTEM, world.group, "viewer", team=team)
    return team


def _take_away(how: str, person: models.User, team: Team) -> None:
    if how == "left team":
        person.groups.remove(team)
    elif how == "emptied team":
        team.user_set.clear()
    else:
        models.GroupRole.objects.filter(**({"team": team} if "team" in how else {"user": person})).delete()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("fields", "rung"), [(["last_login"], 0), (["theme"], 0), (["is_active"], 1), (None, 1)]
)
def test_only_what_decides_rings(
    monkeypatch: pytest.MonkeyPatch, fields: list[str] | None, rung: int
) -> None:
    """A log-in saves its time, too, and rings nobody."""
    user = models.User.objects.create_user("ringer", password="x")
    rings: list[Any] = []
    monkeypatch.setattr(bells, "ring_rights", rings.append)

    user.save(update_fields=fields)

    assert len(rings) == rung
