"""What decides between equally good sets."""

from __future__ import annotations

from scheduler.core import entities
from scheduler.core.preemption import orders
from tests.scheduler.core.preemption.problems_of import a_candidate

ORDER = entities.PreemptionOrder
PAIR = [a_candidate(5, 1, value=2, start=30), a_candidate(4, 1, value=1, start=10)]


def test_start_times_are_compared_oldest_first_and_newest_first_for_newest():
    assert orders.starts_key(ORDER.OLDEST, PAIR) == (10, 30)
    assert orders.starts_key(ORDER.FEWEST_SESSIONS, PAIR) == (10, 30)
    assert orders.starts_key(ORDER.NEWEST, PAIR) == (-30, -10)


def test_ids_are_compared_sorted():
    assert orders.ids_key(PAIR) == (4, 5)


def test_the_lowest_value_is_stopped_first():
    assert orders.stop_order(PAIR) == (4, 5)
    assert orders.stop_order([a_candidate(2, 1), a_candidate(1, 1)]) == (1, 2)
