"""Takeovers by real rounds: the room changes hands, and what was done for it goes along."""

from __future__ import annotations

import pytest

from scheduler import models
from scheduler.selectors import snapshot
from scheduler.services import actors, control
from tests.scheduler.services import conftest

ON = {"preemption_state": "on", "preemption_mode": "suspend"}
KILL = {"preemption_state": "on", "preemption_mode": "terminate", "grace_period": 0}


def _taken_over(cluster, **low):
    """Let a session take over what was reserved for another, whose victim is told to stop."""
    victim, holder = cluster.contest(**low)
    taker = cluster.submit(cluster.alice, cpu="4", job_priority=40)
    cluster.round()
    return victim, holder, taker


def test_a_round_hands_the_room_over_and_tells_nobody_else_to_stop(make_cluster):
    victim, holder, taker = _taken_over(make_cluster(**ON))

    kept = models.Reservation.objects.get()
    assert (kept.session, list(kept.waits_for.all())) == (taker, [victim])
    assert conftest.outcome_of(holder) == "transferred: taken over"
    assert models.Victim.objects.count() == 1
    assert holder.pend_reason.reason == "no-resources"
    told = models.Event.objects.get(type="decision.preempt", session=taker)
    assert (told.data["victims"], told.data["takes_over"]) == (0, True)


def test_the_taker_starts_on_it_and_its_decision_is_used(make_cluster):
    cluster = make_cluster(**ON)
    victim, _, taker = _taken_over(cluster)
    cluster.agent.suspends(victim)
    cluster.round()
    cluster.agent.starts(taker)

    assert conftest.state_of(taker) == "running"
    assert conftest.outcome_of(taker) == "used"


def test_a_kill_that_has_begun_for_the_holder_binds_the_taker(make_cluster):
    cluster = make_cluster(**KILL)
    _taken_over(cluster)

    (kept,) = snapshot.load_snapshot(cluster.group).snapshot.reservations

    assert kept.is_binding


def test_what_the_holders_victim_lost_is_wasted_when_the_taker_goes(make_cluster):
    cluster = make_cluster(**KILL)
    victim, _, taker = _taken_over(cluster)
    cluster.agent.ends(victim, after_warning=True, exit_code=1)

    control.cancel_session(actors.of_user(cluster.alice), taker)

    assert conftest.outcome_of(taker) == "wasted: preemptor cancelled"


def test_a_takeover_that_is_withdrawn_leaves_no_edge(make_cluster):
    cluster = make_cluster(**ON)
    victim, holder, taker = _taken_over(cluster)
    edges = models.PreemptionEdge.objects.filter(winner=taker, loser=holder)
    assert edges.exists()

    control.cancel_session(actors.of_user(cluster.alice), taker)

    assert not edges.exists()
    cluster.agent.withdraws(victim)
    assert conftest.state_of(victim) == "running"


def test_a_priority_that_a_person_changes_lets_them_meet_anew(make_cluster):
    cluster = make_cluster(**ON)
    _, holder, taker = _taken_over(cluster)

    control.change_session(actors.of_user(cluster.alice), holder, job_priority=21)

    assert not models.PreemptionEdge.objects.filter(winner=taker, loser=holder).exists()


@pytest.mark.parametrize(("asks", "state"), [("4", "preempted"), ("2", "preempted")])
def test_only_stops_that_the_taker_can_do_without_are_asked_back(make_cluster, asks, state):
    cluster = make_cluster(**ON)
    low, high = (cluster.run(cluster.alice, cpu="2", job_priority=rank) for rank in (1, 2))
    cluster.submit(cluster.alice, cpu="4", job_priority=20)
    cluster.round()

    cluster.submit(cluster.alice, cpu=asks, job_priority=40)
    cluster.round()

    asked_back = models.AgentCommand.objects.filter(kind="withdraw").values_list("session_id", flat=True)
    assert list(asked_back) == ([high.pk] if asks == "2" else [])
    assert conftest.state_of(low) == state
