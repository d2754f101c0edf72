"""The feed over HTTP."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client

from tests import worlds
from xceweb.live import frames

ClientOf = Callable[[str], Client]


def test_the_feed_goes_on_after_a_number(world: worlds.World, client_of: ClientOf) -> None:
    """Bounds and events are those of the socket's batches."""
    found = client_of("owner").get("/events?after=5").json()

    assert (found["prev"], found["last"]) == (5, 7)
    assert [event["number"] for event in found["events"]] == [6, 7]
    assert found["events"][0]["link"] == f"/sessions/{world.victim.public_id}/"


def test_a_page_of_the_feed_says_how_far_it_reaches(
    world: worlds.World, client_of: ClientOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever sees nothing of it still gets on."""
    monkeypatch.setattr(frames, "MOST", 3)

    found = client_of("outsider").get("/events?after=0").json()

    assert (found["events"], found["last"]) == ([], 3)


@pytest.mark.parametrize("text", ["-1", "x", "1.5", "9" * 30])
def test_a_number_that_is_none_is_refused(world: worlds.World, client_of: ClientOf, text: str) -> None:
    """In words."""
    answer = client_of("owner").get(f"/events?after={text}", headers={"accept": "application/json"})

    assert (answer.status_code, answer.json()["code"]) == (400, "refused")
