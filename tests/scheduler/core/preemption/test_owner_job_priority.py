"""No session goes where one of lower job priority would do."""

from __future__ import annotations

import pytest

from scheduler.core import entities
from scheduler.core.preemption import owner_job_priority
from tests.scheduler.core.preemption.problems_of import a_candidate, a_problem, a_target

ORDER = entities.PreemptionOrder


def _ids(*targets, order=ORDER.OLDEST):
    answer = owner_job_priority.select_victims(a_problem(*targets, order=order))
    return None if answer is None else answer.victim_ids


def test_the_lowest_ceiling_goes_before_the_fewest():
    target = a_target(2, [a_candidate(1, 1, value=0), a_candidate(2, 1, value=0), a_candidate(3, 2, value=5)])

    assert _ids(target) == (1, 2)


def test_the_node_with_the_lower_ceiling_wins_whatever_its_number():
    high = a_target(2, [a_candidate(1, 2, value=5)], node_id=1)
    low = a_target(2, [a_candidate(2, 1, value=1), a_candidate(3, 1, value=1)], node_id=2)

    assert _ids(high, low) == (2, 3)


@pytest.mark.parametrize(("order", "expected"), [(ORDER.OLDEST, (1,)), (ORDER.NEWEST, (2,))])
def test_within_a_job_priority_the_order_decides(order, expected):
    target = a_target(1, [a_candidate(1, 1, start=1), a_candidate(2, 1, start=2)])

    assert _ids(target, order=order) == expected


def test_what_is_not_needed_is_given_back_last_taken_first():
    candidates = [a_candidate(1, 1, value=0), a_candidate(2, 1, value=1), a_candidate(3, 3, value=2)]

    assert _ids(a_target(3, candidates)) == (3,)


def test_fewest_sessions_takes_the_one_that_is_enough_under_the_ceiling():
    target = a_target(4, [a_candidate(1, 1, value=0), a_candidate(2, 4, value=1)])

    assert _ids(target, order=ORDER.FEWEST_SESSIONS) == (2,)


def test_smallest_resources_compares_shares_under_the_ceiling():
    target = a_target(
        1, [a_candidate(1, 1, total=9), a_candidate(2, 1, total=3), a_candidate(3, 1, value=9, total=1)]
    )

    assert _ids(target, order=ORDER.SMALLEST_RESOURCES) == (2,)


def test_equal_nodes_are_told_apart_by_placement_before_the_name():
    first = a_target(1, [a_candidate(1, 1)], node_id=1, rank=1)
    second = a_target(1, [a_candidate(2, 1)], node_id=2, rank=0)

    assert _ids(first, second) == (2,)
    assert _ids(first, second, order=ORDER.FEWEST_SESSIONS) == (2,)


def test_without_a_sufficient_set_there_is_no_answer():
    assert _ids(a_target(3, [a_candidate(1, 1)])) is None


def test_a_node_where_too_many_would_be_suspended_is_passed_over():
    assert _ids(a_target(2, [a_candidate(1, 1), a_candidate(2, 1)], most=1)) is None


@pytest.mark.parametrize("order", list(ORDER))
def test_where_few_may_be_stopped_the_lowest_ceiling_is_that_of_few(order):
    candidates = [
        *(a_candidate(i, 1, value=0, total=1) for i in (1, 2, 3)),
        a_candidate(4, 2, value=1, total=2),
    ]
    candidates += [a_candidate(5, 3, value=2, total=3)]

    assert _ids(a_target(3, candidates, most=3), order=order) == (1, 2, 3)
    assert _ids(a_target(3, candidates, most=2), order=order) == (1, 4)
    assert _ids(a_target(3, candidates, most=1), order=order) == (5,)
    assert _ids(a_target(4, candidates, most=1), order=order) is None


@pytest.mark.parametrize("order", [ORDER.OLDEST, ORDER.NEWEST])
def test_where_the_order_stops_too_many_the_fewest_under_the_ceiling_are_taken(order):
    candidates = [*(a_candidate(i, 1, value=0) for i in (1, 2, 3)), a_candidate(4, 3, value=0, start=2)]

    assert _ids(a_target(3, candidates, most=2), order=order) == (4,)
