"""
Worlds on virtual time in which everything may take from everything: they never turn in circles, and they come to rest.

Source: issue's figure for the night 500 worlds x 2,000 rounds; RELIABILITY P13, P14; DESIGN 5.2 (cycle), 5.5, 5.6.
"""

import collections
import os

import pytest

from scheduler.core import decisions, entities, states
from tests.simulation import jobs, scenarios, world

IS_NIGHT = bool(os.environ.get("XCE_NIGHT"))
WORLDS, ROUNDS = (500, 2000) if IS_NIGHT else (30, 800)
BATCHES = 6


def lived(seed, most=ROUNDS, **rules):
    """Let sessions arrive during the first third, and go on until nothing is left or ``most`` rounds are over."""
    one = scenarios.adversarial(seed, **rules)
    one.slow = 0.01
    while one.rounds < most and (one.jobs or one.rounds < most // 3):
        if one.rounds < most // 3 and one.chance.random() < 0.08:
            scenarios.a_submission(one)
        if one.rounds < most // 3 and one.chance.random() < 0.03:
            scenarios.something_else(one)
        one.step()
    return one


def rested(one, most):
    """Go on until all sessions have ended; Fault when that takes longer than all their work, one after the other."""
    limit = one.rounds + most + sum(2 * job.work // jobs.SECOND + 120 for job in one.jobs.values())
    while one.jobs:
        one.step()
        if one.rounds > limit:
            raise world.Fault(f"{len(one.jobs)} sessions are left after {one.rounds} rounds")
    return one


@pytest.mark.parametrize("batch", range(BATCHES))
def test_no_world_turns_in_circles_and_all_come_to_rest(batch):
    for seed in range(batch, WORLDS, BATCHES):
        try:
            rested(lived(seed), 3600)
        except world.Fault as fault:
            pytest.fail(f"world {seed}: {fault}")


def test_nearly_every_stop_is_used():
    kinds = collections.Counter()
    causes = collections.Counter()
    for seed in range(1000, 1000 + WORLDS // 5):
        for told in rested(lived(seed), 3600).told.values():
            if told.orders:
                kinds[told.outcome] += 1
                causes[told.outcome, told.cause] += 1
    counted = kinds.total() - kinds["withdrawn"] - kinds["transferred"]

    assert kinds[""] == 0
    assert all(cause for (outcome, cause) in causes if outcome in ("wasted", "withdrawn"))
    assert kinds["wasted"] * 100 <= counted, causes


def test_the_same_seed_lives_the_same_life():
    first, second = (_told(lived(7, 400)) for _ in range(2))

    assert first
    assert first == second


def _told(one):
    return [
        (told.at, told.preemptor, tuple(told.orders), told.outcome, told.cause) for told in one.told.values()
    ]


def test_a_group_that_is_off_stops_nobody():
    one = rested(lived(3, state=entities.PreemptionState.OFF), 3600)

    assert one.told == {}


def test_a_circle_would_be_found():
    one = scenarios.adversarial(1)
    first, second, third = (scenarios.a_submission(one) for _ in range(3))
    one.edges = [(first, second, 1), (second, third, 2), (third, first, 3)]

    with pytest.raises(world.Fault, match="took from itself"):
        one.round()


def test_a_slot_given_twice_would_be_found():
    one = scenarios.adversarial(1)
    node = one.nodes[0]
    for _ in range(2):
        session_id = scenarios.a_submission(one)
        held = (entities.Allocation(node.id, node.capacity),)
        one.jobs[session_id].change(state=states.SessionState.RUNNING, allocations=held, started_at=0)

    with pytest.raises(world.Fault, match="its capacity is"):
        one.round()


def test_a_stop_that_never_comes_is_wasted_and_closes_the_node_for_a_while():
    one = scenarios.adversarial(1, state=entities.PreemptionState.ON, requeue_suspended=False)
    one.slow = 1.0
    low = one.submit(9999, owner_id=1, queue_id=1, request=one.nodes[0].capacity, job_priority=0)
    while one.jobs[low].session.state is not states.SessionState.RUNNING:
        one.step()
    high = one.submit(5, owner_id=1, queue_id=1, request=one.nodes[0].capacity, job_priority=9)
    while not any(told.outcome for told in one.told.values()):
        one.step()

    assert [(told.outcome, told.cause) for told in one.told.values()] == [("wasted", "timed out")]
    assert one.backoffs[high, one.nodes[0].id][1] == 60
    assert one.answers[high].reason is decisions.PendReason.HOLDS_CLAIM
