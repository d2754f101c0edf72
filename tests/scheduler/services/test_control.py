"""What people do to sessions, and what it takes back."""

from __future__ import annotations

import pytest

from scheduler import errors, models
from scheduler.protocol import messages
from scheduler.services import actors, control
from tests import model_factories
from tests.scheduler.services import conftest

ON = {"preemption_state": "on", "preemption_mode": "suspend"}


def _as(user):
    return actors.of_user(user)


def test_cancelling_a_waiting_session_ends_it_at_once(make_cluster):
    cluster = make_cluster()
    session = cluster.submit(cluster.alice)

    control.cancel_session(_as(cluster.alice), session)

    session.refresh_from_db()
    assert (session.state, session.result) == ("terminated", "cancelled")


def test_cancelling_a_running_session_keeps_its_slots_until_the_end_is_proven(make_cluster):
    cluster = make_cluster()
    session = cluster.run(cluster.alice, cpu="2")

    control.cancel_session(_as(cluster.alice), session)

    assert conftest.state_of(session) == "terminating"
    assert cluster.slot() == (2000, 0)
    cluster.agent.ends(session, None, by=messages.KillCommand, signal=15)
    session.refresh_from_db()
    assert (session.state, session.result) == ("terminated", "cancelled")
    assert cluster.slot() == (0, 0)


def test_cancelling_before_the_start_is_confirmed_ends_when_the_agent_refuses(make_cluster):
    cluster = make_cluster()
    session = cluster.submit(cluster.alice)
    cluster.round()

    control.cancel_session(_as(cluster.alice), session)
    cluster.agent.ends(session, None, by=messages.KillCommand, known=False)

    assert conftest.state_of(session) == "terminated"


def test_cancelling_the_preemptor_withdraws_its_warned_victim(make_cluster):
    cluster = make_cluster(**ON)
    low = cluster.run(cluster.alice, cpu="4", job_priority=1)
    high = cluster.submit(cluster.alice, cpu="4", job_priority=20)
    cluster.round()

    control.cancel_session(_as(cluster.alice), high)
    cluster.agent.withdraws(low)

    assert conftest.state_of(low) == "running"
    assert models.Outcome.objects.get().kind == "withdrawn"
    assert models.VictimFate.objects.get().fate == "withdrawn"
    assert not models.Reservation.objects.exists()


def test_raising_the_victim_takes_its_stop_back(make_cluster):
    cluster = make_cluster(**ON)
    low = cluster.run(cluster.alice, cpu="4", job_priority=1)
    cluster.submit(cluster.alice, cpu="4", job_priority=20)
    cluster.round()

    control.change_session(_as(cluster.alice), low, job_priority=20)
    cluster.agent.withdraws(low)
    cluster.round()

    assert conftest.state_of(low) == "running"
    assert models.Decision.objects.count() == 1


def test_suspend_by_a_person_holds_until_released(make_cluster):
    cluster = make_cluster()
    session = cluster.run(cluster.alice, cpu="4")

    control.suspend_session(_as(cluster.alice), session)
    cluster.agent.suspends(session)
    cluster.round()

    assert conftest.state_of(session) == "suspended"
    control.resume_session(_as(cluster.alice), session)
    cluster.round()
    cluster.agent.resumes(session)
    session.refresh_from_db()
    assert (session.state, session.times_preempted) == ("running", 0)


def test_requeue_by_a_person_starts_the_next_attempt_and_is_no_preemption(make_cluster):
    cluster = make_cluster()
    session = cluster.run(cluster.alice)

    control.requeue_session(_as(cluster.alice), session)
    cluster.agent.ends(session, None, by=messages.StopCommand, signal=15)

    session.refresh_from_db()
    assert (session.state, session.attempt, session.times_preempted) == ("pending", 2, 0)


def test_another_submitter_may_not_cancel_and_an_outsider_sees_nothing(make_cluster):
    cluster = make_cluster()
    session = cluster.run(cluster.alice)
    outsider = model_factories.a_user("eve")

    with pytest.raises(errors.NotAllowed):
        control.cancel_session(_as(cluster.bob), session)
    with pytest.raises(errors.NotVisible):
        control.cancel_session(_as(outsider), session)

    assert conftest.state_of(session) == "running"


@pytest.mark.parametrize("value", [-1, 101, 2**31, "9", 9.5, True])
def test_p09_priority_is_a_whole_number_within_the_cap(make_cluster, value):
    cluster = make_cluster()
    session = cluster.submit(cluster.alice)

    with pytest.raises(errors.Refusal):
        control.change_session(_as(cluster.alice), session, priority=value)

    session.refresh_from_db()
    assert session.priority == 10


def test_p09_the_cap_of_the_policy_is_named(make_cluster):
    cluster = make_cluster()
    capped = models.KeypairResourcePolicy.objects.create(name="small", max_priority=20)
    models.User.objects.filter(pk=cluster.alice.pk).update(policy=capped)
    session = cluster.submit(models.User.objects.get(pk=cluster.alice.pk))

    with pytest.raises(errors.Refusal, match="20, the cap of your policy small"):
        control.change_session(_as(cluster.alice), session, priority=21)


def test_an_operator_stops_others_sessions_and_does_not_change_their_priorities(make_cluster):
    cluster = make_cluster()
    session = cluster.run(cluster.alice)
    operator = model_factories.a_user("olga", group=cluster.group, role="operator")

    with pytest.raises(errors.NotAllowed):
        control.change_session(_as(operator), session, priority=1)
    control.suspend_session(_as(operator), session)

    session.refresh_from_db()
    assert (session.priority, session.state) == (10, "stopping")
