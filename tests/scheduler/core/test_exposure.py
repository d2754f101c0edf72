"""Whom rules would let be stopped, whoever comes."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given, settings

from scheduler.core import decisions, entities, exposure, preview
from scheduler.core.preemption import shipped
from tests import factories, strategies
from tests.factories import slots

V, Scope = decisions.Verdict, entities.PreemptionScope
LISTED = (factories.a_queue(1, preemptible_queues=frozenset({2})), factories.a_queue(2, preemptible=True))


def _of(session, *, queues=LISTED, **rules):
    view = factories.a_snapshot([session], queues=queues)
    (found,) = exposure.of_running(view, dataclasses.replace(factories.ON, **rules))
    return found


@pytest.mark.parametrize(
    ("scope", "queue_id", "by_owner", "by_queues"),
    [
        (Scope.OWNER, 2, True, False),
        (Scope.QUEUE, 2, False, True),
        (Scope.OWNER_THEN_QUEUE, 2, True, True),
        (Scope.OWNER_THEN_QUEUE, 1, True, False),
    ],
)
def test_who_may_stop_it_is_told_by_axis(scope, queue_id, by_owner, by_queues):
    found = _of(factories.a_running(1, queue_id=queue_id), scope=scope)

    assert (found.by_owner, found.by_queues, found.shield, found.is_open) == (by_owner, by_queues, None, True)


@pytest.mark.parametrize(
    ("session", "rules", "shield"),
    [
        ({"is_preemptible": False}, {}, V.OPTED_OUT),
        ({"is_private": True}, {}, V.PRIVATE_OR_SYSTEM),
        ({"in_decision": True}, {}, V.IN_ANOTHER_DECISION),
        ({}, {"min_runtime_s": 10**6}, V.MIN_RUNTIME),
        ({"times_preempted": 2}, {"max_preemptions_per_session": 2}, V.PREEMPTED_TOO_OFTEN),
        ({"queue_id": 1}, {"scope": Scope.QUEUE}, V.QUEUE_NOT_PREEMPTIBLE),
        ({"priority": 100}, {"scope": Scope.QUEUE}, V.NOT_LOWER),
        ({"job_priority": entities.MOST_JOB_PRIORITY}, {"scope": Scope.OWNER}, V.NOT_LOWER),
    ],
)
def test_what_protects_it_from_everybody_is_named(session, rules, shield):
    found = _of(factories.a_running(1, **{"queue_id": 2, **session}), **rules)

    assert (found.is_open, found.shield) == (False, shield)


def test_a_queue_that_none_lists_or_that_lists_itself_takes_from_nobody():
    queues = (factories.a_queue(2, preemptible=True, preemptible_queues=frozenset({2})),)

    assert (
        _of(factories.a_running(1, queue_id=2), queues=queues, scope=Scope.QUEUE).shield is V.QUEUE_NOT_LISTED
    )


def test_a_queue_that_serves_the_group_no_more_takes_from_nobody():
    first = dataclasses.replace(LISTED[0], serves_group=False)

    assert not _of(factories.a_running(1, queue_id=2), queues=(first, LISTED[1]), scope=Scope.QUEUE).is_open


@settings(max_examples=50, deadline=None)
@given(strategies.snapshots())
def test_whoever_is_stopped_was_exposed(view):
    rules = dataclasses.replace(view.policy, state=entities.PreemptionState.ON)
    exposed = {one.session_id for one in exposure.of_running(view, rules) if one.is_open}

    found = preview.would_preempt(view, rules, policies=shipped.FOR_QUEUES)

    stopped = {pk for one in found if isinstance(one, decisions.Preempt) for pk in one.victim_jobids}
    assert stopped <= exposed


def test_free_slots_have_no_part_in_it():
    assert _of(factories.a_running(1, slots(cpu=1), queue_id=2)).is_open
