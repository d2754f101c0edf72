"""Stop starting, start again, and take back every preemption under way."""

from __future__ import annotations

import pytest

from scheduler import errors, models
from scheduler.protocol import messages
from scheduler.services import actors, backoffs, emergency, work
from tests.scheduler.services import conftest

ON = {"preemption_state": "on", "preemption_mode": "suspend"}


def test_a_stopped_group_starts_nothing_and_lets_its_victims_go_on(make_cluster):
    cluster = make_cluster(**ON)
    low, high = cluster.contest()

    emergency.stop_starting(actors.of_user(cluster.admin), cluster.group, reason="the power is failing")
    cluster.agent.withdraws(low)
    cluster.round()

    assert conftest.state_of(low) == "running"
    assert conftest.outcome_of(high) == "withdrawn: group stopped"
    assert models.PendReason.objects.get(session=high).reason == "group-stopped"


def test_a_group_that_starts_again_starts_what_waits(make_cluster):
    cluster = make_cluster()
    admin = actors.of_user(cluster.admin)
    emergency.stop_starting(admin, cluster.group, reason="the power is failing")
    session = cluster.submit(cluster.alice)
    cluster.round()
    assert conftest.state_of(session) == "pending"

    row = emergency.start_again(admin, cluster.group, reason="the power is back")
    cluster.round()

    assert conftest.state_of(session) == "scheduled"
    assert (row.version, row.reason) == (3, "the power is back")


def test_all_under_way_is_taken_back_and_not_ordered_again_for_a_minute(make_cluster):
    cluster = make_cluster(**ON)
    low, high = cluster.contest()

    count = emergency.withdraw_all(actors.of_user(cluster.admin), cluster.group, reason="not these two")
    cluster.agent.withdraws(low)
    cluster.round()

    assert count == 1
    assert conftest.state_of(low) == "running"
    assert conftest.outcome_of(high) == "withdrawn: withdrawn by a person"
    assert [row.minutes for row in models.NodeBackoff.objects.filter(session=high)] == [1]
    assert models.ConfigChange.objects.filter(reason="not these two").count() == 1
    assert models.Event.objects.filter(type="group.withdrawn").count() == 1


def test_a_kill_that_has_begun_stands(make_cluster):
    cluster = make_cluster(preemption_state="on", preemption_mode="terminate", grace_period=0)
    low, _ = cluster.contest()

    with pytest.raises(errors.Refusal, match="has begun to kill"):
        emergency.withdraw_all(actors.of_user(cluster.admin), cluster.group, reason="not these two")

    assert models.Reservation.objects.count() == 1
    cluster.agent.ends(low, None, by=messages.StopCommand, signal=9)


@pytest.mark.parametrize("act", [emergency.stop_starting, emergency.start_again, emergency.withdraw_all])
@pytest.mark.parametrize(("who", "reason"), [("alice", "a good reason"), ("admin", " ")])
def test_only_a_manager_with_a_reason_may(make_cluster, act, who, reason):
    cluster = make_cluster(**ON)
    cluster.contest()

    with pytest.raises(errors.Refusal):
        act(actors.of_user(getattr(cluster, who)), cluster.group, reason=reason)

    assert models.PolicyVersion.objects.count() == 1
    assert models.Reservation.objects.count() == 1


def test_the_back_off_doubles_from_1_to_16_minutes_for_each_node(make_cluster):
    cluster = make_cluster(**ON)
    other = cluster.join().node
    high = cluster.submit(cluster.alice, cpu="4", job_priority=20, is_held=True)
    minutes = []

    for _ in range(6):
        with work.begin(actors.SYSTEM) as unit:
            backoffs.close(unit, high, [cluster.node.pk])
        minutes.append(models.NodeBackoff.objects.get().minutes)
    with work.begin(actors.SYSTEM) as unit:
        backoffs.close(unit, high, [cluster.node.pk, other.pk])

    assert minutes == [1, 2, 4, 8, 16, 16]
    assert dict(models.NodeBackoff.objects.values_list("node", "minutes")) == {
        cluster.node.pk: 16,
        other.pk: 1,
    }
