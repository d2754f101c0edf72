"""
Worlds on virtual time in which everything may take from everything: they never turn in circles, and they come to rest.

Source: issue's figure for the night 500 worlds x 2,000 rounds; RELIABILITY P13, P14; DESIGN 5.2 (cycle), 5.5, 5.6.
"""

import collections
import os

import pytest

from scheduler.core import decisions, entities, states
from tests.simulation import jobs, scenarios, waits, world

IS_NIGHT = bool(os.environ.get("XCE_NIGHT"))
WORLDS, ROUNDS, BATCHES = (500, 2000, 10) if IS_NIGHT else (30, 400, 6)
MOST_WASTED = 0.01


def lived(seed, most=ROUNDS, **rules):
    """Let sessions come and go for nine tenths of ``most`` rounds, and then be quiet."""
    one = scenarios.adversarial(seed, **rules)
    one.slow = 0.002
    watch = waits.Watch(one)
    while one.rounds < most:
        if one.rounds * 10 < most * 9:
            scenarios.something(one)
        one.step()
        watch.look()
    return one, watch


def rested(one, most):
    """Go on until all sessions have ended; Fault when that takes longer than all their work, one after the other."""
    limit = one.rounds + most + sum(2 * job.work // jobs.SECOND + 120 for job in one.jobs.values())
    while one.jobs:
        one.step()
        if one.rounds > limit:
            raise world.Fault(f"{len(one.jobs)} sessions are left after {one.rounds} rounds")
    return one


class Figures:
    """What became of all stops of some worlds."""

    def __init__(self):
        self.worlds = self.rounds = self.claims = self.longest_s = 0
        self.outcomes = collections.Counter()

    def add(self, one, watch):
        self.worlds, self.rounds, self.claims = (
            self.worlds + 1,
            self.rounds + one.rounds,
            self.claims + watch.counted,
        )
        self.longest_s = max(self.longest_s, watch.longest // jobs.SECOND)
        self.outcomes.update((told.outcome, told.cause) for told in one.told.values() if told.orders)

    def of(self, *names):
        return sum(count for (name, _), count in self.outcomes.items() if name in names)

    def __str__(self):
        first = (
            f"{self.worlds} worlds, {self.rounds} rounds, {self.outcomes.total()} preemptions; "
            f"{self.claims} claims, the longest held for {self.longest_s} s"
        )
        rows = (f"{count:6} {name}: {cause}" for (name, cause), count in sorted(self.outcomes.items()))
        return "\n".join((first, *rows))


def _figures(seeds):
    found = Figures()
    for seed in seeds:
        try:
            one, watch = lived(seed)
            found.add(rested(one, 3600), watch)
        except world.Fault as fault:
            pytest.fail(f"world {seed}: {fault}")
    print(found)
    return found


@pytest.mark.timeout(0 if IS_NIGHT else 120)
@pytest.mark.parametrize("batch", range(BATCHES))
def test_no_world_turns_in_circles_and_all_come_to_rest(batch):
    found = _figures(range(batch, WORLDS, BATCHES))

    assert found.of("") == 0
    assert found.claims
    assert all(cause for (outcome, cause) in found.outcomes if outcome not in ("used", ""))
    if IS_NIGHT:
        assert found.outcomes.total() >= 10_000 // BATCHES
        _nearly_all_are_used(found)


@pytest.mark.timeout(0 if IS_NIGHT else 120)
def test_nearly_every_stop_is_used():
    found = _figures(range(1000, 1000 + WORLDS // 5))

    assert found.outcomes.total() > WORLDS // 5
    _nearly_all_are_used(found)


def _nearly_all_are_used(found):
    counted = found.of("used", "partly", "wasted")

    assert found.of("wasted", "partly") <= MOST_WASTED * counted, found


def test_the_same_seed_lives_the_same_life():
    first, second = (_told(lived(7, 400)[0]) for _ in range(2))

    assert first
    assert first == second


def _told(one):
    return [
        (told.at, told.preemptor, tuple(told.orders), told.outcome, told.cause) for told in one.told.values()
    ]


def test_a_group_that_is_off_stops_nobody():
    one = rested(lived(3, state=entities.PreemptionState.OFF)[0], 3600)

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
