"""What a round's decisions touch."""

import types

from scheduler.core import decisions
from scheduler.services import decided
from tests import factories

FOUR = factories.slots(cpu=4)


def round_of(*sessions):
    """Return a snapshot, as a round loads it, and the decisions on it by their kind."""
    seen = factories.a_snapshot(list(sessions))
    found = factories.decide(seen)
    kinds = (decisions.Dispatch, decisions.Preempt, decisions.Pend)
    return types.SimpleNamespace(snapshot=seen), *([d for d in found if isinstance(d, k)] for k in kinds)


def test_a_stop_touches_its_preemptor_and_its_victims():
    low = factories.a_running(3, FOUR, job_priority=1)
    loaded, starts, stops, waits = round_of(low, factories.a_session(9, FOUR, job_priority=20))

    assert len(stops) == 1
    assert decided.touched(loaded, starts, stops, waits) == {3, 9}


def test_a_start_touches_its_session_and_a_plain_wait_nobody():
    sessions = [factories.a_session(1, FOUR), factories.a_session(2, is_held=True)]
    loaded, starts, stops, waits = round_of(*sessions)

    assert decided.touched(loaded, starts, stops, waits) == {1}
    assert decided.barred(loaded, waits) == []
