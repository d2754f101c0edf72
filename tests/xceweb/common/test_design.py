"""The design page shows every state there is."""

from scheduler.core import entities, states
from xceweb.common import design


def test_no_state_is_missing():
    assert {*design.STATES, "terminated"} == {state.value for state in states.SessionState}
    assert set(design.RESULTS) == {result.value for result in states.Result}
    assert set(design.NODE_STATES) == {state.value for state in entities.NodeState}
    assert set(design.QUEUE_STATES) == {state.value for state in entities.QueueState}
