"""How a session is stopped, and what that frees."""

from __future__ import annotations

import dataclasses

import pytest

from scheduler.core import decisions, entities, release, states
from tests import factories
from tests.factories import slots

MODE, ACTION, S = entities.PreemptionMode, decisions.Action, states.SessionState


def _plan(session, *, mode=MODE.TERMINATE, queue=None, **rules):
    return release.plan_stop(session, queue, dataclasses.replace(factories.ON, mode=mode, **rules))


def test_a_suspend_begins_with_sigtstp_and_its_own_grace():
    plan = _plan(factories.a_running(1), mode=MODE.SUSPEND, suspend_grace_s=3)

    assert (plan.action, plan.signal, plan.grace_s) == (ACTION.SUSPEND, 20, 3)


@pytest.mark.parametrize("mode", [MODE.TERMINATE, MODE.RESCHEDULE])
def test_an_end_begins_with_the_sessions_warning_signal(mode):
    plan = _plan(factories.a_running(1, warning_signal=10), mode=mode)

    assert (plan.action, plan.mode, plan.signal, plan.grace_s) == (ACTION.KILL, mode, 10, 10)


@pytest.mark.parametrize(("own", "expected"), [(None, 10), (4, 4), (60, 10)])
def test_a_sessions_own_grace_never_exceeds_the_groups(own, expected):
    assert release.kill_grace_s(factories.a_running(1, grace_s=own), factories.ON) == expected


def test_the_queues_mode_goes_before_the_groups():
    queue = factories.a_queue(1, preemption_mode=MODE.RESCHEDULE)

    assert _plan(factories.a_running(1), mode=MODE.SUSPEND, queue=queue).mode is MODE.RESCHEDULE


def test_a_dispatch_that_is_not_confirmed_is_cancelled_without_a_signal():
    plan = _plan(factories.a_running(1, state=S.SCHEDULED), mode=MODE.TERMINATE)

    assert (plan.action, plan.mode, plan.signal) == (ACTION.CANCEL_DISPATCH, MODE.RESCHEDULE, 0)


def test_a_cancelled_resume_goes_back_to_suspended_and_frees_what_a_suspend_frees():
    running = factories.a_running(1, slots(cpu=2, mem=3), state=S.SCHEDULED)
    resuming = dataclasses.replace(running, resume_slots=running.allocations)

    plan = _plan(resuming, suspend_releases=frozenset({"cpu"}))

    assert (plan.mode, plan.on(1)) == (MODE.SUSPEND, slots(cpu=2))


def test_a_suspended_session_gives_what_it_still_holds_and_no_place():
    plan = _plan(factories.a_suspended(1, slots(cpu=2, mem=3), holds=slots(mem=3)))

    assert (plan.action, plan.mode, plan.frees_place) == (ACTION.REQUEUE_SUSPENDED, MODE.RESCHEDULE, False)
    assert plan.total() == {"mem": 3}


def test_a_session_on_two_nodes_frees_on_both():
    plan = _plan(factories.a_running(1, slots(cpu=2), on=(1, 2)))

    assert (plan.on(1), plan.on(2), plan.on(3)) == (slots(cpu=2), slots(cpu=2), slots())
    assert plan.total() == {"cpu": 4}


@pytest.mark.parametrize(
    ("more", "is_releasing", "is_stuck"),
    [
        ({"state": S.RUNNING}, False, False),
        ({"state": S.PREEMPTED}, True, False),
        ({"state": S.STOPPING, "stop_deadline": factories.NOW}, True, False),
        ({"state": S.TERMINATING, "stop_deadline": factories.NOW - 1}, False, True),
        ({"state": S.PREEMPTED, "is_withdrawing": True}, False, False),
        ({"state": S.SCHEDULED}, False, False),
        ({"state": S.SCHEDULED, "in_decision": True}, True, False),
    ],
)
def test_releasing_until_the_deadline_and_stuck_after_it(more, is_releasing, is_stuck):
    session = factories.a_running(1, **more)

    assert release.is_releasing(session, factories.NOW) is is_releasing
    assert release.is_stuck(session, factories.NOW) is is_stuck


def test_what_a_stop_under_way_frees_follows_its_own_mode():
    partly = dataclasses.replace(factories.ON, suspend_releases=frozenset({"cpu"}))
    suspending = factories.a_running(1, slots(cpu=1, mem=1), state=S.STOPPING, stop_mode=MODE.SUSPEND)
    ending = dataclasses.replace(suspending, stop_mode=None)

    assert release.releases_by_node(suspending, partly) == ((1, slots(cpu=1)),)
    assert release.releases_by_node(ending, partly) == ((1, slots(cpu=1, mem=1)),)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"stop_mode": MODE.TERMINATE}, False),
        ({"stop_mode": MODE.TERMINATE, "stop_deadline": factories.NOW + 10 * factories.SECOND + 1}, True),
        ({"stop_mode": MODE.SUSPEND}, True),
        ({"stop_mode": MODE.SUSPEND, "is_withdrawing": True}, False),
        ({"stop_mode": MODE.SUSPEND, "state": S.TERMINATING}, False),
    ],
)
def test_a_stop_can_be_taken_back_until_its_kill_begins(fields, expected):
    deadline = factories.NOW + 10 * factories.SECOND
    session = factories.a_running(1, **{"state": S.PREEMPTED, "stop_deadline": deadline} | fields)

    assert release.is_reversible(session, factories.NOW) is expected
