"""Numbers as people read them."""

import datetime

import pytest

from scheduler.core import resources, units
from xceweb.common import wording

SECOND = wording.MICROSECONDS
NOW = datetime.datetime(2030, 1, 2, 12, 0, tzinfo=datetime.UTC)


@pytest.mark.parametrize(
    ("microseconds", "expected"),
    [
        (0, "0 s"),
        (-5, "0 s"),
        (300, "under 1 ms"),
        (14_000, "14 ms"),
        (238_000, "0.24 s"),
        (5_238_000, "5.24 s"),
        (8 * SECOND, "8 s"),
        (59_999_999, "60.00 s"),
        (60 * SECOND, "1 min"),
        (570 * SECOND, "9 min 30 s"),
        (1664 * SECOND, "27 min"),
        (11_520 * SECOND, "3 h 12 min"),
        (7_200 * SECOND, "2 h"),
        (94_200 * SECOND, "1 d 02:10"),
    ],
)
def test_a_duration_is_finer_where_it_is_short(microseconds, expected):
    assert expected == wording.duration(microseconds)


@pytest.mark.parametrize("span", [90, 90.0, datetime.timedelta(seconds=90)])
def test_spans_of_every_type_become_microseconds(span):
    assert wording.as_microseconds(span) == 90 * SECOND


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [(0, "just now"), (-4, "just now"), (-8, "8 s ago"), (570, "in 9 min 30 s"), (-90_000, "1 d 01:00 ago")],
)
def test_a_distance_says_which_way_it_goes(seconds, expected):
    assert expected == wording.distance(NOW + datetime.timedelta(seconds=seconds), NOW)


def test_a_long_distance_counts_days():
    assert wording.distance(NOW - datetime.timedelta(days=3, hours=4), NOW) == "3 days ago"


@pytest.mark.parametrize(
    ("amount", "kind", "expected"),
    [
        (4, "cuda.device", "4 GPUs"),
        (1, "cuda.device", "1 GPU"),
        (500, "cpu", "0.5 cores"),
        (1000, "cpu", "1 core"),
        (256 << 30, "mem", "256 GiB"),
        (0, "mem", "0"),
        (300, "gpu_milli", "300 gpu_milli"),
        (1500, units.SlotKind("license", 1000, unit="seats"), "1.5 seats"),
    ],
)
def test_a_quantity_carries_what_is_counted(amount, kind, expected):
    assert expected == wording.quantity(amount, kind)


def test_slots_begin_with_devices_and_leave_zeros_out():
    amounts = {"mem": 64 << 30, "licence": 0, "cpu": 8000, "cuda.device": 2}

    assert wording.slots(amounts) == "2 GPUs, 8 cores, 64 GiB"
    assert wording.slots(amounts) == wording.slots(resources.ResourceVector(amounts))


@pytest.mark.parametrize("empty", [None, {}, {"cpu": 0}])
def test_no_slots_are_nothing(empty):
    assert wording.slots(empty) == "nothing"
