"""How far all stops together would get on each node."""

from __future__ import annotations

import numpy as np

from scheduler.core.preemption import outlooks, tables

OUT = outlooks.Outlook


def _table(needs, gives, *, sizes, mosts=None, ids=None):
    """Return a table of nodes with so many candidates each; ``needs`` and ``gives`` by row."""
    count = len(gives)
    heads = tables.Heads(np.arange(len(needs)), np.arange(len(needs)), str, lambda: [], mosts)
    zeros = np.zeros(count, dtype=np.int64)
    own = np.arange(1, count + 1) if ids is None else np.array(ids)
    columns = tables.Columns(own, zeros, np.array(gives), zeros, zeros, zeros)
    return tables.Table(heads, np.array(needs), np.cumsum([0, *sizes]), columns)


def test_all_together_may_free_too_little_be_limited_or_be_enough():
    table = _table(
        [[4, 1], [4, 1], [4, 1]],
        [[2, 1], [1, 1], [2, 0], [2, 0], [3, 0], [1, 1]],
        sizes=[2, 2, 2],
    )

    assert outlooks.of_nodes(table, 1).tolist() == [OUT.TOO_LITTLE, OUT.LIMITED, OUT.ENOUGH]
    assert outlooks.of_nodes(table, 2).tolist() == [OUT.TOO_LITTLE, OUT.TOO_LITTLE, OUT.ENOUGH]


def test_where_fewer_may_be_stopped_those_that_give_most_count():
    table = _table([[4], [4], [4]], [[2], [2], [1], [3], [2], [4]], sizes=[2, 2, 2], mosts=[1, None, 1])

    assert outlooks.of_nodes(table, 1).tolist() == [OUT.LIMITED, OUT.ENOUGH, OUT.ENOUGH]


def test_of_a_session_on_several_nodes_the_best_is_said():
    table = _table(
        [
            [4],
            [4],
            [
                4,
            ],
        ],
        [[1], [1], [4], [1]],
        sizes=[1, 2, 1],
        ids=[1, 1, 2, 3],
    )

    found = outlooks.of_sessions(table, 1)

    assert found == {OUT.ENOUGH: {1, 2}, OUT.LIMITED: set(), OUT.TOO_LITTLE: {3}}


def test_amounts_beyond_64_bits_are_added_exactly():
    table = _table([[1 << 62]], [[(1 << 62) - 1], [1]], sizes=[2])

    assert outlooks.of_nodes(table, 1).tolist() == [OUT.ENOUGH]
