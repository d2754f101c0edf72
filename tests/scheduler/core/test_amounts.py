"""Amounts in sentences."""

from __future__ import annotations

import pytest

from scheduler.core import amounts, rooms, units

GIB = 1 << 30


@pytest.mark.parametrize(
    ("kind", "number", "expected"),
    [
        ("cuda.device", 4, "4 GPUs"),
        ("cuda.device", 1, "1 GPU"),
        ("cpu", 500, "0.5 cores"),
        ("cpu", 1000, "1 core"),
        ("mem", 16 * GIB, "16 GiB"),
        ("sessions", 1, "1 session"),
        ("sessions", 0, "0 sessions"),
        ("licence", 3, "3 licence"),
        (rooms.PLACES, 1, "1 session place"),
        (rooms.PLACES, 2, "2 session places"),
    ],
)
def test_an_amount_has_its_unit(kind, number, expected):
    assert expected == amounts.one(kind, number)


def test_a_declared_kind_without_a_unit_is_called_by_its_name():
    disk = units.SlotKind("disk", 1, is_bytes=True)
    tape = units.SlotKind("tape", 10)

    assert amounts.one("disk", 2 * GIB, kinds={"disk": disk}) == "2 GiB of disk"
    assert amounts.one("tape", 5, kinds={"tape": tape}) == "0.5 tape"


def test_several_amounts_are_a_list_devices_first():
    assert amounts.listed({"cpu": 0}) == "nothing"
    assert amounts.listed({"cpu": 2000}) == "2 cores"
    assert amounts.listed({"mem": GIB, "cpu": 2000, "cuda.device": 1}) == "1 GPU, 2 cores and 1 GiB"


@pytest.mark.parametrize(
    ("kind", "number", "expected"),
    [
        ("cpu", 8000, "fewer than 8 cores"),
        ("cuda.device", 4, "fewer than 4 GPUs"),
        ("licence", 3, "fewer than 3 licence"),
        ("cpu", 1000, "less than 1 core"),
        ("cpu", 2500, "less than 2.5 cores"),
        ("mem", 16 * GIB, "less than 16 GiB"),
    ],
)
def test_what_can_be_counted_is_fewer_and_what_is_measured_is_less(kind, number, expected):
    assert expected == amounts.below(kind, number)


def test_a_bare_amount_has_no_unit():
    assert amounts.bare("cpu", 500) == "0.5"
    assert amounts.bare("licence", 7) == "7"
