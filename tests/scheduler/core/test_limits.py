"""What owners and queues may still take."""

from __future__ import annotations

from scheduler.core import entities, limits
from tests.factories import slots


def _account(**more):
    usage = entities.Usage(used=slots(cpu=3), sessions=2, max_slots={"cpu": 4}, max_sessions=2, **more)
    return limits.Account(usage)


def test_a_request_is_short_by_what_the_limit_does_not_leave():
    assert _account().short({"cpu": 2, "mem": 9, "sessions": 1}) == {"cpu": 1, "sessions": 1}
    assert _account().short({"cpu": 1}) == {}


def test_what_is_leaving_counts_only_when_asked_for():
    account = _account()
    account.leaving.update({"cpu": 1, "sessions": 1})

    assert account.short({"cpu": 2, "sessions": 1}, with_leaving=True) == {}
    assert account.short({"cpu": 2, "sessions": 1}) == {"cpu": 1, "sessions": 1}


def test_a_request_above_the_limit_itself_can_never_start():
    assert _account().beyond({"cpu": 6, "sessions": 1}) == {"cpu": 2}
    assert _account().beyond({"cpu": 4, "sessions": 2}) == {}


def test_a_kind_that_is_not_wanted_is_never_short():
    over = limits.Account(entities.Usage(used=slots(cpu=9), max_slots={"cpu": 4}))

    assert over.short({"cpu": 0, "mem": 1}) == {}


def test_a_start_takes_its_slots_on_every_node_and_one_session():
    assert limits.wanted(slots(cpu=2), times=3) == {"cpu": 6, "sessions": 1}


def test_a_reservation_counts_net_of_victims_still_held():
    held = [slots(cpu=1), slots(cpu=2)]

    assert limits.counted(slots(cpu=4), [], sessions=0) == (slots(cpu=4), 1)
    assert limits.counted(slots(cpu=4), held, sessions=2) == (slots(cpu=1), 0)
    assert limits.counted(slots(cpu=4), [slots(cpu=9, mem=1)], sessions=0) == (slots(), 1)
