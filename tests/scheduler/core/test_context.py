"""A round's working state."""

from __future__ import annotations

from scheduler.core import context, entities
from tests import factories


def test_everybody_who_ever_took_from_a_session_stands_above_it():
    edges = (entities.Edge(1, 2), entities.Edge(2, 3), entities.Edge(9, 8))
    ctx = context.Context(factories.a_snapshot(edges=edges))

    assert ctx.above(3) == {1, 2}
    assert ctx.above(1) == frozenset()
    ctx.add_edge(3, 1)
    assert ctx.above(3) == {1, 2, 3}


def test_what_was_found_is_kept_until_the_ledger_changes():
    ctx = context.Context(factories.a_snapshot())
    calls = []

    def make():
        calls.append(1)
        return len(calls)

    assert [ctx.while_unchanged("k", make), ctx.while_unchanged("k", make), ctx.all_round("k", make)] == [
        1,
        1,
        2,
    ]
    ctx.ledger.take(1, factories.slots(cpu=1), {})
    assert [ctx.while_unchanged("k", make), ctx.all_round("k", make)] == [3, 2]


def test_what_was_found_on_a_node_is_kept_until_that_node_changes():
    ctx = context.Context(factories.a_snapshot(nodes=[factories.a_node(1), factories.a_node(2)]))
    first, second = ctx.ledger.rooms[1], ctx.ledger.rooms[2]
    free = [
        ctx.while_room_unchanged(room, "k", lambda room=room: dict(room.free)) for room in (first, second)
    ]

    mark = ctx.ledger.savepoint()
    ctx.ledger.take(1, factories.slots(cpu=1), {})

    assert ctx.while_room_unchanged(first, "k", lambda: dict(first.free)) == {"cpu": 3}
    assert ctx.while_room_unchanged(second, "k", dict) is free[1]
    ctx.ledger.rollback(mark)
    assert ctx.while_room_unchanged(first, "k", lambda: dict(first.free)) == {"cpu": 4}


def test_running_sessions_are_found_by_owner_and_queue():
    sessions = [
        factories.a_running(2, owner_id=5),
        factories.a_running(1, queue_id=7),
        factories.a_session(3),
    ]
    ctx = context.Context(factories.a_snapshot(sessions))

    assert [session.id for session in ctx.running] == [1, 2]
    assert [session.id for session in ctx.running_by_owner[5]] == [2]
    assert [session.id for session in ctx.running_by_queue[7]] == [1]
