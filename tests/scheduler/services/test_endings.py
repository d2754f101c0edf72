"""How a run ends: the table of DESIGN section 3 for exits before and after the warning, and ends nobody asked for."""

from __future__ import annotations

import pytest

from scheduler import models
from scheduler.protocol import fields, messages
from scheduler.services import actors, control
from tests.scheduler.services import conftest

OWN = {"after_warning": False, "cause": fields.EndCause.SELF}
WARNED = {"after_warning": True, "cause": fields.EndCause.SELF}
KILLED = {"after_warning": True, "cause": fields.EndCause.KILLED, "signal": 9}


def _end(session):
    session.refresh_from_db()
    return session.state, session.result


def _warned(make_cluster, mode, **low):
    cluster = make_cluster(preemption_state="on", preemption_mode=mode)
    victim, _ = cluster.contest(**low)
    return cluster, victim


@pytest.mark.parametrize(
    ("code", "facts", "expected"),
    [
        (0, OWN, ("terminated", "success")),
        (3, OWN, ("terminated", "failure")),
        (None, {**OWN, "signal": 11}, ("terminated", "failure")),
        (None, {**OWN, "cause": fields.EndCause.WALL_TIME, "signal": 15}, ("terminated", "timeout")),
    ],
    ids=["exit 0", "exit 3", "signal", "wall time"],
)
def test_an_end_by_itself(make_cluster, code, facts, expected):
    cluster = make_cluster()
    session = cluster.run(cluster.alice)

    cluster.agent.ends(session, code, **facts)

    assert _end(session) == expected
    assert cluster.slot() == (0, 0)
    assert session.runs.get().how_ended == expected[1]


TABLE = [
    ("terminate", 0, WARNED, {}, ("terminated", "success"), "finished"),
    ("terminate", 0, {**WARNED, "checkpointed": True}, {}, ("terminated", "preempted"), "stopped"),
    ("terminate", 143, WARNED, {}, ("terminated", "preempted"), "stopped"),
    ("terminate", None, KILLED, {}, ("terminated", "preempted"), "stopped"),
    ("terminate", 0, OWN, {}, ("terminated", "success"), "finished"),
    ("terminate", 5, OWN, {}, ("terminated", "failure"), "finished"),
    ("reschedule", 0, WARNED, {}, ("terminated", "success"), "finished"),
    ("reschedule", 0, WARNED, {"exit_0_after_warning": "checkpointed"}, ("pending", ""), "stopped"),
    ("reschedule", 0, {**WARNED, "checkpointed": True}, {}, ("pending", ""), "stopped"),
    ("reschedule", 1, WARNED, {}, ("pending", ""), "stopped"),
    ("reschedule", None, KILLED, {}, ("pending", ""), "stopped"),
    ("reschedule", 0, OWN, {}, ("terminated", "success"), "finished"),
    ("reschedule", 1, OWN, {}, ("terminated", "failure"), "finished"),
    ("suspend", 0, WARNED, {}, ("terminated", "success"), "finished"),
    ("suspend", 143, WARNED, {}, ("pending", ""), "stopped"),
    ("suspend", 143, WARNED, {"restartable": False}, ("terminated", "preempted"), "stopped"),
    ("suspend", 1, OWN, {}, ("terminated", "failure"), "finished"),
]


@pytest.mark.parametrize(
    ("mode", "code", "facts", "low", "expected", "fate"),
    TABLE,
    ids=[f"{row[0]} {row[1]} {'warned' if row[2]['after_warning'] else 'own'} {row[4][0]}" for row in TABLE],
)
def test_an_exit_of_a_victim(make_cluster, mode, code, facts, low, expected, fate):
    cluster, victim = _warned(make_cluster, mode, **low)

    cluster.agent.ends(victim, code, by=messages.StopCommand, **facts)

    assert _end(victim) == expected
    assert conftest.fate_of(victim) == fate
    assert cluster.slot() == (0, 4000)


def test_a_wall_time_that_ends_during_the_grace_is_no_preemption(make_cluster):
    cluster, victim = _warned(make_cluster, "reschedule")

    cluster.agent.ends(victim, None, by=messages.StopCommand, cause=fields.EndCause.WALL_TIME, signal=15)

    assert _end(victim) == ("terminated", "timeout")


@pytest.mark.parametrize(("restartable", "expected"), [(True, "pending"), (False, "terminated")])
def test_an_end_with_unknown_status_is_a_loss(make_cluster, restartable, expected):
    cluster = make_cluster()
    session = cluster.run(cluster.alice, restartable=restartable)

    cluster.agent.ends(session, None, known=False, cause=fields.EndCause.GONE)

    assert conftest.state_of(session) == expected
    assert session.runs.get().how_ended == "lost"


def test_a_cancelled_session_whose_status_is_unknown_is_cancelled(make_cluster):
    cluster = make_cluster()
    session = cluster.run(cluster.alice)
    control.cancel_session(actors.of_user(cluster.alice), session)

    cluster.agent.ends(session, None, known=False, cause=fields.EndCause.GONE)

    assert _end(session) == ("terminated", "cancelled")


def test_its_own_end_before_the_kill_of_a_cancel_is_its_own(make_cluster):
    cluster = make_cluster()
    session = cluster.run(cluster.alice)
    control.cancel_session(actors.of_user(cluster.alice), session)

    cluster.agent.ends(session, 0, **OWN)

    assert _end(session) == ("terminated", "success")


def test_an_end_before_the_start_was_confirmed_counts(make_cluster):
    cluster = make_cluster()
    session = cluster.submit(cluster.alice)
    cluster.round()

    cluster.agent.ends(session, 0)

    assert _end(session) == ("terminated", "success")
    assert session.runs.get().started_at is not None


def test_cancelling_a_warned_victim_gives_its_room_to_the_preemptor_all_the_same(make_cluster):
    cluster, victim = _warned(make_cluster, "terminate")

    control.cancel_session(actors.of_user(cluster.alice), victim)
    cluster.agent.ends(victim, None, by=messages.KillCommand, signal=15)

    assert _end(victim) == ("terminated", "cancelled")
    assert cluster.slot() == (0, 4000)


def test_p02_an_end_delivered_again_changes_nothing(make_cluster):
    cluster, victim = _warned(make_cluster, "reschedule")
    text = cluster.agent.ends(victim, None, by=messages.StopCommand, **KILLED)
    events = models.Event.objects.count()

    conftest.deliver(text)

    victim.refresh_from_db()
    assert (victim.state, victim.attempt, models.Event.objects.count()) == ("pending", 2, events)
