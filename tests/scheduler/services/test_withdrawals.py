"""Taking a preemption back while it can be (DESIGN 5.5)."""

from __future__ import annotations

import pytest

from scheduler import models
from scheduler.protocol import fields, messages
from scheduler.services import actors, control, policies, queues
from tests.scheduler.services import conftest

ON = {"preemption_state": "on", "preemption_mode": "suspend"}


def _as(user):
    return actors.of_user(user)


def _cancel(cluster, low, high):
    control.cancel_session(_as(cluster.alice), high)


def _hold(cluster, low, high):
    control.hold_session(_as(cluster.alice), high)


def _lower(cluster, low, high):
    control.change_session(_as(cluster.alice), high, job_priority=0)


def _raise(cluster, low, high):
    control.change_session(_as(cluster.alice), low, job_priority=99)


def _opt_out(cluster, low, high):
    control.change_session(_as(cluster.alice), low, is_preemptible=False)


def _switch_off(cluster, low, high):
    policies.change_policy(
        _as(cluster.admin),
        cluster.group,
        changes={"preemption_state": "off"},
        reason="enough",
        expected_version=1,
    )


def _to_shadow(cluster, low, high):
    policies.change_policy(
        _as(cluster.admin),
        cluster.group,
        changes={"preemption_state": "shadow"},
        reason="enough",
        expected_version=1,
    )


REASONS = {
    _cancel: "preemptor cancelled",
    _hold: "preemptor held",
    _lower: "preemptor edited",
    _raise: "victim raised",
    _opt_out: "victim opted out",
    _switch_off: "switched off",
    _to_shadow: "switched off",
}


@pytest.mark.parametrize(("act", "cause"), REASONS.items(), ids=[act.__name__[1:] for act in REASONS])
def test_a_warned_victim_is_asked_back_when_the_reason_is_gone(make_cluster, act, cause):
    cluster = make_cluster(**ON)
    models.KeypairResourcePolicy.objects.update(may_opt_out=True)
    low, high = cluster.contest()

    act(cluster, low, high)

    assert conftest.state_of(low) == "preempted"
    assert not models.Outcome.objects.exists()
    assert cluster.slot() == (4000, 0)
    cluster.agent.withdraws(low)
    assert conftest.outcome_of(high) == f"withdrawn: {cause}"
    assert conftest.state_of(low) == "running"
    assert conftest.fate_of(low) == "withdrawn"
    assert not models.PreemptionEdge.objects.exists()


@pytest.mark.parametrize("mode", ["reschedule", "terminate"])
def test_a_victim_that_is_killed_although_it_was_asked_back_is_wasted(make_cluster, mode):
    cluster = make_cluster(preemption_state="on", preemption_mode=mode)
    low, high = cluster.contest()
    control.cancel_session(_as(cluster.alice), high)

    cluster.agent.answers(
        low,
        messages.WithdrawCommand,
        messages.WithdrawRefused,
        reason=fields.WithdrawRefusal.KILL_BEGUN,
    )
    assert not models.Outcome.objects.exists()
    cluster.agent.ends(low, None, signal=9, after_warning=True, cause=fields.EndCause.KILLED)

    assert conftest.outcome_of(high) == "wasted: preemptor cancelled"
    assert not models.GivenUp.objects.exists()


def _stop_group(cluster, low, high):
    policies.change_policy(
        _as(cluster.admin),
        cluster.group,
        changes={"starting": False},
        reason="enough",
        expected_version=1,
    )


def _stop_queue(cluster, low, high):
    queues.change_queue(_as(cluster.admin), high.queue, changes={"state": "stopped"}, reason="enough")


def _leave_group(cluster, low, high):
    high.queue.groups.clear()


def _limit(cluster, low, high):
    models.KeypairResourcePolicy.objects.update(max_slots={"cpu": 3000})


BARRED = {
    _stop_group: "group stopped",
    _stop_queue: "queue stopped",
    _leave_group: "unknown queue",
    _limit: "exceeds owner limit",
}


@pytest.mark.parametrize(("act", "why"), BARRED.items(), ids=[act.__name__[1:] for act in BARRED])
def test_nobody_is_stopped_for_one_that_may_not_start_any_more(make_cluster, act, why):
    cluster = make_cluster(**ON)
    low, high = cluster.contest()

    act(cluster, low, high)
    cluster.round()
    cluster.agent.withdraws(low)

    assert conftest.state_of(low) == "running"
    assert conftest.outcome_of(high) == f"withdrawn: preemptor may not start: {why}"


def test_a_kill_that_has_begun_keeps_its_room_for_one_that_may_not_start_now(make_cluster):
    cluster = make_cluster(preemption_state="on", preemption_mode="terminate", grace_period=0)
    low, high = cluster.contest()

    _stop_group(cluster, low, high)
    cluster.round()

    assert models.Reservation.objects.get().session_id == high.pk


def test_a_suspended_victim_of_a_vanished_preemptor_resumes(make_cluster):
    cluster = make_cluster(**ON)
    low, high = cluster.contest()
    cluster.agent.suspends(low)

    control.cancel_session(_as(cluster.alice), high)
    cluster.round()
    cluster.agent.resumes(low)

    assert conftest.state_of(low) == "running"
    assert conftest.outcome_of(high) == "withdrawn: preemptor cancelled"


def test_a_preemptor_that_vanishes_after_a_kill_has_wasted_it(make_cluster):
    cluster = make_cluster(preemption_state="on", preemption_mode="reschedule")
    low, high = cluster.contest()
    cluster.agent.ends(low, None, by=messages.StopCommand, signal=9)

    control.cancel_session(_as(cluster.alice), high)

    assert conftest.outcome_of(high) == "wasted: preemptor cancelled"
    assert cluster.slot() == (0, 0)


def test_a_preemptor_that_is_placed_elsewhere_before_the_kill_gives_its_victim_back(make_cluster):
    cluster = make_cluster(**ON)
    low, high = cluster.contest()
    other = cluster.join()

    cluster.round()
    cluster.agent.withdraws(low)
    other.starts(high)

    assert (conftest.state_of(low), conftest.state_of(high)) == ("running", "running")
    assert conftest.outcome_of(high) == "withdrawn: placed elsewhere"


def test_after_the_kill_has_begun_the_preemptor_starts_nowhere_else(make_cluster):
    cluster = make_cluster(preemption_state="on", preemption_mode="reschedule", grace_period=0)
    low, high = cluster.contest()
    cluster.join()

    cluster.round()

    assert conftest.state_of(high) == "pending"
    cluster.agent.ends(low, None, by=messages.StopCommand, signal=9)
    cluster.round()
    assert high.allocations.get().node == cluster.node


def test_switching_off_lets_a_decision_stand_whose_kill_has_begun(make_cluster):
    cluster = make_cluster(preemption_state="on", preemption_mode="reschedule", grace_period=0)
    low, high = cluster.contest()

    _switch_off(cluster, low, high)

    assert models.Reservation.objects.filter(session=high).exists()
    cluster.agent.ends(low, None, by=messages.StopCommand, signal=9)
    cluster.round()
    assert conftest.state_of(high) == "scheduled"


def test_a_start_under_way_is_not_disturbed_by_an_edit(make_cluster):
    cluster = make_cluster(**ON)
    low, high = cluster.contest()
    cluster.agent.suspends(low)
    cluster.round()

    control.change_session(_as(cluster.alice), high, job_priority=21)
    cluster.agent.starts(high)

    assert conftest.outcome_of(high) == "used"


def test_an_edge_stays_when_only_the_opt_out_changes(make_cluster):
    cluster = make_cluster(**ON)
    models.KeypairResourcePolicy.objects.update(may_opt_out=True)
    low, high = cluster.contest()
    cluster.agent.suspends(low)

    control.change_session(_as(cluster.alice), high, is_preemptible=False)
    assert models.PreemptionEdge.objects.count() == 1
    control.change_session(_as(cluster.alice), low, job_priority=2)

    assert not models.PreemptionEdge.objects.exists()


def test_who_was_promised_a_victim_that_goes_on_loses_the_promise_without_back_off(make_cluster):
    cluster = make_cluster(**ON)
    low = cluster.run(cluster.alice, cpu="4", job_priority=1)
    high = cluster.submit(cluster.alice, cpu="2", job_priority=20)
    cluster.round()
    waiter = cluster.submit(cluster.bob, cpu="2")
    cluster.round()
    assert models.Reservation.objects.get(session=waiter).decision.kind == "wait"

    control.cancel_session(_as(cluster.alice), high)

    assert conftest.outcome_of(waiter) == "withdrawn: its victim goes on"
    assert not models.NodeBackoff.objects.exists()
    cluster.agent.withdraws(low)
    assert conftest.state_of(low) == "running"


def test_a_suspended_victim_that_gives_up_its_process_is_not_asked_back(make_cluster):
    cluster = make_cluster(**ON, requeue_suspended=True, suspend_releases=["cpu"])
    low = cluster.run(cluster.alice, slots={"cpu": "1", "cuda.device": "4"}, job_priority=1)
    control.suspend_session(_as(cluster.alice), low)
    cluster.agent.suspends(low)
    high = cluster.submit(cluster.alice, slots={"cpu": "1", "cuda.device": "4"}, job_priority=20)
    cluster.round()
    assert models.Victim.objects.get().action == "requeue-suspended"

    control.cancel_session(_as(cluster.alice), high)

    assert [type(c) for c in cluster.agent.open_commands()] == [messages.StopCommand]
    cluster.agent.ends(low, None, by=messages.StopCommand, signal=9)
    assert conftest.state_of(low) == "pending"


@pytest.fixture
def across(make_cluster):
    """A victim of another owner's queue, warned."""
    cluster = make_cluster(**ON)
    low = cluster.run(cluster.bob, cpu="4", queue="background", priority=5)
    high = cluster.submit(cluster.alice, cpu="4", queue="urgent", priority=50)
    cluster.round()
    assert conftest.state_of(low) == "preempted"
    return cluster, low, high


@pytest.mark.parametrize(
    ("queue", "changes"), [("background", {"preemptible": False}), ("urgent", {"preemptible_queues": []})]
)
def test_a_queue_rule_that_forbids_it_takes_the_stop_back(across, queue, changes):
    cluster, low, high = across

    queues.change_queue(
        _as(cluster.admin),
        cluster.queues[queue],
        changes=changes,
        reason="be kind",
    )

    assert not models.Outcome.objects.exists()
    cluster.agent.withdraws(low)
    assert conftest.outcome_of(high) == "withdrawn: queue rule changed"
    assert conftest.state_of(low) == "running"


def test_a_queue_rule_that_still_allows_it_leaves_the_stop(across):
    cluster, low, high = across

    queues.change_queue(
        _as(cluster.admin),
        cluster.queues["urgent"],
        changes={"preemptible_queues": ["background", "normal"]},
        reason="more",
    )

    assert conftest.state_of(low) == "preempted"
    assert models.Reservation.objects.filter(session=high).exists()
