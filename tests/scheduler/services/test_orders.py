"""The commands that transitions need, and their deadlines."""

from __future__ import annotations

import datetime

import pytest

from scheduler import errors, models
from scheduler.core import entities
from scheduler.protocol import fields, messages
from scheduler.services import actors, commit_preemption, control, orders, victims, work
from tests.scheduler.services import conftest

Mode = entities.PreemptionMode


def test_a_start_carries_slots_indices_and_the_nodes_in_order(make_cluster):
    cluster = make_cluster(grace_period=20)
    session = cluster.submit(
        cluster.alice, slots={"cpu": "1", "cuda.device": "2"}, grace_period=5, wall_limit=60
    )
    cluster.round()

    (start,) = cluster.agent.open_commands()

    assert (start.slots, start.indices) == ({"cpu": 1000, "cuda.device": 2}, {"cuda.device": (0, 1)})
    assert (start.nodes, start.rank, start.epoch, start.grace_ms) == (("n1",), 0, 1, 5000)
    assert (start.wall_limit_s, start.session) == (60, str(session.public_id))


@pytest.mark.parametrize(("port", "told"), [(8888, {"MINE": "1", "XCE_PORT": "8888"}), (None, {"MINE": "1"})])
def test_a_session_with_a_port_is_told_it(make_cluster, port, told):
    cluster = make_cluster()
    cluster.submit(cluster.alice, environment={"MINE": "1"}, port=port)
    cluster.round()

    assert [start.env for start in cluster.agent.open_commands()] == [told]


@pytest.mark.parametrize("port", [0, 65_536])
def test_a_port_that_is_none_is_refused(make_cluster, port):
    cluster = make_cluster()
    with pytest.raises(errors.Refusal) as caught:
        cluster.submit(cluster.alice, port=port)

    assert "port" in caught.value.fields


@pytest.mark.parametrize(("is_multi_user", "owner"), [(True, "alice"), (False, "")])
def test_a_start_names_its_owner_to_nodes_that_run_sessions_as_their_owners(
    make_cluster, is_multi_user, owner
):
    cluster = make_cluster()
    cluster.agent.hello()
    models.AgentStatus.objects.update(facts={"enforce": {"multi_user": is_multi_user}})
    cluster.submit(cluster.alice)
    cluster.round()

    assert [start.owner for start in cluster.agent.open_commands()] == [owner]


@pytest.mark.parametrize(
    ("mode", "action", "signal"),
    [("suspend", "suspend", 20), ("reschedule", "kill", 15), ("terminate", "kill", 15)],
)
def test_a_stop_is_the_hook_of_xce_with_action_mode_signal_and_grace(make_cluster, mode, action, signal):
    cluster = make_cluster(preemption_state="on", preemption_mode=mode)
    low, _ = cluster.contest()

    stop = cluster.agent._open(low, messages.StopCommand)

    assert stop.hook == fields.HookDetail.JOB_STOP == 65
    assert (stop.action, stop.mode, stop.signal, stop.by) == (action, mode, signal, "scheduler")
    assert stop.decision == str(victims.open_decision(low).public_id)


def test_the_reason_of_a_preemption_is_the_stable_one(make_cluster):
    cluster = make_cluster(preemption_state="on", preemption_mode="suspend")
    low, _ = cluster.contest()

    event = models.Event.objects.get(type="session.preempted", session=low)

    assert event.data["reason"] == commit_preemption.REASON == "PREEMPTED_BY_SCHEDULER"


@pytest.mark.parametrize(("mode", "seconds"), [(Mode.SUSPEND, 13), (Mode.RESCHEDULE, 17)])
def test_a_stop_must_be_proven_ten_seconds_after_its_grace(mode, seconds):
    now = datetime.datetime(2100, 1, 1, tzinfo=datetime.UTC)
    plan = orders.StopPlan(mode, 15, 7, models.PolicyVersion(suspend_grace=3))

    assert plan.deadline(now) == now + datetime.timedelta(seconds=seconds)


@pytest.mark.parametrize(("own", "expected"), [(None, 10), (4, 4), (99, 10)])
def test_the_grace_is_the_sessions_up_to_the_groups(own, expected):
    policy = models.PolicyVersion(grace_period=10)

    assert orders.grace_s(models.Session(grace_period=own), policy) == expected


def test_a_stop_that_is_proven_cannot_be_taken_back(make_cluster):
    cluster = make_cluster(preemption_state="on", preemption_mode="suspend")
    low, high = cluster.contest()
    cluster.agent.suspends(low)

    control.cancel_session(actors.of_user(cluster.alice), high)

    assert cluster.agent.open_commands() == []
    assert conftest.state_of(low) == "suspended"


def test_what_became_of_a_victim_is_written_once(make_cluster):
    cluster = make_cluster(preemption_state="on", preemption_mode="suspend")
    low, _ = cluster.contest()
    cluster.agent.suspends(low)

    with work.begin(actors.SYSTEM) as unit:
        assert not victims.close(unit, low, victims.Fate.LOST)

    assert conftest.fate_of(low) == "stopped"
