"""Small sessions that keep coming let a large one start in its time; and a wait that is too long would be found."""

import pytest

from scheduler.core import claims, entities, rounds
from tests import factories
from tests.simulation import waits, world

STARVING_S = 60


def _crowd(one_in=2, most=900):
    """Let small sessions come all the time, after a large one; return the seconds for which that one waited."""
    policy = entities.Policy(version=1, starvation_after_s=STARVING_S)
    one = world.World((factories.a_node(),), (factories.a_queue(),), policy, seed=1)
    one.now = factories.NOW
    watch = waits.Watch(one)
    ids = []
    for second in range(most):
        if second % one_in == 0:
            ids.append(one.submit(12, owner_id=1, queue_id=1, request=factories.slots(cpu=1)))
        if second == 20:
            large = one.submit(5, owner_id=2, queue_id=1, request=factories.slots(cpu=4))
        one.step()
        watch.look()
        if second > 20 and (large not in one.jobs or one.jobs[large].session.allocations):
            return second - 20, watch
    raise AssertionError(f"it waits for {most} seconds")


def test_a_large_session_among_small_ones_starts_after_those_in_front_have_ended():
    waited, watch = _crowd()

    assert STARVING_S <= waited <= STARVING_S + 12 + 5
    assert (watch.counted, watch.longest // factories.SECOND <= 12 + 5) == (1, True)


def test_a_first_session_without_a_claim_would_be_found(monkeypatch):
    monkeypatch.setattr(rounds.claims, "after", lambda ctx, session, answer: answer)

    with pytest.raises(world.Fault, match="has no claim"):
        _crowd()


def test_a_claim_that_all_may_pass_would_be_found(monkeypatch):
    monkeypatch.setattr(claims, "_ends_before", lambda session, standing, starts: True)
    monkeypatch.setattr(world.invariants.claim_invariants, "of_decisions", lambda view, found: ())

    with pytest.raises(world.Fault, match="has held its claim"):
        _crowd()
