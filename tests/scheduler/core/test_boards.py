"""The rooms of all nodes as rows follow the ledger and agree with each room."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from scheduler.core import context, resources
from tests import factories, strategies
from tests.factories import slots


def _board(*sessions, **more):
    return context.Context(factories.a_snapshot(sessions, **more)).board()


@settings(max_examples=100, deadline=None)
@given(strategies.snapshots())
def test_every_request_fits_and_is_short_as_each_room_says(view):
    ctx = context.Context(view)
    board, own = ctx.board(), [ctx.ledger.rooms[node.id] for node in ctx.nodes]
    for session in view.sessions:
        request = session.request
        if any(not any(node.capacity.get(kind) for node in ctx.nodes) for kind in request.kinds()):
            assert not board.holding(request).any()
            continue
        assert board.fitting(request).tolist() == [room.fits(room.wants(request)) for room in own]
        short = board.short(request, list(range(len(own))))
        for row, room in zip(short.tolist(), own, strict=True):
            missing = {kind: amount for kind, amount in zip(board.kinds, row, strict=True) if amount}
            assert missing == room.short(room.wants(request))


def test_a_board_follows_what_the_round_takes_and_rolls_back():
    ctx = context.Context(factories.a_snapshot([], nodes=[factories.a_node(1), factories.a_node(2)]))
    mark = ctx.ledger.savepoint()

    before = ctx.board().states()
    ctx.ledger.take(2, slots(cpu=3), {})

    assert ctx.board().fitting(slots(cpu=2)).tolist() == [True, False]
    assert before[1][0] == {"cpu": 4}
    ctx.ledger.rollback(mark)
    assert ctx.board().fitting(slots(cpu=2)).tolist() == [True, True]


@pytest.mark.parametrize("large", [1 << 62, 1 << 70])
def test_amounts_of_any_size_are_compared_exactly(large):
    board = _board(nodes=[factories.a_node(1, capacity=slots(mem=large))])

    assert board.fitting(slots(mem=large)).tolist() == [True]
    assert board.fitting(slots(mem=large + 1)).tolist() == [False]
    assert board.short(slots(mem=large + 5), [0]).tolist() == [[0, 5]]


def test_a_request_beyond_what_64_bits_hold_fits_nowhere():
    board = _board(nodes=[factories.a_node(1)])

    assert not board.holding(resources.ResourceVector({"cpu": 1 << 80})).any()
    assert board.columns(["cpu", "unknown"]) == [1]


def test_the_free_share_is_summed_over_kinds():
    board = _board(
        factories.a_running(1, slots(cpu=3)), nodes=[factories.a_node(1, capacity=slots(cpu=4, mem=2))]
    )

    assert board.free_share(1) == (1 << 30) + (1 << 32)
    assert board.free_share(1) == (1 << 30) + (1 << 32)


def test_what_is_not_asked_may_be_less_than_nothing():
    ctx = context.Context(factories.a_snapshot([], nodes=[factories.a_node(1, capacity=slots(cpu=1, mem=1))]))
    ctx.ledger.take(1, slots(mem=2), {})

    assert ctx.board().fitting(slots(cpu=1)).tolist() == [True]
