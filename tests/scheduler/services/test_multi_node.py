"""Sessions on several nodes: all or nothing, and no slot is free before the last node has proven it."""

from __future__ import annotations

import pytest

from scheduler import clock, models
from scheduler.protocol import fields, messages
from scheduler.services import actors, control, multi_node, reconcile
from tests.scheduler.services import conftest

ON = {"preemption_state": "on", "preemption_mode": "suspend"}
SWEPT = {"cause": fields.EndCause.KILLED, "after_warning": True, "signal": 9}


def _allocated():
    return sum(models.NodeSlot.objects.filter(kind="cpu").values_list("allocated", flat=True))


def _victim(cluster, **low):
    """A pair whose owner's later session needs one of its nodes."""
    session, other = cluster.pair(cluster.alice, job_priority=1, **low)
    cluster.submit(cluster.alice, cpu="4", job_priority=20)
    cluster.round()
    assert conftest.state_of(session) == "preempted"
    return session, other


def _end(session):
    session.refresh_from_db()
    return session.state, session.result


def test_it_runs_when_the_last_node_has_confirmed(make_cluster):
    cluster = make_cluster()
    other = cluster.join()
    session = cluster.submit(cluster.alice, node_count=2, cpu="4")
    cluster.round()

    cluster.agent.starts(session)
    assert conftest.state_of(session) == "scheduled"
    other.starts(session)

    assert conftest.state_of(session) == "running"


def test_the_first_failure_ends_the_others_and_the_last_frees(make_cluster):
    cluster = make_cluster()
    session, other = cluster.pair(cluster.alice)

    cluster.agent.ends(session, 3)

    assert conftest.state_of(session) == "running"
    assert _allocated() == 8000
    other.ends(session, None, by=messages.KillCommand, **SWEPT)
    assert _end(session) == ("terminated", "failure")
    assert _allocated() == 0


def test_a_node_that_finished_well_leaves_the_others_to_their_work(make_cluster):
    cluster = make_cluster()
    session, other = cluster.pair(cluster.alice)

    cluster.agent.ends(session, 0)

    assert conftest.state_of(session) == "running"
    assert other.open_commands() == []
    assert models.Run.objects.get(session=session).ended_at is None
    assert _allocated() == 8000
    other.ends(session, 0)
    assert _end(session) == ("terminated", "success")
    assert models.Run.objects.get(session=session).ended_at is not None
    assert _allocated() == 0


def test_one_that_fails_after_another_has_finished_well_fails_the_session(make_cluster):
    cluster = make_cluster()
    session, other = cluster.pair(cluster.alice)

    cluster.agent.ends(session, 0)
    other.ends(session, 3)

    assert _end(session) == ("terminated", "failure")


@pytest.mark.parametrize("is_first", [True, False])
def test_the_run_costs_what_all_nodes_did_and_ends_as_the_one_that_failed(make_cluster, is_first):
    cluster = make_cluster()
    session, other = cluster.pair(cluster.alice)

    if is_first:
        cluster.agent.ends(session, 3, cpu_ms=5, peak_bytes=4000, ran_ms=70)
        other.ends(session, None, by=messages.KillCommand, signal=9, cpu_ms=6, peak_bytes=1000, ran_ms=80)
    else:
        cluster.agent.ends(session, 0, cpu_ms=5, peak_bytes=4000, ran_ms=70)
        other.ends(session, 3, cpu_ms=6, peak_bytes=1000, ran_ms=80)

    run = models.Run.objects.get(session=session)
    session.refresh_from_db()
    assert (run.cpu_ms, run.peak_bytes, run.ran_ms) == (11, 4000, 80)
    assert (run.exit_code, run.exit_signal) == (session.exit_code, session.exit_signal) == (3, None)
    assert _end(session) == ("terminated", "failure")


@pytest.mark.parametrize("answers", ["stopped", "failed"])
def test_what_still_runs_of_one_that_finished_on_another_node_is_suspended_and_resumed(make_cluster, answers):
    cluster = make_cluster()
    session, other = cluster.pair(cluster.alice)
    cluster.agent.ends(session, 0)
    control.suspend_session(actors.of_user(cluster.alice), session)
    assert cluster.agent.open_commands() == []

    if answers == "failed":
        other.fails_to_stop(session)
        assert conftest.state_of(session) == "running"
    else:
        other.suspends(session)
        assert conftest.state_of(session) == "suspended"
        control.resume_session(actors.of_user(cluster.alice), session)
        cluster.round()
        assert cluster.agent.open_commands() == []
        other.answers(session, messages.ResumeCommand, messages.Resumed, members=())
        assert conftest.state_of(session) == "running"

    other.ends(session, 0)
    assert _end(session) == ("terminated", "success")
    assert _allocated() == 0


def test_a_dispatch_of_which_one_node_has_finished_runs_when_the_other_has_started(make_cluster):
    cluster = make_cluster()
    other = cluster.join()
    session = cluster.submit(cluster.alice, node_count=2, cpu="4")
    cluster.round()

    cluster.agent.ends(session, 0)
    other.starts(session)
    assert conftest.state_of(session) == "scheduled"
    cluster.agent.ends(session, 0, by=messages.StartCommand)

    assert conftest.state_of(session) == "running"
    other.ends(session, 0)
    assert _end(session) == ("terminated", "success")


def test_the_order_in_which_nodes_report_does_not_matter(make_cluster):
    cluster = make_cluster()
    session, other = cluster.pair(cluster.alice)

    other.ends(session, 3)
    cluster.agent.ends(session, 0)

    assert _end(session) == ("terminated", "failure")
    assert session.result_reason == "exit code 3"


def test_an_end_on_one_node_delivered_twice_is_one(make_cluster):
    cluster = make_cluster()
    session, other = cluster.pair(cluster.alice)

    text = cluster.agent.ends(session, 0)
    version = models.Session.objects.get(pk=session.pk).state_version
    conftest.deliver(text)

    assert models.Session.objects.get(pk=session.pk).state_version == version
    other.ends(session, 0)


def test_a_start_that_fails_on_one_node_frees_when_the_other_has_ended(make_cluster):
    cluster = make_cluster()
    other = cluster.join()
    session = cluster.submit(cluster.alice, node_count=2, cpu="4")
    cluster.round()
    other.starts(session)

    cluster.agent.fails_to_start(session)

    assert conftest.state_of(session) == "scheduled"
    assert _allocated() == 8000
    other.ends(session, None, by=messages.KillCommand, **SWEPT)
    session.refresh_from_db()
    assert (session.state, session.dispatch_failures) == ("pending", 1)
    assert _allocated() == 0


def test_what_ran_on_one_node_of_an_undone_dispatch_does_not_keep_it_from_the_next(make_cluster):
    cluster = make_cluster()
    other = cluster.join()
    session = cluster.submit(cluster.alice, node_count=2, cpu="4")
    cluster.round()
    start = cluster.agent._about(cluster.agent._open(session, messages.StartCommand))
    other.ends(session, 0)
    cluster.agent.send(messages.StartFailed(**start, error="no such program"))
    assert conftest.state_of(session) == "pending"

    cluster.round()

    assert conftest.state_of(session) == "scheduled"


def test_a_start_that_fails_before_the_other_began_is_undone_by_its_answer(make_cluster):
    cluster = make_cluster()
    other = cluster.join()
    session = cluster.submit(cluster.alice, node_count=2, cpu="4")
    cluster.round()
    cluster.agent.fails_to_start(session)

    other.answers(session, messages.KillCommand, messages.Gone)

    assert conftest.state_of(session) == "pending"
    assert _allocated() == 0


def test_a_late_confirmation_does_not_revive_a_dispatch_that_is_being_undone(make_cluster):
    cluster = make_cluster()
    other = cluster.join()
    session = cluster.submit(cluster.alice, node_count=2, cpu="4")
    cluster.round()
    start = other._about(other._open(session, messages.StartCommand))
    cluster.agent.fails_to_start(session)

    other.send(messages.Started(**start, pid=1, started_mono_ms=1, boot="b"))

    assert conftest.state_of(session) == "scheduled"
    other.ends(session, None, by=messages.KillCommand, **SWEPT)


def test_it_is_suspended_when_every_node_has_proven(make_cluster):
    cluster = make_cluster(**ON)
    session, other = _victim(cluster)

    cluster.agent.suspends(session)
    assert conftest.state_of(session) == "preempted"
    assert _allocated() == 8000
    other.suspends(session)

    assert conftest.state_of(session) == "suspended"
    assert _allocated() == 0


def test_when_one_node_cannot_be_stopped_all_continue(make_cluster):
    cluster = make_cluster(**ON)
    session, other = _victim(cluster)
    cluster.agent.suspends(session)

    other.fails_to_stop(session)

    assert conftest.state_of(session) == "preempted"
    assert conftest.fate_of(session) == "stop-failed"
    assert not models.Reservation.objects.exists()
    cluster.agent.withdraws(session)
    session.refresh_from_db()
    assert (session.state, session.stop_failed_since_start) == ("running", True)
    assert _allocated() == 8000


@pytest.mark.parametrize("by", ["scheduler", "person"])
def test_when_one_node_does_not_answer_in_time_none_stays_stopped(make_cluster, by):
    cluster = make_cluster(**ON)
    if by == "scheduler":
        session, other = _victim(cluster)
    else:
        session, other = cluster.pair(cluster.alice)
        control.suspend_session(actors.of_user(cluster.alice), session)
    cluster.agent.suspends(session)
    models.Session.objects.filter(pk=session.pk).update(state_deadline=clock.now())

    reconcile.flag_stuck_stops()

    session.refresh_from_db()
    assert session.is_stuck
    assert [type(c) for one in (cluster.agent, other) for c in one.open_commands()] == [
        messages.WithdrawCommand
    ] * 2
    assert not models.Reservation.objects.exists()
    cluster.agent.withdraws(session)
    assert _allocated() == 8000
    other.withdraws(session)
    session.refresh_from_db()
    assert (session.state, session.is_stuck, session.stop_failed_since_start) == ("running", False, True)
    assert by == "person" or conftest.fate_of(session) == "stop-failed"
    assert _allocated() == 8000


def test_a_proof_that_comes_after_the_failure_of_another_node_changes_nothing(make_cluster):
    cluster = make_cluster(**ON)
    session, other = _victim(cluster)
    stop = cluster.agent._about(cluster.agent._open(session, messages.StopCommand))
    other.fails_to_stop(session)

    cluster.agent.send(
        messages.Stopped(**stop, method="signals", members=(), cpu_ms=1, warned=False, waited_ms=1)
    )

    assert conftest.state_of(session) == "preempted"
    cluster.agent.withdraws(session)
    assert conftest.state_of(session) == "running"


def test_a_withdrawal_continues_also_the_nodes_that_had_stopped(make_cluster):
    cluster = make_cluster(**ON)
    session, other = _victim(cluster)
    cluster.agent.suspends(session)

    control.change_session(actors.of_user(cluster.alice), session, job_priority=30)
    cluster.agent.withdraws(session)
    assert conftest.state_of(session) == "preempted"
    other.withdraws(session)

    assert conftest.state_of(session) == "running"


def test_a_kill_is_proven_when_the_last_node_has_ended(make_cluster):
    cluster = make_cluster(preemption_state="on", preemption_mode="reschedule")
    session, other = _victim(cluster)

    cluster.agent.ends(session, 143, by=messages.StopCommand)
    assert conftest.state_of(session) == "preempted"
    assert len(other.open_commands()) == 1
    other.ends(session, 0, by=messages.StopCommand)

    session.refresh_from_db()
    assert (session.state, session.attempt) == ("pending", 2)


def test_a_cancel_before_the_start_ends_when_every_node_has_answered(make_cluster):
    cluster = make_cluster()
    other = cluster.join()
    session = cluster.submit(cluster.alice, node_count=2, cpu="4")
    cluster.round()
    other.starts(session)
    control.cancel_session(actors.of_user(cluster.alice), session)

    cluster.agent.answers(session, messages.KillCommand, messages.Gone)
    assert conftest.state_of(session) == "terminating"
    other.ends(session, None, by=messages.KillCommand, **SWEPT)

    assert _end(session) == ("terminated", "cancelled")


def test_a_node_that_lost_it_requeues_it_when_the_others_have_ended(make_cluster):
    cluster = make_cluster()
    session, other = cluster.pair(cluster.alice)

    cluster.agent.hello()

    assert conftest.state_of(session) == "running"
    assert _allocated() == 8000
    other.ends(session, None, by=messages.KillCommand, **SWEPT)
    assert conftest.state_of(session) == "pending"
    assert _allocated() == 0


def test_a_resume_that_fails_on_one_node_stops_the_others_again(make_cluster):
    cluster = make_cluster()
    session, other = cluster.pair(cluster.alice)
    control.suspend_session(actors.of_user(cluster.alice), session)
    cluster.agent.suspends(session)
    other.suspends(session)
    control.resume_session(actors.of_user(cluster.alice), session)
    cluster.round()
    other.resumes(session)

    cluster.agent.answers(session, messages.ResumeCommand, messages.ResumeFailed, error="stuck")

    assert conftest.state_of(session) == "scheduled"
    assert _allocated() == 8000
    other.suspends(session)
    assert conftest.state_of(session) == "suspended"
    assert _allocated() == 0


@pytest.mark.parametrize("how", multi_node.GRAVITY)
def test_every_gravity_can_be_kept_in_the_row(how):
    assert len(how) <= models.Session._meta.get_field("end_result").max_length
