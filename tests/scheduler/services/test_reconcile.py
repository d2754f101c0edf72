"""Everything that waits has a deadline, and a rule for when it has passed."""

from __future__ import annotations

import datetime

import pytest

from scheduler import clock, models
from scheduler.protocol import fields, messages
from scheduler.services import actors, control, reconcile
from tests.scheduler.services import conftest, staging


def _past(seconds=1):
    return clock.now() - datetime.timedelta(seconds=seconds)


def test_a_stop_past_its_deadline_is_flagged_once_and_keeps_its_slots(make_cluster):
    cluster = make_cluster(**staging.RULES)
    victim, _ = cluster.contest()
    models.Session.objects.filter(pk=victim.pk).update(state_deadline=_past())

    reconcile.run()
    reconcile.run()

    victim.refresh_from_db()
    assert (victim.state, victim.is_stuck) == ("preempted", True)
    assert models.Event.objects.filter(type="session.stuck").count() == 1
    assert cluster.slot() == (4000, 0)


def test_a_stop_that_is_proven_late_is_no_longer_stuck(make_cluster):
    cluster = make_cluster(**staging.RULES)
    victim, _ = cluster.contest()
    models.Session.objects.filter(pk=victim.pk).update(state_deadline=_past())
    reconcile.flag_stuck_stops()

    cluster.agent.suspends(victim)

    victim.refresh_from_db()
    assert (victim.state, victim.is_stuck) == ("suspended", False)


def test_a_rule_that_fails_does_not_keep_the_others_from_their_turn(make_cluster, monkeypatch):
    cluster = make_cluster(**staging.RULES)
    victim, _ = cluster.contest()
    models.Session.objects.filter(pk=victim.pk).update(state_deadline=_past())
    monkeypatch.setattr(reconcile.commands, "send_due", lambda now: 1 / 0)

    reconcile.run()

    assert models.Session.objects.get(pk=victim.pk).is_stuck


def test_a_node_that_reports_in_time_is_not_suspect(make_cluster):
    cluster = make_cluster()
    cluster.agent.send(messages.Heartbeat())

    reconcile.suspect_silent_nodes()

    assert models.Node.objects.get().state == "ready"


def test_a_suspension_past_the_limit_of_its_group_is_requeued(make_cluster):
    cluster = make_cluster(max_suspend_time=60)
    session = cluster.run(cluster.alice)
    control.suspend_session(actors.of_user(cluster.alice), session)
    cluster.agent.suspends(session)

    reconcile.requeue_long_suspended()
    assert conftest.state_of(session) == "suspended"
    models.Session.objects.update(state_since=_past(61))
    reconcile.requeue_long_suspended()
    assert conftest.state_of(session) == "stopping"
    cluster.agent.ends(session, None, by=messages.StopCommand, signal=9)

    session.refresh_from_db()
    assert (session.state, session.attempt, session.is_held) == ("pending", 2, True)


def test_without_a_limit_a_suspension_lasts(make_cluster):
    cluster = make_cluster()
    session = cluster.run(cluster.alice)
    control.suspend_session(actors.of_user(cluster.alice), session)
    cluster.agent.suspends(session)
    models.Session.objects.update(state_since=_past(10**6))

    reconcile.requeue_long_suspended()

    assert conftest.state_of(session) == "suspended"


@pytest.mark.parametrize(
    ("answer", "facts", "state"),
    [
        (messages.StartRefused, {"reason": fields.StartRefusal.CANCELLED}, "pending"),
        (messages.StartedAlready, {}, "running"),
    ],
)
def test_a_start_past_its_deadline_is_flagged_once_and_the_answer_to_its_cancel_decides(
    make_cluster, answer, facts, state
):
    cluster = make_cluster()
    session = staging.scheduled(cluster)
    reconcile.run()
    assert not models.Event.objects.filter(type="session.late").exists()
    models.Session.objects.filter(pk=session.pk).update(state_deadline=_past())

    reconcile.run()
    reconcile.run()

    assert models.Event.objects.filter(type="session.late").count() == 1
    assert conftest.state_of(session) == "scheduled"
    assert cluster.slot() == (4000, 0)
    cluster.agent.answers(session, messages.CancelStartCommand, answer, **facts)
    session.refresh_from_db()
    assert (session.state, session.is_stuck) == (state, False)


def test_a_late_start_that_is_being_cancelled_for_another_keeps_its_order(make_cluster):
    cluster = make_cluster(**staging.RULES)
    session = staging.cancelled(cluster)
    models.Session.objects.filter(pk=session.pk).update(state_deadline=_past())
    before = cluster.agent.open_commands()

    reconcile.cancel_late_starts()

    assert cluster.agent.open_commands() == before
