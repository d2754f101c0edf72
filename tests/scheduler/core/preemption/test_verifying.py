"""What a policy's answer must stand up to, asked of the ledger."""

from __future__ import annotations

import dataclasses

import pytest

from scheduler.core import context, decisions, entities
from scheduler.core.preemption import policy, problems, verifying
from tests import factories
from tests.factories import slots

Q = entities.Axis.QUEUE
QUEUES = (
    factories.a_queue(1, preemptible_queues=frozenset({2})),
    factories.a_queue(2, preemptible=True),
)


def _asked(sizes, *, wants, **rules):
    running = [
        factories.a_running(i, slots(cpu=size), owner_id=2, queue_id=2, priority=1)
        for i, size in enumerate(sizes, 1)
    ]
    waiting = factories.a_session(99, slots(cpu=wants), priority=50)
    node = factories.a_node(1, capacity=slots(cpu=sum(sizes)))
    ruled = dataclasses.replace(factories.ON, scope=entities.PreemptionScope.QUEUE, **rules)
    view = factories.a_snapshot([*running, waiting], nodes=[node], queues=QUEUES, policy=ruled)
    ctx = context.Context(view)
    asker = ctx.session_by_id[99]
    return ctx, asker, problems.judge(ctx, asker, Q)


def test_looking_whether_a_set_suffices_leaves_the_round_as_it_was():
    ctx, waiting, _ = _asked((2, 2), wants=2)
    victim = ctx.session_by_id[1]

    assert verifying.suffices(ctx, waiting, 1, [victim])
    assert not verifying.suffices(ctx, waiting, 1, [])


@pytest.mark.parametrize("odd", range(7))
def test_one_that_is_not_needed_is_found_wherever_it_stands(odd):
    """Seven of which six would do; all seven where each is needed."""
    ids = tuple(range(1, 8))
    sizes = [1 if i == odd else 3 for i in range(7)]
    ctx, waiting, judged = _asked(sizes, wants=18)

    with pytest.raises(policy.PolicyFailed, match="not needed"):
        verifying.verified(ctx, waiting, judged, policy.Answer(1, ids))
    ctx, waiting, judged = _asked(sizes, wants=19)
    assert len(verifying.verified(ctx, waiting, judged, policy.Answer(1, ids))) == 7


def test_a_large_set_is_looked_at_by_halves(monkeypatch):
    """Each victim against all the others took 640,000 stops for 800; by halves it is 800 times 10, and all once."""
    ctx, waiting, judged = _asked([1] * 256, wants=256)
    done = []
    add = ctx.ledger.add_leaving
    monkeypatch.setattr(ctx.ledger, "add_leaving", lambda *some, **more: (done.append(1), add(*some, **more)))

    verifying.verified(ctx, waiting, judged, policy.Answer(1, tuple(range(1, 257))))

    assert len(done) == 256 * (1 + 8)


def test_more_suspends_than_a_node_may_hold_are_refused():
    rules = {"mode": entities.PreemptionMode.SUSPEND, "max_suspended_per_node": 1}
    ctx, waiting, judged = _asked((2, 2), wants=4, **rules)

    with pytest.raises(policy.PolicyFailed, match="suspends more"):
        verifying.verified(ctx, waiting, judged, policy.Answer(1, (1, 2)))
    assert decisions.Action.SUSPEND is ctx.stop_plan(ctx.session_by_id[1]).action
