"""Each judge finds each fault that is planted, and finds nothing in a sound history."""

from __future__ import annotations

import pytest

from tests.history import checkers, lines

Call, Told, Started = lines.Call, lines.Told, lines.Started
SOUND_CALLS = (
    Call("submit", "a", lines.OK),
    Call("submit", "b", lines.FAILED),
    Call("submit", "c", lines.UNKNOWN),
    Call("submit", "d", lines.UNKNOWN),
    Call("cancel", "a", lines.OK),
)
SOUND_STORED = {"a": "terminated", "c": "pending"}
SOUND_EVENTS = (
    Told(1, "a", "session.submitted"),
    Told(2, "a", "session.scheduled", "pending", "scheduled"),
    Told(3, "a", "session.held"),
    Told(4, "c", "session.submitted"),
    Told(5, "a", "session.ended", "scheduled", "terminated"),
)


def test_a_sound_history_has_no_fault():
    assert checkers.conservation(SOUND_CALLS, SOUND_STORED) == []
    assert checkers.numbers(SOUND_EVENTS, last=5) == []
    assert checkers.chains(SOUND_EVENTS, SOUND_STORED) == []
    assert checkers.starts([Started("a", 1, 7), Started("a", 2, 8), Started("b", 1, 9)]) == []
    assert checkers.capacity([("n", "a", 3), ("n", "b", 1), ("n", "a", -3)], limits={"n": 4}) == []
    assert checkers.rest(SOUND_STORED, resting=frozenset({"pending", "terminated"})) == []


@pytest.mark.parametrize(
    ("stored", "fault"),
    [
        ({"c": "pending"}, "a was accepted and is not there"),
        ({"a": "running", "b": "pending"}, "b was refused and is there"),
        ({"a": "running", "x": "pending"}, "x is there and nobody submitted it"),
    ],
)
def test_a_session_that_is_lost_or_made_up_is_found(stored, fault):
    assert checkers.conservation(SOUND_CALLS, stored) == [fault]


def test_a_session_that_does_not_rest_is_found():
    found = checkers.rest({"a": "terminated", "b": "stopping"}, resting=frozenset({"terminated"}))

    assert found == ["b is stopping still"]


@pytest.mark.parametrize(
    ("events", "last", "fault"),
    [
        (SOUND_EVENTS[1:], 5, "event 1 is missing"),
        (SOUND_EVENTS, 6, "event 6 is missing"),
        ((*SOUND_EVENTS, SOUND_EVENTS[0]), 5, "event 1 is there 2 times"),
        (SOUND_EVENTS, 4, "event 5 is beyond the counter, which is at 4"),
    ],
)
def test_an_event_that_is_missing_or_doubled_is_found(events, last, fault):
    assert checkers.numbers(events, last=last) == [fault]


@pytest.mark.parametrize(
    ("event", "stored", "fault"),
    [
        (Told(6, "a", "session.submitted"), {}, "a was submitted 2 times"),
        (
            Told(6, "a", "session.ended", "running", "terminated"),
            {},
            "a: event 6 leaves running, and it was terminated",
        ),
        (
            Told(6, "c", "session.x", "pending", "running"),
            {"c": "running"},
            "c: event 6 goes from pending to running",
        ),
        (Told(6, "c", "session.held"), {"c": "running"}, "c is running, and its events end with pending"),
        (Told(6, "c", "session.held"), {"z": "pending"}, "z is pending, and its events end with nothing"),
    ],
)
def test_a_way_that_the_table_does_not_have_is_found(event, stored, fault):
    assert fault in checkers.chains((*SOUND_EVENTS, event), stored)


def test_an_attempt_that_ran_twice_is_found():
    found = checkers.starts([Started("a", 1, 7), Started("a", 1, 8), Started("a", 2, 9)])

    assert found == ["attempt 1 of a was started 2 times"]


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ([("n", "a", 3), ("n", "b", 2)], "change 2: n holds 5 of 4 after b"),
        ([("n", "a", 3), ("n", "a", -3), ("n", "a", -3)], "change 3: n holds -3 of 4 after a"),
    ],
)
def test_a_node_that_holds_too_much_or_gives_back_twice_is_found(changes, fault):
    assert checkers.capacity(changes, limits={"n": 4}) == [fault]


@pytest.mark.parametrize(
    ("got", "fault"),
    [
        ([2, 5, 9], ""),
        ([2, 9], "1 missing, the first 5"),
        ([2, 5, 5, 9], "1 told more than once, the first 5"),
        ([2, 9, 5], "1 out of order, the first 5"),
        ([2, 3, 5, 9], "1 not to be seen, the first 3"),
    ],
)
def test_a_reader_gets_what_it_may_see_once_and_in_order(got, fault):
    assert checkers.delivery(got, [2, 5, 9]) == ([fault] if fault else [])
