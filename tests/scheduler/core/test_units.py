"""Amounts as people type and read them."""

from __future__ import annotations

import pytest

from scheduler.core import errors, units

GIB = 1 << 30


@pytest.mark.parametrize(
    ("kind", "text", "expected"),
    [
        (units.CPU, "2", 2000),
        (units.CPU, "0.5", 500),
        (units.CPU, "500m", 500),
        (units.MEM, "4g", 4 * GIB),
        (units.MEM, "1.5GiB", 3 * GIB // 2),
        (units.MEM, " 512mb ", 512 << 20),
        (units.MEM, "7", 7),
        (units.CUDA_DEVICE, "3", 3),
    ],
)
def test_an_amount_is_read_exactly(kind, text, expected):
    assert expected == units.parse_amount(kind, text)


@pytest.mark.parametrize(
    ("kind", "text", "words"),
    [
        (units.MEM, "4x", "unknown unit"),
        (units.MEM, "-1", "not an amount"),
        (units.CPU, "", "not an amount"),
        (units.CPU, "0.0001", "finer"),
        (units.CUDA_DEVICE, "0.5", "finer"),
        (units.CUDA_DEVICE, "2m", "unknown unit"),
        (units.MEM, "99999999p", "too large"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_words_that_help(kind, text, words):
    with pytest.raises(errors.BadAmount, match=words):
        units.parse_amount(kind, text)


@pytest.mark.parametrize(
    ("kind", "number", "expected"),
    [
        (units.CPU, 2000, "2"),
        (units.CPU, 1500, "1.5"),
        (units.MEM, 4 * GIB, "4 GiB"),
        (units.MEM, 3 * GIB // 2, "1.5 GiB"),
        (units.MEM, 100, "100 B"),
        (units.MEM, 0, "0"),
        (units.SlotKind("odd", 3), 4, "4/3"),
    ],
)
def test_an_amount_is_written_as_people_read_it(kind, number, expected):
    assert expected == units.format_amount(kind, number)


@pytest.mark.parametrize("number", [0, 100, 512 << 10, 512 << 20, 3 * GIB // 2, 2 << 40])
def test_what_is_written_of_bytes_can_be_typed_again(number):
    assert number == units.parse_amount(units.MEM, units.format_amount(units.MEM, number))
