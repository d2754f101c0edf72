"""What is recorded of a decision."""

from __future__ import annotations

import pytest

from scheduler.core import decisions, records
from tests import factories
from tests.factories import slots

V = decisions.Verdict


def _verdicts(decision):
    return {candidate.session_id: candidate.verdict for candidate in decision.candidates}


def test_a_record_has_one_verdict_for_everybody_and_a_view_of_every_node():
    nodes = [factories.a_node(1), factories.a_node(2, labels={"zone": "b"})]
    sessions = [
        factories.a_running(1, slots(cpu=2), job_priority=1),
        factories.a_running(2, slots(cpu=2), job_priority=2),
        factories.a_running(3, slots(cpu=4), job_priority=0, on=(2,)),
        factories.a_session(9, slots(cpu=2), labels={"zone": frozenset("a")}),
    ]
    nodes[0] = factories.a_node(1, labels={"zone": "a"})

    stop = factories.preemptions(factories.decide(factories.a_snapshot(sessions, nodes=nodes)))[9]

    assert _verdicts(stop) == {1: V.SELECTED, 2: V.NOT_NEEDED, 3: V.FREES_NOTHING_SHORT}
    assert [(view.node_id, view.note) for view in stop.nodes] == [(1, ""), (2, "labels")]
    assert stop.nodes[0].short == slots(cpu=2)


def test_a_victim_of_this_round_is_in_another_decision_for_the_next_preemptor():
    sessions = [factories.a_running(1, slots(cpu=4), job_priority=1), factories.a_session(8, slots(cpu=4))]

    found = factories.decide(factories.a_snapshot([*sessions, factories.a_session(9)]))

    assert _verdicts(factories.by_session(found)[9]) == {1: V.IN_ANOTHER_DECISION}


def test_own_sessions_are_shown_by_the_owner_axis_and_others_by_the_queue_axis():
    sessions = [
        factories.a_running(1, slots(cpu=2)),
        factories.a_running(2, slots(cpu=2), owner_id=2, queue_id=2),
        factories.a_session(9),
    ]

    (pend,) = factories.decide(factories.a_snapshot(sessions))

    assert _verdicts(pend) == {1: V.NOT_LOWER, 2: V.QUEUE_NOT_LISTED}


def test_the_verdicts_in_pends_are_bounded(monkeypatch):
    sessions = [
        factories.a_running(1, slots(cpu=4)),
        factories.a_session(8),
        factories.a_session(9, slots(cpu=2)),
    ]
    monkeypatch.setattr(records, "MOST_RECORDED", 1)

    found = factories.by_session(factories.decide(factories.a_snapshot(sessions)))

    assert [len(found[i].candidates) for i in (8, 9)] == [1, 0]


@pytest.mark.parametrize("count", [1, 2])
def test_a_wait_and_a_preemption_tell_node_and_number_of_sessions(count):
    sessions = [factories.a_running(i, slots(cpu=4 // count), job_priority=1) for i in range(1, count + 1)]

    found = factories.decide(factories.a_snapshot([*sessions, factories.a_session(9, slots(cpu=4))]))

    assert factories.by_session(found)[9].facts == {"node": "n1", "sessions": count}
