"""Who is looked at first."""

from __future__ import annotations

import dataclasses

import pytest

from scheduler.core import entities, ordering
from tests import factories

QUEUE_ONLY = dataclasses.replace(factories.ON, scope=entities.PreemptionScope.QUEUE)
OFF = dataclasses.replace(factories.ON, state=entities.PreemptionState.OFF)


def _line(*sessions, **more):
    return [session.id for session in ordering.waiting(factories.a_snapshot(sessions, **more))]


def test_higher_priority_first_then_the_earlier_submit_then_the_id():
    same = {"submitted_at": factories.NOW}
    sessions = [
        factories.a_session(1, priority=5),
        factories.a_session(4, priority=9, owner_id=2, **same),
        factories.a_session(3, priority=9, owner_id=3, **same),
        factories.a_session(2, priority=9, owner_id=4, submitted_at=factories.NOW - 1),
    ]

    assert _line(*sessions) == [2, 3, 4, 1]


def test_suspended_sessions_stand_in_the_same_line_and_others_do_not():
    assert _line(factories.a_session(2), factories.a_suspended(1), factories.a_running(3)) == [1, 2]


def test_one_owners_sessions_fill_the_owners_places_by_job_priority_and_others_stay():
    sessions = [
        factories.a_session(1, job_priority=1),
        factories.a_session(2, owner_id=2, job_priority=0),
        factories.a_session(3, job_priority=9),
        factories.a_session(4, job_priority=9),
    ]

    assert _line(*sessions) == [3, 2, 4, 1]


def test_a_suspended_victim_stands_behind_its_owners_higher_sessions():
    assert _line(factories.a_suspended(1, job_priority=1), factories.a_session(2, job_priority=9)) == [2, 1]


@pytest.mark.parametrize("policy", [QUEUE_ONLY, OFF], ids=["scope queue", "off"])
def test_without_the_owner_axis_job_priority_moves_nobody(policy):
    sessions = [factories.a_session(1, job_priority=1), factories.a_session(2, job_priority=9)]

    assert _line(*sessions, policy=policy) == [1, 2]


def test_sessions_of_several_nodes_and_of_other_priorities_keep_their_places():
    sessions = [
        factories.a_session(1, job_priority=1, node_count=2),
        factories.a_session(2, job_priority=5),
        factories.a_session(3, job_priority=9, priority=5),
    ]

    assert _line(*sessions) == [1, 2, 3]
