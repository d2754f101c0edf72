"""The one writer of a session's state: the table, compare-and-set, row, ledgers and event together."""

from __future__ import annotations

import contextlib

import pytest
from django.db import transaction

from scheduler import clock, errors, models
from scheduler.core import states
from scheduler.services import actors, transitions, work
from tests import model_factories

S, T = states.SessionState, states.Trigger
NEEDS_RESULT = {T.CANCEL_WAITING, T.STOP_PROVEN_TERMINATE, T.ENDED, T.LOST_END}


def _change(trigger):
    change = {"result": states.Result.CANCELLED} if trigger in NEEDS_RESULT else {}
    to = {T.DISPATCH, T.RESUME_DISPATCH, T.PREEMPT, T.STOP_ASKED, T.CANCEL}
    return {**change, "deadline": clock.now()} if trigger in to else change


def _session(cluster, state):
    session = model_factories.a_session(
        owner=cluster.alice,
        queue=cluster.queues["normal"],
        state=state,
        slots={"cpu": 1000},
        state_deadline=clock.now() if state in states.TRANSITIONAL else None,
        is_resume=state == S.SCHEDULED,
    )
    session.refresh_from_db()
    return session


def _move(session, trigger):
    """Move a fresh copy of a session; returns its state and the events that were told, and rolls back."""
    with transaction.atomic():
        copy = models.Session.objects.get(pk=session.pk)
        with contextlib.suppress(states.ForbiddenTransition), work.begin(actors.SYSTEM) as unit:
            transitions.transition_session(unit, copy, trigger, reason="test", **_change(trigger))
        state = models.Session.objects.get(pk=session.pk).state
        told = [event.type for event in models.Event.objects.filter(session=session)]
        transaction.set_rollback(True)
    return state, told


@pytest.mark.parametrize("state", list(S))
def test_every_pair_of_the_table_moves_with_its_event_or_is_refused_whole(make_cluster, state):
    cluster = make_cluster()
    session = _session(cluster, state)

    found = {trigger: _move(session, trigger) for trigger in T if trigger != T.DISPATCH}

    assert found == {
        trigger: (states.TRANSITIONS[state, trigger], [transitions.EVENTS[trigger]])
        if states.can(state, trigger)
        else (state, [])
        for trigger in found
    }


def test_a_stale_writer_is_refused_and_nothing_is_written(make_cluster):
    cluster = make_cluster()
    session = _session(cluster, S.RUNNING)
    stale = models.Session.objects.get(pk=session.pk)
    with work.begin(actors.SYSTEM):
        transitions.touch(session, is_held=True)

    with pytest.raises(errors.StaleState, match="no longer"), work.begin(actors.SYSTEM) as unit:
        transitions.transition_session(unit, stale, T.ENDED, result=states.Result.SUCCESS)

    session.refresh_from_db()
    assert session.state == "running"
    assert cluster.slot() == (1000, 0)
    assert not models.Event.objects.filter(session=session).exists()


def test_the_event_is_of_the_same_transaction(make_cluster):
    cluster = make_cluster()
    session = _session(cluster, S.RUNNING)

    with contextlib.suppress(ZeroDivisionError), work.begin(actors.SYSTEM) as unit:
        transitions.transition_session(unit, session, T.ENDED, result=states.Result.SUCCESS)
        raise ZeroDivisionError

    assert models.Session.objects.get(pk=session.pk).state == "running"
    assert cluster.slot() == (1000, 0)
    assert not models.Event.objects.filter(session=session).exists()


def test_an_end_without_a_result_is_a_violation(make_cluster):
    cluster = make_cluster()
    session = _session(cluster, S.RUNNING)

    with pytest.raises(errors.Violation, match="result"), work.begin(actors.SYSTEM) as unit:
        transitions.transition_session(unit, session, T.ENDED)


def test_every_trigger_has_an_event():
    assert set(transitions.EVENTS) == set(T)
