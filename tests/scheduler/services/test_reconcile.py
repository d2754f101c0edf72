"""Everything that waits has a deadline, and a rule for when it has passed."""

from __future__ import annotations

import datetime

import pytest

from scheduler import clock, models
from scheduler.protocol import fields, messages
from scheduler.selectors import consistency
from scheduler.services import actors, control, listening, reconcile
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


# Nothing is forgotten


def _overdue(session):
    models.Session.objects.filter(pk=session.pk).update(state_deadline=_past(60))


def test_a_kill_that_was_under_way_and_never_ended_is_ordered_again(make_cluster):
    cluster = make_cluster(preemption_state="on", preemption_mode="terminate")
    low, high = cluster.contest()
    control.cancel_session(actors.of_user(cluster.alice), high)
    refused = {"reason": fields.WithdrawRefusal.KILL_BEGUN}
    cluster.agent.answers(low, messages.WithdrawCommand, messages.WithdrawRefused, **refused)
    reconcile.run()
    assert cluster.agent.open_commands() == []
    _overdue(low)
    assert "no command for it is open" in consistency.findings()[0]

    reconcile.run()
    reconcile.run()

    assert [type(command) for command in cluster.agent.open_commands()] == [messages.KillCommand]
    cluster.agent.ends(low, None, by=messages.KillCommand, signal=9)
    assert conftest.state_of(low) == "terminated"


def test_a_suspend_on_two_nodes_that_was_proven_before_it_was_asked_back_is_ordered_again(make_cluster):
    cluster = make_cluster(**staging.RULES)
    session, other = cluster.pair(cluster.alice, job_priority=1)
    high = cluster.submit(cluster.alice, cpu="4", job_priority=20)
    cluster.round()
    control.cancel_session(actors.of_user(cluster.alice), high)
    refused = {"reason": fields.WithdrawRefusal.SUSPENDED}
    for agent in (cluster.agent, other):
        agent.answers(session, messages.WithdrawCommand, messages.WithdrawRefused, **refused)
    _overdue(session)

    reconcile.order_again()

    for agent in (cluster.agent, other):
        agent.suspends(session)
    assert conftest.state_of(session) == "suspended"


def test_a_start_of_which_nothing_is_open_is_cancelled(make_cluster):
    cluster = make_cluster()
    session = staging.scheduled(cluster)
    models.AgentCommand.objects.update(settled_at=clock.now(), settled_how="lost")
    models.Session.objects.filter(pk=session.pk).update(state_deadline=_past(60), is_stuck=True)

    reconcile.order_again()

    assert [type(command) for command in cluster.agent.open_commands()] == [messages.CancelStartCommand]
    cluster.agent.answers(
        session,
        messages.CancelStartCommand,
        messages.StartRefused,
        reason=fields.StartRefusal.CANCELLED,
    )
    assert conftest.state_of(session) == "pending"


@pytest.mark.parametrize("stage", [staging.scheduled, staging.preempted, staging.terminating])
def test_what_is_open_is_not_ordered_twice(make_cluster, stage):
    cluster = make_cluster(**staging.RULES)
    session = stage(cluster)
    _overdue(session)
    before = cluster.agent.open_commands()

    reconcile.order_again()

    assert cluster.agent.open_commands() == before


# Silence


def _heard(seconds):
    models.AgentStatus.objects.update(last_report_at=_past(seconds))


@pytest.mark.parametrize(
    ("listens_for", "last_look", "state"),
    [(20, 1, "suspect"), (14, 1, "ready"), (10_000, 6, "ready"), (10_000, 4, "suspect")],
)
def test_only_silence_while_the_controller_listened_counts(make_cluster, listens_for, last_look, state):
    cluster = make_cluster()
    cluster.agent.hello()
    _heard(60)
    models.Listening.objects.create(pk=1, since=_past(listens_for), last_at=_past(last_look))

    reconcile.run()

    assert models.Node.objects.get().state == state


def test_an_outage_of_the_broker_ends_no_reservation(make_cluster):
    cluster = make_cluster(**staging.RULES)
    cluster.contest()
    models.Listening.objects.create(pk=1, since=_past(10_000), last_at=_past(40))
    _heard(45)

    reconcile.run()

    assert models.Reservation.objects.count() == 1


def test_the_first_look_begins_to_listen_and_the_next_ones_go_on(make_cluster):
    make_cluster()
    listening.note()
    first = models.Listening.objects.get()
    listening.note()

    second = models.Listening.objects.get()
    assert second.since == first.since
    assert second.last_at >= first.last_at
