"""Exact amounts by kind."""

from __future__ import annotations

import pytest

from scheduler.core import errors, resources
from tests.factories import slots


def test_zeros_are_left_out_so_that_equal_amounts_are_equal_values():
    assert slots(cpu=1, mem=0) == slots(cpu=1)
    assert hash(slots(cpu=1, mem=0)) == hash(slots(cpu=1))
    assert slots(cpu=1) != "cpu"
    assert not slots(mem=0)


@pytest.mark.parametrize("amount", [-1, 1.5, "1", True])
def test_anything_but_a_whole_amount_is_refused(amount):
    with pytest.raises(errors.BadAmount, match="cpu"):
        resources.ResourceVector({"cpu": amount})


def test_sums_and_differences_are_exact():
    assert slots(cpu=3, mem=1) == slots(cpu=1) + slots(cpu=2, mem=1)
    assert slots(mem=1) == slots(cpu=2, mem=1) - slots(cpu=2)
    with pytest.raises(errors.BadAmount):
        slots(cpu=1) - slots(cpu=2)


def test_covering_looks_at_every_kind_asked_for():
    assert slots(cpu=2, mem=1).covers(slots(cpu=2))
    assert not slots(cpu=2).covers(slots(cpu=1, mem=1))


def test_a_shortfall_is_what_is_missing_by_kind():
    assert slots(mem=2) == slots(cpu=1, mem=3).shortfall(slots(cpu=4, mem=1))
    assert slots(cpu=1) == slots(cpu=3).minus_clamped(slots(cpu=2, mem=9))
    assert slots(cpu=1) == slots(cpu=3, mem=2).minimum(slots(cpu=1))


def test_kinds_are_chosen_and_listed_in_order():
    both = slots(mem=2, cpu=1)

    assert both.kinds() == ("cpu", "mem")
    assert list(both) == [("cpu", 1), ("mem", 2)]
    assert both.as_dict() == {"cpu": 1, "mem": 2}
    assert slots(cpu=1) == both.only(frozenset({"cpu"}))
    assert slots(mem=2) == both.without(frozenset({"cpu"}))
    assert repr(both) == "ResourceVector({'cpu': 1, 'mem': 2})"
