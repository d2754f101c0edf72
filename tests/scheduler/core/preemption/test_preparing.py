"""Who can be in a set at all, and in which order sets are tried."""

from __future__ import annotations

import numpy as np

from scheduler.core.preemption import bounds, preparing, tables
from tests.scheduler.core.preemption.problems_of import a_candidate, a_target


def _prepared(target, count, *, cap=None, make=preparing.by_cover):
    table = tables.of((target,))
    (field,) = bounds.fields(table)
    terms = preparing.Terms(table.columns.value, table.columns.start, np.zeros(1, dtype=np.int64))
    is_usable = preparing.usable(field, bounds.usable(field, count), terms, count, cap)
    ready = make(field, is_usable, terms, count)
    return [] if ready is None else table.columns.ids[ready.rows[0, : int(ready.items.sizes[0])]].tolist()


def test_those_that_cover_most_come_first_and_equal_ones_side_by_side():
    gives = [(1, 3), (3, 2), (1, 3), (3, 2), (1, 2)]
    target = a_target((6, 6), [a_candidate(i, given) for i, given in enumerate(gives)])

    assert _prepared(target, 4) == [1, 3, 0, 2, 4]


def test_those_that_start_first_come_first():
    target = a_target(3, [a_candidate(i, 1, start=10 - i) for i in range(4)])

    assert _prepared(target, 3, make=preparing.by_start) == [3, 2, 1, 0]


def test_who_no_set_of_the_size_can_use_is_left_out():
    target = a_target(5, [a_candidate(1, 4), a_candidate(2, 1), a_candidate(3, 3), a_candidate(4, 0)])

    assert _prepared(target, 2) == [1, 3, 2]
    assert _prepared(target, 1) == []


def test_who_no_set_within_the_cap_can_use_is_left_out():
    target = a_target(2, [a_candidate(1, 1, value=1), a_candidate(2, 1, value=2), a_candidate(3, 1, value=9)])

    assert _prepared(target, 2, cap=9) == [1, 2]
    assert _prepared(target, 2, cap=2) == []


def test_who_has_as_many_dominators_as_the_size_is_left_out(monkeypatch):
    monkeypatch.setattr(preparing, "_FEW", 0)
    gives = [(3, 3)] * 2 + [(2, 3), (3, 2), (2, 2), (1, 1), (3, 3)]
    candidates = [a_candidate(i, given, value=i) for i, given in enumerate(gives)]

    assert _prepared(a_target((3, 3), candidates), 2) == [0, 1]
    assert sorted(_prepared(a_target((8, 8), candidates), 3)) == [0, 1, 2, 3, 6]


def test_of_equal_start_times_the_rows_decide_and_each_time_has_its_quota():
    target = a_target(3, [a_candidate(i, 1, start=i // 2) for i in range(6)])
    table = tables.of((target,))
    (field,) = bounds.fields(table)
    terms = preparing.Terms(table.columns.value, table.columns.start, np.zeros(1, dtype=np.int64))
    ready = preparing.by_start(field, bounds.usable(field, 3), terms, 3)

    twins = preparing.of_starts(ready, terms, [0, 0, 1])

    assert twins.rows.tolist() == [[0, 1, 2, 3]]
    assert (twins.items.group.tolist(), twins.items.quota.tolist()) == ([[0, 0, 1, 1]], [2, 1])


def test_large_numbers_are_sorted_by_their_rank():
    large = np.array([[1 << 80, 3, 1 << 70]], dtype=object)

    assert preparing.sortable(large).tolist() == [[2, 0, 1]]
    assert preparing.sortable(np.array([4, 2])).tolist() == [4, 2]


def test_many_nodes_are_searched_in_turns(monkeypatch):
    monkeypatch.setattr(preparing, "CELLS", 24)
    targets = [a_target(1, [a_candidate(i, 1) for i in range(3)], node_id=node_id) for node_id in range(1, 6)]
    (field,) = bounds.fields(tables.of(targets))

    assert list(preparing.batches(field, 1)) == [slice(0, 2), slice(2, 4), slice(4, 6)]
