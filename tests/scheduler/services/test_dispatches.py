"""Dispatches on their way: confirmed, failed, refused, and cancelled as victims (DESIGN 5.4)."""

from __future__ import annotations

import pytest

from scheduler import clock, models
from scheduler.protocol import fields, messages
from scheduler.services import actors, control
from tests.scheduler.services import conftest

CANCELS = {"preemption_state": "on", "preemption_mode": "suspend", "cancel_unconfirmed_dispatch": True}
REFUSED = {"reason": fields.StartRefusal.CANCELLED}


@pytest.fixture
def cluster(make_cluster):
    return make_cluster(**CANCELS)


def _cancelled(cluster):
    """A dispatch that is not confirmed yet, chosen as a victim."""
    low = cluster.submit(cluster.alice, cpu="4", job_priority=1)
    cluster.round()
    high = cluster.submit(cluster.alice, cpu="4", job_priority=20)
    cluster.round()
    victim = models.Victim.objects.get(session=low)
    assert victim.action == "cancel-dispatch"
    return low, high


def test_an_unconfirmed_dispatch_is_cancelled_without_a_signal(cluster):
    low, high = _cancelled(cluster)

    assert conftest.state_of(low) == "scheduled"
    assert [type(c) for c in cluster.agent.open_commands()] == [messages.CancelStartCommand]
    assert high.pend_reason.reason == "awaiting-victims"


def test_a_refused_start_returns_it_to_the_queue_not_counted_as_preempted(cluster):
    low, _ = _cancelled(cluster)

    cluster.agent.answers(low, messages.CancelStartCommand, messages.StartRefused, **REFUSED)

    low.refresh_from_db()
    assert (low.state, low.attempt, low.times_preempted, low.dispatch_failures) == ("pending", 1, 0, 0)
    assert conftest.fate_of(low) == "stopped"
    assert cluster.slot() == (0, 4000)


def test_the_preemptor_then_starts_on_the_room(cluster):
    low, high = _cancelled(cluster)
    cluster.agent.answers(low, messages.CancelStartCommand, messages.StartRefused, **REFUSED)

    cluster.round()
    cluster.agent.starts(high)

    assert conftest.state_of(high) == "running"
    assert conftest.outcome_of(high) == "used"


def test_one_that_started_already_runs_and_the_plan_is_dropped(cluster):
    low, high = _cancelled(cluster)

    cluster.agent.answers(low, messages.CancelStartCommand, messages.StartedAlready)

    assert conftest.state_of(low) == "running"
    assert conftest.fate_of(low) == "withdrawn"
    assert conftest.outcome_of(high) == "withdrawn: its dispatch had started already"
    assert not models.PreemptionEdge.objects.exists()
    cluster.round()
    assert conftest.state_of(low) == "preempted"


def test_its_own_confirmation_settles_the_cancel_that_came_too_late(cluster):
    low = cluster.submit(cluster.alice, cpu="4", job_priority=1)
    cluster.round()
    start = cluster.agent._about(cluster.agent._open(low, messages.StartCommand))
    cluster.submit(cluster.alice, cpu="4", job_priority=20)
    cluster.round()

    cluster.agent.send(messages.Started(**start, pid=1, started_mono_ms=1, boot="b"))

    assert conftest.state_of(low) == "running"
    assert conftest.fate_of(low) == "withdrawn"
    assert cluster.agent.open_commands() == []


@pytest.mark.parametrize("agent_ms", [1, 2**52])
def test_P17_when_a_session_started_is_the_databases_moment_whatever_its_agents_clock_says(cluster, agent_ms):
    session = cluster.submit(cluster.alice)
    cluster.round()
    start = cluster.agent._about(cluster.agent._open(session, messages.StartCommand))
    before = clock.now()

    cluster.agent.send(
        messages.Started(**start, pid=1, started_mono_ms=agent_ms, boot="b", at_mono_ms=agent_ms)
    )

    session.refresh_from_db()
    assert before <= session.started_at <= clock.now()
    assert models.Run.objects.get(session=session).started_at == session.started_at


def test_a_cancelled_resume_returns_to_suspended(cluster):
    low = cluster.run(cluster.alice, cpu="4", job_priority=1)
    control.suspend_session(actors.of_user(cluster.alice), low)
    cluster.agent.suspends(low)
    control.resume_session(actors.of_user(cluster.alice), low)
    cluster.round()
    cluster.submit(cluster.alice, cpu="4", job_priority=20)
    cluster.round()

    cluster.agent.answers(low, messages.CancelStartCommand, messages.StartRefused, **REFUSED)

    assert conftest.state_of(low) == "suspended"
    assert conftest.fate_of(low) == "stopped"


def test_a_holder_whose_dispatch_is_cancelled_loses_its_room_to_the_one_above(cluster):
    lowest = cluster.run(cluster.alice, cpu="4", job_priority=1)
    middle = cluster.submit(cluster.alice, cpu="4", job_priority=20)
    cluster.round()
    cluster.agent.suspends(lowest)
    cluster.round()
    assert conftest.state_of(middle) == "scheduled"
    cluster.submit(cluster.alice, cpu="4", job_priority=30)
    cluster.round()

    cluster.agent.answers(middle, messages.CancelStartCommand, messages.StartRefused, **REFUSED)

    assert conftest.state_of(middle) == "pending"
    assert cluster.slot() == (0, 4000)
    assert conftest.outcome_of(middle) == "withdrawn: its dispatch was cancelled"


def test_cancelling_a_cancelled_dispatch_closes_its_turn_as_a_victim(cluster):
    low, _ = _cancelled(cluster)

    control.cancel_session(actors.of_user(cluster.alice), low)
    cluster.agent.answers(low, messages.KillCommand, messages.Gone)

    assert conftest.state_of(low) == "terminated"
    assert conftest.fate_of(low) == "stopped"


def test_a_resume_that_fails_is_suspended_again(make_cluster):
    cluster = make_cluster()
    session = cluster.run(cluster.alice)
    control.suspend_session(actors.of_user(cluster.alice), session)
    cluster.agent.suspends(session)
    control.resume_session(actors.of_user(cluster.alice), session)
    cluster.round()

    cluster.agent.answers(session, messages.ResumeCommand, messages.ResumeFailed, error="stuck")

    assert conftest.state_of(session) == "suspended"
    assert cluster.slot() == (0, 0)


def test_a_process_that_ended_before_its_resume_is_told_by_its_old_run(make_cluster):
    cluster = make_cluster()
    session = cluster.run(cluster.alice)
    control.suspend_session(actors.of_user(cluster.alice), session)
    cluster.agent.suspends(session)
    control.resume_session(actors.of_user(cluster.alice), session)
    cluster.round()

    cluster.agent.ends(session, 0, epoch=1)

    session.refresh_from_db()
    assert (session.state, session.result) == ("terminated", "success")
