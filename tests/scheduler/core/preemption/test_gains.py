"""What a stop gives of slots, places and limits."""

from __future__ import annotations

from scheduler.core import context
from scheduler.core.preemption import gains
from tests import factories
from tests.factories import slots


def test_a_stop_gives_slots_and_a_place_of_the_node_and_the_limits_that_it_counts_in():
    victim = factories.a_running(1, slots(cpu=3), owner_id=2, queue_id=2)
    ctx = context.Context(factories.a_snapshot([victim]))

    def of(**preemptor):
        return dict(gains.of(ctx, factories.a_session(9, **preemptor), victim, 1))

    on_node = {("node", "cpu"): 3, ("node", "#places"): 1}
    assert of(owner_id=1, queue_id=1) == on_node
    assert of(owner_id=2, queue_id=1) == on_node | {("owner", "cpu"): 3, ("owner", "sessions"): 1}
    assert of(owner_id=1, queue_id=2) == on_node | {("queue", "cpu"): 3, ("queue", "sessions"): 1}
