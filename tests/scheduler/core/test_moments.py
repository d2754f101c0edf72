"""Moments as text, against the standard library's calendar."""

from __future__ import annotations

import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler.core import moments

EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)


@given(st.datetimes(timezones=st.just(datetime.UTC)))
def test_every_moment_is_written_as_the_calendar_has_it(moment):
    moment = moment.replace(microsecond=0)

    text = moments.utc((moment - EPOCH) // datetime.timedelta(microseconds=1))

    assert text == f"{moment:%Y-%m-%d %H:%M:%S} UTC".zfill(23)


@pytest.mark.parametrize(
    ("days", "expected"),
    [(0, (1970, 1, 1)), (-1, (1969, 12, 31)), (11_016, (2000, 2, 29)), (11_017, (2000, 3, 1))],
)
def test_days_become_dates_over_leap_years(days, expected):
    assert expected == moments.date(days)
