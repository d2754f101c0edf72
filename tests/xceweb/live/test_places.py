"""Limits of live connections: per person, per address, given back."""

from __future__ import annotations

from typing import Any

import pytest

from xceweb.live import logins, places


def test_a_person_has_so_many_connections_and_no_more(settings: Any) -> None:
    """Another person is not concerned, and what is given back is free again."""
    settings.LIVE_PER_PERSON = 2
    held = [places.take(1, "192.0.2.1"), places.take(1, "192.0.2.2")]

    with pytest.raises(logins.Ended) as ended:
        places.take(1, "192.0.2.3")
    other = places.take(2, "192.0.2.1")
    held.pop().give_back()

    assert (ended.value.code, places.has_room(1, "192.0.2.3")) == (4429, True)
    for place in (*held, other):
        place.give_back()


def test_an_address_has_so_many_connections_whoever_comes_from_it(settings: Any) -> None:
    """Nobody holds the whole server with many names."""
    settings.LIVE_PER_ADDRESS = 2
    held = [places.take(person, "192.0.2.1") for person in (1, 2)]

    assert (places.has_room(3, "192.0.2.1"), places.has_room(3, "192.0.2.2")) == (False, True)
    for place in held:
        place.give_back()
    assert not places._people
    assert not places._addresses


def test_zero_means_any_number(settings: Any) -> None:
    """For an installation that limits elsewhere."""
    settings.LIVE_PER_PERSON = settings.LIVE_PER_ADDRESS = 0
    held = [places.take(1, "192.0.2.1") for _ in range(200)]

    assert places.has_room(1, "192.0.2.1")
    for place in held:
        place.give_back()
