"""A stop that is under way, and its preemptor goes: a next holder that could have ordered it goes on (DESIGN 5.5)."""

from __future__ import annotations

import pytest

from scheduler import models
from scheduler.selectors import snapshot
from scheduler.services import actors, control, policies, queues
from tests.scheduler.services import conftest

SUSPEND = {"preemption_state": "on", "preemption_mode": "suspend"}
KILL = {"preemption_state": "on", "preemption_mode": "reschedule"}


def _as(user):
    return actors.of_user(user)


def _followed(cluster, **follower):
    """Let a victim's room be kept half for its preemptor, and half for one that counts on its stop."""
    low = cluster.run(cluster.bob, cpu="4", queue="background", priority=5, job_priority=1)
    first = cluster.submit(cluster.alice, cpu="2", queue="urgent", priority=50)
    cluster.round()
    follower = {"owner": cluster.bob, "queue": "background", "priority": 5, "job_priority": 9} | follower
    second = cluster.submit(follower.pop("owner"), cpu="2", **follower)
    cluster.round()
    kept = models.Reservation.objects.get(session=second)
    assert (kept.decision.kind, list(kept.waits_for.all())) == ("wait", [low])
    return low, first, second


def _asked_back():
    return models.AgentCommand.objects.filter(kind="withdraw").exists()


@pytest.mark.parametrize(
    ("follower", "axis", "values"),
    [({}, "owner", (1, 9)), ({"owner": "alice", "queue": "urgent", "priority": 20}, "queue", (5, 20))],
    ids=["own", "queue"],
)
def test_the_stop_passes_to_one_that_could_have_ordered_it(make_cluster, follower, axis, values):
    cluster = make_cluster(**SUSPEND)
    follower = follower | ({"owner": cluster.alice} if follower else {})
    low, first, second = _followed(cluster, **follower)

    control.cancel_session(_as(cluster.alice), first)

    assert not _asked_back()
    assert conftest.outcome_of(first) == "transferred: handed over"
    row = models.Handover.objects.get()
    assert (row.victim.session, row.decision.session, row.axis) == (low, second, axis)
    assert (row.own_value, row.holder_value) == values
    edge = models.PreemptionEdge.objects.get()
    assert (edge.winner, edge.loser) == (second, low)
    told = models.Event.objects.get(type="decision.handed_over")
    assert (told.session, told.decision) == (second, row.victim.decision)
    cluster.agent.suspends(low)
    cluster.round()
    cluster.agent.starts(second)
    assert conftest.outcome_of(second) == "used"
    assert models.Victim.objects.count() == 1


@pytest.mark.parametrize(
    "follower",
    [{"job_priority": 1}, {"owner": "alice", "queue": "normal"}, {"owner": "alice", "queue": "urgent"}],
    ids=["not higher", "queue that stops nobody", "not higher by priority"],
)
def test_and_to_nobody_else(make_cluster, follower):
    cluster = make_cluster(**SUSPEND)
    follower = {"priority": 5} | follower
    if "owner" in follower:
        follower["owner"] = cluster.alice
    low, first, second = _followed(cluster, **follower)

    control.cancel_session(_as(cluster.alice), first)

    assert conftest.outcome_of(second) == "withdrawn: its victim goes on"
    assert not models.Handover.objects.exists()
    cluster.agent.withdraws(low)
    assert conftest.outcome_of(first) == "withdrawn: preemptor cancelled"
    assert conftest.state_of(low) == "running"


def test_when_the_heir_goes_too_the_victim_returns(make_cluster):
    cluster = make_cluster(**SUSPEND)
    low, first, second = _followed(cluster)
    control.cancel_session(_as(cluster.alice), first)

    control.cancel_session(_as(cluster.bob), second)

    assert _asked_back()
    cluster.agent.withdraws(low)
    assert conftest.state_of(low) == "running"
    assert conftest.outcome_of(second) == "withdrawn: preemptor cancelled"
    assert conftest.outcome_of(first) == "transferred: handed over"
    assert not models.PreemptionEdge.objects.exists()


def test_it_passes_from_heir_to_heir(make_cluster):
    cluster = make_cluster(**SUSPEND)
    low = cluster.run(cluster.bob, cpu="4", queue="background", priority=5, job_priority=1)
    first, second, third = (
        cluster.submit(cluster.bob, cpu=cpu, queue="background", priority=5, job_priority=rank)
        for cpu, rank in (("2", 20), ("1", 10), ("1", 8))
    )
    cluster.round()

    control.cancel_session(_as(cluster.bob), first)
    assert models.Handover.objects.get().decision.session == second
    control.cancel_session(_as(cluster.bob), second)

    assert models.Handover.objects.get().decision.session == third
    assert [e.session for e in models.Event.objects.filter(type="decision.handed_over").order_by("pk")] == [
        second,
        third,
    ]
    assert conftest.state_of(low) == "preempted"
    assert not _asked_back()


def test_a_preemptor_placed_elsewhere_hands_over(make_cluster):
    cluster = make_cluster(**SUSPEND)
    _, first, second = _followed(cluster)
    cluster.join(cpu=2000)

    cluster.round()

    assert conftest.state_of(first) == "scheduled"
    assert conftest.outcome_of(first) == "transferred: handed over"
    assert models.Handover.objects.get().decision.session == second


def test_a_kill_that_has_begun_is_handed_over_and_what_it_costs_is_the_heirs(make_cluster):
    cluster = make_cluster(**KILL, grace_period=0)
    low, first, second = _followed(cluster)

    control.cancel_session(_as(cluster.alice), first)

    (kept,) = snapshot.load_snapshot(cluster.group).snapshot.reservations
    assert (kept.session_id, kept.is_binding) == (second.pk, True)
    cluster.agent.ends(low, None, signal=9, after_warning=True)
    control.cancel_session(_as(cluster.bob), second)
    assert conftest.outcome_of(first) == "transferred: handed over"
    assert conftest.outcome_of(second) == "wasted: preemptor cancelled"


def test_a_kill_without_grace_is_not_asked_back_and_stays_what_others_count_on(make_cluster):
    cluster = make_cluster(**KILL, grace_period=0)
    low, first, second = _followed(cluster, owner=cluster.alice, queue="normal")

    control.cancel_session(_as(cluster.alice), first)

    assert not _asked_back()
    assert not models.Handover.objects.exists()
    assert models.Reservation.objects.get().session == second
    cluster.agent.ends(low, None, signal=9, after_warning=True)
    assert conftest.outcome_of(first) == "wasted: preemptor cancelled"
    cluster.round()
    assert conftest.state_of(second) == "scheduled"


def test_a_victim_that_is_raised_above_the_heir_returns(make_cluster):
    cluster = make_cluster(**SUSPEND)
    low, first, second = _followed(cluster)
    control.cancel_session(_as(cluster.alice), first)

    control.change_session(_as(cluster.bob), low, job_priority=8)
    assert not _asked_back()
    control.change_session(_as(cluster.bob), low, job_priority=9)

    assert _asked_back()
    cluster.agent.withdraws(low)
    assert conftest.outcome_of(second) == "withdrawn: its victim goes on"
    assert conftest.state_of(low) == "running"


def test_a_victim_that_its_owner_ranks_higher_returns_on_the_axis_of_queues_too(make_cluster):
    cluster = make_cluster(**SUSPEND)
    low = cluster.run(cluster.alice, cpu="4", queue="background", priority=5, job_priority=9)
    cluster.submit(cluster.alice, cpu="4", queue="urgent", priority=50, job_priority=9)
    cluster.round()

    control.change_session(_as(cluster.alice), low, job_priority=10)

    assert _asked_back()


def test_switching_off_hands_nothing_over(make_cluster):
    cluster = make_cluster(**SUSPEND)
    low, first, _ = _followed(cluster)

    _change(cluster, preemption_state="off")

    assert _asked_back()
    assert not models.Reservation.objects.exists()
    cluster.agent.withdraws(low)
    assert conftest.outcome_of(first) == "withdrawn: switched off"


def _change(cluster, **changes):
    group = models.ResourceGroup.objects.get(pk=cluster.group.pk)
    policies.change_policy(
        _as(cluster.admin), group, changes=changes, reason="why not", expected_version=group.policy.version
    )


def test_closing_an_axis_takes_back_what_was_decided_on_it(make_cluster):
    cluster = make_cluster(**SUSPEND)
    low = cluster.run(cluster.bob, cpu="4", queue="background", priority=5)
    first = cluster.submit(cluster.alice, cpu="4", queue="urgent", priority=50)
    cluster.round()

    _change(cluster, preemption_scope="owner")

    assert not models.Reservation.objects.exists()
    cluster.agent.withdraws(low)
    assert conftest.outcome_of(first) == "withdrawn: axis queue switched off"


def test_closing_an_axis_hands_over_to_one_on_the_other(make_cluster):
    cluster = make_cluster(**SUSPEND)
    _, first, second = _followed(cluster)

    _change(cluster, preemption_scope="owner")

    assert not _asked_back()
    assert models.Handover.objects.get().decision.session == second
    _change(cluster, preemption_scope="queue")
    assert _asked_back()
    assert conftest.outcome_of(first) == "transferred: handed over"


def test_closing_the_other_axis_changes_nothing(make_cluster):
    cluster = make_cluster(**SUSPEND)
    _followed(cluster)

    _change(cluster, preemption_scope="queue")

    assert models.Reservation.objects.count() == 2
    assert not _asked_back()


def test_closing_an_axis_lets_a_decision_stand_whose_kill_has_begun(make_cluster):
    cluster = make_cluster(**KILL, grace_period=0)
    _followed(cluster)

    _change(cluster, preemption_scope="owner")

    assert models.Reservation.objects.count() == 2


def test_a_queue_that_may_preempt_no_longer_loses_what_it_was_handed(make_cluster):
    cluster = make_cluster(**SUSPEND)
    low, first, second = _followed(cluster, owner=cluster.alice, queue="urgent", priority=20)
    control.cancel_session(_as(cluster.alice), first)

    queues.change_queue(
        _as(cluster.admin), cluster.queues["urgent"], changes={"preemptible_queues": []}, reason="be kind"
    )

    cluster.agent.withdraws(low)
    assert conftest.outcome_of(second) == "withdrawn: its victim goes on"
    assert conftest.state_of(low) == "running"


def test_a_queue_that_may_preempt_no_longer_loses_what_it_took_over(make_cluster):
    cluster = make_cluster(**SUSPEND)
    cluster.contest(queue="background")
    models.Session.objects.filter(state="pending").update(queue=cluster.queues["background"])
    taker = cluster.submit(cluster.bob, cpu="4", queue="urgent", priority=50)
    cluster.round()
    assert models.Reservation.objects.get().session == taker

    queues.change_queue(
        _as(cluster.admin), cluster.queues["urgent"], changes={"preemptible_queues": []}, reason="be kind"
    )

    assert not models.Reservation.objects.exists()
    assert conftest.outcome_of(taker) == "withdrawn: queue rule changed"
    assert _asked_back()


def test_who_counts_on_a_stop_that_failed_waits_anew(make_cluster):
    cluster = make_cluster(**SUSPEND)
    low, first, second = _followed(cluster)

    cluster.agent.fails_to_stop(low)

    assert conftest.outcome_of(first) == "withdrawn: a stop failed"
    assert conftest.outcome_of(second) == "withdrawn: a stop failed"
    assert not models.Reservation.objects.exists()
    assert not models.NodeBackoff.objects.exists()
