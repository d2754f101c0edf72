"""The one setter of priorities (P09)."""

from __future__ import annotations

import pytest

from scheduler import errors, models
from scheduler.services import priorities

POLICY = models.KeypairResourcePolicy(name="small", max_priority=40, default_priority=30)


def _queue(**fields):
    return models.Queue(slug="q", **fields)


@pytest.mark.parametrize(("limit", "expected"), [(100, 40), (20, 20)])
def test_p09_the_cap_is_the_lower_of_policy_and_queue(limit, expected):
    assert priorities.cap(POLICY, _queue(max_priority=limit)) == expected
    assert priorities.cap(None, _queue(max_priority=limit)) == limit


@pytest.mark.parametrize("wanted", [-1, 101, 2**31, "9", 9.5, True, [], float("nan")])
def test_p09_what_is_no_whole_number_from_0_to_100_is_refused(wanted):
    with pytest.raises(errors.Refusal) as caught:
        priorities.priority_for(POLICY, _queue(), wanted)

    assert "priority" in caught.value.fields


def test_p09_above_the_cap_the_queue_is_named_where_it_is_the_queues():
    with pytest.raises(errors.Refusal, match="21 is above 20, the cap of queue q"):
        priorities.priority_for(POLICY, _queue(max_priority=20), 21)


@pytest.mark.parametrize(
    ("default", "limit", "expected"), [(None, 100, 30), (None, 20, 20), (7, 100, 7), (90, 90, 40)]
)
def test_p09_an_omitted_priority_is_the_queues_or_the_policys_clamped(default, limit, expected):
    queue = _queue(default_priority=default, max_priority=limit)

    assert priorities.priority_for(POLICY, queue, None) == expected


@pytest.mark.parametrize("value", [-(2**31), 0, 2**31 - 1])
def test_job_priority_has_32_bits_and_no_cap(value):
    assert priorities.job_priority_for(value) == value


@pytest.mark.parametrize("value", [2**31, -(2**31) - 1, "1", True])
def test_job_priority_is_a_whole_number(value):
    with pytest.raises(errors.Refusal):
        priorities.job_priority_for(value)


def test_an_opt_out_is_a_boolean_that_the_policy_allows():
    strict = models.KeypairResourcePolicy(name="strict", may_opt_out=False)

    assert priorities.check_opt_out(strict, True) is True
    assert priorities.check_opt_out(POLICY, False) is False
    with pytest.raises(errors.Refusal, match="strict does not let sessions opt out"):
        priorities.check_opt_out(strict, False)
    with pytest.raises(errors.Refusal, match="true or false"):
        priorities.check_opt_out(POLICY, 1)
