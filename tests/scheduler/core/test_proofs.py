"""The numbers of a proof, counted one by one."""

from __future__ import annotations

import itertools

from scheduler.core import proofs


def test_smaller_sets_are_counted_as_they_can_be_listed():
    listed = [one for size in (1, 2) for one in itertools.combinations(range(5), size)]

    assert proofs.smaller_sets(5, 3) == len(listed)
    assert [proofs.smaller_sets(5, count) for count in (0, 1)] == [0, 0]
    assert proofs.smaller_sets(2, 9) == 3


def test_what_a_bound_rules_out_is_not_counted_as_searched():
    nodes = [(5, 1, 2), (4, 2, 1), (3, 1 << 31, 1)]

    assert proofs.ruled_out(nodes, 3) == (0 + 0 + 4 + 6, 15 + 15 + 6)
    assert proofs.ruled_out(nodes, 1) == (0, 0)
