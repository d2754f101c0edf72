"""Finding where a result turns: against trying every value."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from scheduler.core import units
from scheduler.core.counterfactuals import searches


@given(st.integers(0, 40), st.integers(-1, 45))
def test_the_largest_that_holds_is_the_one_that_a_scan_finds(high, limit):
    found = searches.largest(1, high, lambda value: value <= limit)

    assert found == max((value for value in range(1, high + 1) if value <= limit), default=None)


def test_the_largest_takes_few_trials():
    tried = []

    searches.largest(1, 1 << 30, lambda value: not tried.append(value) and value < 12_345)

    assert len(tried) <= 32


@given(st.data())
def test_the_least_range_is_the_one_that_a_scan_finds(data):
    turns = sorted(data.draw(st.sets(st.integers(0, 30), min_size=1, max_size=6)))
    ends = [*turns[1:], 40]
    starts = [data.draw(st.integers(low, high)) for low, high in zip(turns[:-1], ends, strict=False)]
    starts.append(data.draw(st.sampled_from((turns[-1], 99))))
    held = {v for low, start, high in zip(turns, starts, ends, strict=True) for v in range(start, high)}

    found = searches.least_range(turns, lambda value: value in held)

    assert (found.least if found else None) == min(held, default=None)
    if found is not None:
        behind = next((v for v in range(found.least, 40) if v not in held), None)
        assert found.most == (None if behind is None else behind - 1)


def test_turns_begin_right_above_the_own_value_and_end_at_the_most():
    assert searches.turns_above(5, {3, 5, 8, 20}, most=10) == [6, 8]
    assert searches.turns_above(5, {9}, most=5) == []


def test_the_first_stops_trying_once_it_holds():
    tried = []

    assert searches.first([1, 2, 3, 4], lambda value: tried.append(value) or value == 2) == 2
    assert tried == [1, 2]


def test_amounts_are_lowered_in_steps_that_people_read_exactly():
    step = searches.step_of

    assert [step("mem", n, units.BUILT_IN) for n in (5, 1 << 24, 1 << 30, 1 << 38)] == [
        1,
        1 << 20,
        1 << 29,
        1 << 30,
    ]
    assert [step("cpu", n, units.BUILT_IN) for n in (150, 200, 8000)] == [1, 100, 100]
    assert step("cuda.device", 4, units.BUILT_IN) == 1
