"""The one table of a session's life."""

from __future__ import annotations

import pytest

from scheduler.core import states

S, T = states.SessionState, states.Trigger


def test_the_table_leads_where_the_specification_says():
    assert S.SCHEDULED is states.next_state(S.PENDING, T.DISPATCH)
    assert S.PREEMPTED is states.next_state(S.RUNNING, T.PREEMPT)
    assert S.SUSPENDED is states.next_state(S.PREEMPTED, T.STOP_PROVEN_SUSPEND)
    assert S.PENDING is states.next_state(S.PREEMPTED, T.STOP_PROVEN_REQUEUE)
    assert S.RUNNING is states.next_state(S.PREEMPTED, T.WITHDRAWN)


@pytest.mark.parametrize("trigger", list(T))
def test_nothing_leads_out_of_the_end(trigger):
    assert not states.can(S.TERMINATED, trigger)
    with pytest.raises(states.ForbiddenTransition, match="terminated"):
        states.next_state(S.TERMINATED, trigger)


@pytest.mark.parametrize("state", sorted(states.TRANSITIONAL))
def test_every_transitional_state_has_a_way_to_the_end_and_a_way_for_a_lost_node(state):
    assert states.can(state, T.ENDED)
    assert states.can(state, T.LOST_END)


def test_a_preempted_session_is_never_a_victim_again():
    assert not states.can(S.PREEMPTED, T.PREEMPT)
    assert not states.can(S.PENDING, T.PREEMPT)
