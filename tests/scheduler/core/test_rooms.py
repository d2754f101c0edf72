"""One node during a round."""

from __future__ import annotations

from scheduler.core import rooms
from tests import factories
from tests.factories import slots


def _room(**more):
    return rooms.Room(factories.a_node(**more))


def test_an_empty_node_has_all_of_its_capacity_and_its_places_free():
    assert _room(capacity=slots(cpu=4)).free == {"cpu": 4}
    assert _room(capacity=slots(cpu=4), max_sessions=2).free == {"cpu": 4, rooms.PLACES: 2}


def test_a_session_place_is_wanted_only_where_places_are_limited():
    assert _room().wants(slots(cpu=1)) == {"cpu": 1}
    assert _room(max_sessions=2).wants(slots(cpu=1)) == {"cpu": 1, rooms.PLACES: 1}


def test_a_kind_that_the_node_does_not_have_is_missing_in_full():
    assert _room().lacks({"tape": 2}) == {"tape": 2}
    assert not _room().fits({"tape": 1})


def test_what_is_promised_of_a_release_is_nobody_elses():
    room = _room()
    room.free["cpu"] = 0
    room.releasing["cpu"], room.promised["cpu"] = 3, 2

    assert (room.net_releasing("cpu"), room.short({"cpu": 2})) == (1, {"cpu": 1})
    room.promised["cpu"] = 5
    assert room.net_releasing("cpu") == 0


def test_kinds_without_indices_have_none_to_take():
    room = _room(capacity=slots(cpu=4, cuda_device=2))

    assert room.take_indices(slots(cpu=1, cuda_device=1)) == {"cuda.device": (0,)}
