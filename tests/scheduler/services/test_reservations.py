"""Room kept for one waiting session: drawn, consumed, restored, ended once."""

from __future__ import annotations

import datetime

import pytest

from scheduler import clock, errors, models
from scheduler.protocol import messages
from scheduler.services import actors, nodes, reconcile, reservations, work
from tests.scheduler.services import conftest

ON = {"preemption_state": "on", "preemption_mode": "suspend"}


def _partly_free(cluster):
    """A victim on 3 of 4 cores; 1 is free; the preemptor wants all four."""
    low = cluster.run(cluster.alice, cpu="3", job_priority=1)
    high = cluster.submit(cluster.alice, cpu="4", job_priority=20)
    cluster.round()
    return low, high


def _expire():
    models.Reservation.objects.update(deadline=clock.now() - datetime.timedelta(seconds=1))
    reconcile.expire_reservations()


def test_the_free_part_is_drawn_at_once_and_the_rest_with_the_proof(make_cluster):
    cluster = make_cluster(**ON)
    low, _ = _partly_free(cluster)

    assert cluster.slot() == (3000, 1000)
    cluster.agent.suspends(low)
    assert cluster.slot() == (0, 4000)


def test_the_drawn_part_is_not_placed_on(make_cluster):
    cluster = make_cluster(**ON)
    _partly_free(cluster)
    small = cluster.submit(cluster.bob, cpu="1", priority=100)

    cluster.round()

    assert conftest.state_of(small) == "pending"


def test_devices_are_reserved_one_by_one(make_cluster):
    cluster = make_cluster(**ON)
    cluster.run(cluster.alice, slots={"cpu": "1", "cuda.device": "3"}, job_priority=1)
    high = cluster.submit(cluster.alice, slots={"cpu": "1", "cuda.device": "2"}, job_priority=20)

    cluster.round()

    assert [d.index for d in models.NodeDevice.objects.filter(reservation__session=high)] == [3]


def test_a_failed_start_restores_the_reservation_with_the_time_left(make_cluster):
    cluster = make_cluster(**ON)
    low, high = cluster.contest()
    deadline = models.Reservation.objects.get().deadline
    cluster.agent.suspends(low)
    cluster.round()
    assert models.Reservation.objects.get().is_consumed

    cluster.agent.fails_to_start(high)

    kept = models.Reservation.objects.get()
    assert (kept.is_consumed, kept.deadline) == (False, deadline)
    assert cluster.slot() == (0, 4000)
    assert not models.Outcome.objects.exists()


def test_the_expiry_wastes_the_decision_and_closes_the_node_to_its_session(make_cluster):
    cluster = make_cluster(**ON)
    low, high = cluster.contest()
    cluster.agent.suspends(low)

    _expire()

    assert cluster.slot() == (0, 0)
    assert conftest.outcome_of(high) == "wasted: timed out"
    assert models.NodeBackoff.objects.get(session=high).minutes == 1


def test_a_node_that_leaves_ready_ends_its_reservations(make_cluster):
    cluster = make_cluster(**ON)
    low, high = cluster.contest()
    nodes.set_node_state(actors.SYSTEM, cluster.node, state="draining", reason="new disk")

    reconcile.end_reservations_of_closed_nodes()

    assert not models.Reservation.objects.exists()
    cluster.agent.withdraws(low)
    assert conftest.outcome_of(high) == "withdrawn: node left ready"
    assert conftest.state_of(low) == "running"


def test_an_expiry_asks_a_warned_victim_back(make_cluster):
    cluster = make_cluster(**ON)
    low, _ = cluster.contest()

    _expire()
    cluster.agent.withdraws(low)

    assert conftest.state_of(low) == "running"


def test_the_outcome_is_written_once(make_cluster):
    cluster = make_cluster(**ON)
    _, high = cluster.contest()
    decision = models.Decision.objects.get()

    with work.begin(actors.SYSTEM) as unit:
        reservations.end(unit, models.Reservation.objects.get(), reservations.Kind.USED)
        reservations.write_outcome(unit, decision, reservations.Kind.WASTED, "late")

    assert conftest.outcome_of(high) == "used"


def test_a_reservation_does_not_take_a_device_that_is_held(make_cluster):
    cluster = make_cluster(**ON)
    cluster.run(cluster.alice, slots={"cpu": "1", "cuda.device": "3"}, job_priority=1)
    high = cluster.submit(cluster.alice, slots={"cpu": "1", "cuda.device": "2"}, job_priority=20)
    cluster.round()
    kept = models.Reservation.objects.get(session=high)

    with pytest.raises(errors.StaleState, match="is taken"):
        reservations._draw(kept, {}, {"cuda.device": [0]})


def test_what_others_freed_first_spares_the_victims_that_are_only_warned(make_cluster):
    cluster = make_cluster(**ON)
    other = cluster.run(cluster.bob, cpu="2", priority=90)
    low = cluster.run(cluster.alice, cpu="2", job_priority=1)
    high = cluster.submit(cluster.alice, cpu="2", job_priority=20)
    cluster.round()
    assert conftest.state_of(low) == "preempted"

    cluster.agent.ends(other)
    cluster.round()
    cluster.agent.withdraws(low)
    cluster.agent.starts(high)

    assert conftest.state_of(low) == "running"
    assert conftest.outcome_of(high).startswith("withdrawn")


def test_a_stop_proof_twice_draws_once(make_cluster):
    cluster = make_cluster(**ON)
    low, _ = cluster.contest()
    command = cluster.agent._open(low, messages.StopCommand)
    cluster.agent.suspends(low)

    members = (messages.Member(pid=100, start_time=5, state="T"),)
    cluster.agent.send(
        messages.Stopped(
            **cluster.agent._about(command),
            method="signals",
            members=members,
            cpu_ms=9,
            warned=False,
            waited_ms=3,
        )
    )

    assert cluster.slot() == (0, 4000)
