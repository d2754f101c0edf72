"""Races between a stop, its withdrawal and its proof; stops that fail; output."""

from __future__ import annotations

import dataclasses

import pytest

from scheduler import models
from scheduler.protocol import fields, messages
from scheduler.services import actors, commands, control
from tests.scheduler.services import conftest, staging


@pytest.fixture
def cluster(make_cluster):
    return make_cluster(**staging.RULES)


def _withdrawing(cluster):
    """A victim whose stop is asked back, with what its agent would say of the stop."""
    session, preemptor = cluster.contest()
    stop = cluster.agent._about(cluster.agent._open(session, messages.StopCommand))
    control.cancel_session(actors.of_user(cluster.alice), preemptor)
    return session, messages.Stopped(**stop, **staging.STOPPED)


def test_a_proof_that_crosses_the_withdrawal_frees_nothing_until_the_agent_has_answered(cluster):
    session, proof = _withdrawing(cluster)

    cluster.agent.send(proof)
    assert conftest.state_of(session) == "preempted"
    assert cluster.slot() == (4000, 0)
    cluster.agent.withdraws(session)

    assert conftest.state_of(session) == "running"
    assert cluster.slot() == (4000, 0)


def test_a_withdrawal_refused_because_it_is_suspended_proves_the_suspend(cluster):
    session, proof = _withdrawing(cluster)
    cluster.agent.send(proof)

    cluster.agent.answers(
        session, messages.WithdrawCommand, messages.WithdrawRefused, reason=fields.WithdrawRefusal.SUSPENDED
    )

    assert conftest.state_of(session) == "suspended"
    assert conftest.fate_of(session) == "stopped"
    assert cluster.slot() == (0, 0)


def test_once_the_kill_has_begun_nothing_is_undone(make_cluster):
    cluster = make_cluster(preemption_state="on", preemption_mode="reschedule")
    session, _ = _withdrawing(cluster)
    stop = models.AgentCommand.objects.get(kind="stop")

    cluster.agent.answers(
        session, messages.WithdrawCommand, messages.WithdrawRefused, reason=fields.WithdrawRefusal.KILL_BEGUN
    )
    assert conftest.state_of(session) == "preempted"
    cluster.agent.ends(
        session, None, command_id=str(stop.command_id), after_warning=True, cause="killed", signal=9
    )

    session.refresh_from_db()
    assert (session.state, session.attempt) == ("pending", 2)
    assert conftest.fate_of(session) == "stopped"


def test_a_proof_of_a_suspend_is_no_answer_to_a_kill(make_cluster):
    cluster = make_cluster(preemption_state="on", preemption_mode="terminate")
    session, _ = cluster.contest()

    cluster.agent.suspends(session)

    assert conftest.state_of(session) == "preempted"
    assert cluster.slot() == (4000, 0)
    cluster.agent.ends(session, None, signal=9, after_warning=True, cause="killed")


def test_a_proof_of_an_earlier_stop_does_not_prove_the_next(cluster):
    session, proof = _withdrawing(cluster)
    cluster.agent.withdraws(session)
    cluster.submit(cluster.alice, cpu="4", job_priority=30)
    cluster.round()

    cluster.agent.send(proof)

    assert conftest.state_of(session) == "preempted"
    assert cluster.slot() == (4000, 0)


def test_a_stop_that_fails_takes_back_the_other_victims_of_its_decision(cluster):
    lows = [cluster.run(cluster.alice, cpu="2", job_priority=1) for _ in range(2)]
    high = cluster.submit(cluster.alice, cpu="4", job_priority=20)
    cluster.round()

    cluster.agent.fails_to_stop(lows[0])
    cluster.agent.withdraws(lows[1])

    assert [conftest.state_of(low) for low in lows] == ["running", "running"]
    assert [conftest.fate_of(low) for low in lows] == ["stop-failed", "withdrawn"]
    assert conftest.outcome_of(high) == "withdrawn: a stop failed"


def test_one_whose_stop_failed_is_not_suspended_again_before_its_next_start(cluster):
    session, _ = cluster.contest()
    cluster.agent.fails_to_stop(session)

    cluster.round()

    assert conftest.state_of(session) == "running"
    assert models.Session.objects.get(pk=session.pk).stop_failed_since_start


def test_a_persons_suspend_that_fails_leaves_no_hold_behind(cluster):
    session = cluster.run(cluster.alice)
    control.suspend_session(actors.of_user(cluster.alice), session)

    cluster.agent.fails_to_stop(session)

    session.refresh_from_db()
    assert (session.state, session.is_held) == ("running", False)


def test_the_fifth_failed_start_holds_and_takes_back_what_was_reserved(cluster):
    low, high = cluster.contest()
    cluster.agent.suspends(low)

    for _ in range(5):
        cluster.round()
        cluster.agent.fails_to_start(high)

    high.refresh_from_db()
    assert (high.state, high.is_held) == ("pending", True)
    assert conftest.outcome_of(high) == "withdrawn: held after failed starts"
    assert cluster.slot() == (0, 0)


def test_the_last_lines_are_kept_and_an_older_report_does_not_replace_them(cluster):
    session = cluster.run(cluster.alice)
    tail = messages.OutputTail(
        session=str(session.public_id), epoch=1, tail="two\n\x00", size=5, truncated=False
    )

    cluster.agent.send(tail)
    cluster.agent.send(dataclasses.replace(tail, tail="one\n", size=4))

    kept = models.SessionOutput.objects.get()
    assert (kept.tail, kept.size) == ("two\n\ufffd", 5)


def _held_again(cluster, at_ms):
    """Let the agent prove the suspend of its session once more."""
    row = models.AgentCommand.objects.get(kind="stop")
    about = {"session": str(row.session.public_id), "epoch": row.epoch, "command_id": str(row.command_id)}
    cluster.agent.send(messages.Stopped(**about, **staging.STOPPED, at_mono_ms=at_ms))


def _told(*types):
    events = models.Event.objects.filter(type__in=types)
    return list(events.order_by("number").values_list("type", flat=True))


@pytest.fixture
def suspended(cluster):
    """A session that its owner has suspended; its agent said so at 1,000,000 ms."""
    session = cluster.run(cluster.alice)
    control.suspend_session(actors.of_user(cluster.alice), session)
    _held_again(cluster, 1_000_000)
    return session


def test_a_suspended_session_that_ran_is_told_of_and_the_third_time_its_node_is_warned(cluster, suspended):
    kinds = ("session.held_again", "session.escapes")
    for number in range(1, 6):
        _held_again(cluster, 1_000_000 + number)

    assert conftest.state_of(suspended) == "suspended"
    assert _told(*kinds) == ["session.held_again"] * 3 + ["session.escapes"]
    assert models.Event.objects.get(type="session.escapes").node == cluster.agent.node


@pytest.mark.parametrize("at_ms", [999_999, 1_000_000])
def test_a_proof_that_is_said_again_or_late_is_no_news_of_a_suspended_session(cluster, suspended, at_ms):
    _held_again(cluster, at_ms)

    assert _told("session.held_again") == []


def test_a_late_proof_of_an_old_suspend_changes_nothing_of_a_session_that_runs_again(cluster, suspended):
    control.resume_session(actors.of_user(cluster.alice), suspended)
    cluster.round()
    cluster.agent.answers(suspended, messages.ResumeCommand, messages.Resumed, members=())
    assert conftest.state_of(suspended) == "running"
    _held_again(cluster, 1_000_009)

    assert _told("session.held_again", "session.escapes") == []
    assert conftest.state_of(suspended) == "running"


def test_last_lines_are_acknowledged_because_the_next_wait_for_it(cluster, monkeypatch):
    session = cluster.run(cluster.alice)
    heard = []
    monkeypatch.setattr(commands, "acknowledge", lambda node, done: heard.extend(done))

    cluster.agent.send(
        messages.OutputTail(session=str(session.public_id), epoch=1, tail="x", size=1, truncated=False)
    )

    assert len(heard) == 1


def test_output_of_a_session_of_another_node_is_not_kept(cluster):
    session = cluster.run(cluster.alice)
    other = cluster.join()

    other.send(
        messages.OutputTail(session=str(session.public_id), epoch=1, tail="x", size=9, truncated=False)
    )

    assert not models.SessionOutput.objects.exists()


def test_a_page_of_output_that_nobody_waits_for_changes_nothing(cluster):
    session = cluster.run(cluster.alice)
    before = staging.picture()

    cluster.agent.send(
        messages.OutputPage(
            session=str(session.public_id), epoch=1, offset=0, data="x", size=1, eof=True, next_offset=1
        )
    )

    assert staging.picture() == before
