"""Exact shares of nodes."""

from __future__ import annotations

from fractions import Fraction

from scheduler.core.preemption import shares
from tests import factories
from tests.factories import slots

NODE = factories.a_node(1, capacity=slots(cpu=4, mem=3))


def test_a_share_is_the_sum_over_kinds_of_slots_by_capacity():
    assert shares.of_node(NODE, slots(cpu=1, mem=1)) == Fraction(7, 12)


def test_a_kind_without_capacity_is_skipped():
    assert shares.of_node(NODE, slots(cpu=2, tape=9)) == Fraction(1, 2)


def test_nodes_of_other_groups_are_skipped():
    assert shares.by_node({1: NODE}, [(1, slots(cpu=1)), (7, slots(cpu=1))]) == {1: Fraction(1, 4)}


def test_a_common_number_makes_every_share_whole():
    assert shares.common([Fraction(1, 4), Fraction(2, 3)]) == 12
    assert shares.common([]) == 1
