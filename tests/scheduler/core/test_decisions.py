"""What a decision carries for the sake of XCE's callers."""

from __future__ import annotations

import dataclasses

from scheduler.core import decisions
from tests import factories
from tests.factories import slots


def _stop(*priorities: int) -> decisions.Preempt:
    running = [factories.a_running(i, slots(cpu=2), job_priority=p) for i, p in enumerate(priorities, 1)]
    view = factories.a_snapshot([*running, factories.a_session(9, slots(cpu=4))])
    return factories.preemptions(factories.decide(view))[9]


def test_numbers_of_operations_are_those_of_xce():
    numbers = {op.name: int(op) for op in decisions.DecisionOp}

    assert numbers == {"NONE": 0, "DISPATCH": 1, "PEND": 2, "PREEMPT": 3, "NEW_SESSION": 4}


def test_a_preemption_lists_its_victims_and_their_common_signal():
    stop = _stop(2, 1)

    assert (stop.victim_jobids, stop.n_victims, stop.signal, stop.preempting_jobid) == ((2, 1), 2, 15, 9)


def test_different_signals_have_no_common_one():
    stop = _stop(1, 2)
    first, second = stop.victims
    mixed = dataclasses.replace(stop, victims=(first, dataclasses.replace(second, signal=20)))

    assert mixed.signal == 0
