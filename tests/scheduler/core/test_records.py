"""What is recorded of a decision."""

from __future__ import annotations

import dataclasses

import pytest

from scheduler.core import decisions, entities, records, states
from scheduler.core.preemption import policy
from tests import factories
from tests.factories import slots

R, V = decisions.PendReason, decisions.Verdict


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

    assert _verdicts(stop) == {1: V.SELECTED, 2: V.NOT_NEEDED, 3: V.NODE_RULED_OUT}
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


QUEUES = (
    factories.a_queue(1, preemptible_queues=frozenset({2})),
    factories.a_queue(2, preemptible=True),
)


def _low(session_id, cpus, **more):
    """Return a session of another owner that session 9 may stop over the queues."""
    fields = {"owner_id": 2, "queue_id": 2, "priority": -1} | more
    return factories.a_running(session_id, slots(cpu=cpus), **fields)


def _pend(*sessions, policies=None, request=4, asks=None, **more):
    """Return what session 9 is told by a round of which nobody is stopped."""
    own = {"policies": {"lowest_priority_first": policies}} if policies else {}
    view = factories.a_snapshot(
        [*sessions, factories.a_session(9, slots(cpu=request), **asks or {})], **{"queues": QUEUES} | more
    )
    (pend,) = factories.decide(view, **own)
    return pend


def _nobody(problem):
    return None


def _fails(problem):
    raise policy.PolicyFailed("did not answer within 1 s")


def test_a_policy_that_chooses_nobody_does_not_make_the_candidates_insufficient():
    nodes = [factories.a_node(1), factories.a_node(2)]
    sessions = [_low(1, 4), _low(2, 3, on=(2,)), factories.a_running(3, slots(cpu=1), on=(2,))]

    pend = _pend(*sessions, policies=_nobody, nodes=nodes)

    assert _verdicts(pend) == {1: V.POLICY_CHOSE_NOBODY, 2: V.INSUFFICIENT, 3: V.NOT_LOWER}


def test_nor_does_a_policy_that_fails_or_is_missing():
    nodes = [factories.a_node(1), factories.a_node(2)]
    sessions = [_low(1, 4), _low(2, 3, on=(2,)), factories.a_running(3, slots(cpu=1), on=(2,))]
    gone = (factories.a_queue(1, preemptible_queues=frozenset({2}), preempt_policy="gone"), QUEUES[1])
    expected = {1: V.POLICY_GAVE_NO_ANSWER, 2: V.INSUFFICIENT, 3: V.NOT_LOWER}

    assert _verdicts(_pend(*sessions, policies=_fails, nodes=nodes)) == expected
    assert _verdicts(_pend(*sessions, nodes=nodes, queues=gone)) == expected


def test_a_limit_is_in_the_way_only_where_the_slots_would_suffice():
    owner = entities.Owner(1, entities.Usage(sessions=1, max_sessions=1))
    nodes = [factories.a_node(1), factories.a_node(2)]
    sessions = [_low(1, 4), _low(2, 3, on=(2,)), factories.a_running(3, slots(cpu=1), on=(2,))]

    pend = _pend(*sessions, nodes=nodes, owners=(owner,))

    assert pend.reason is R.OWNER_LIMIT
    assert _verdicts(pend) == {1: V.LIMIT, 2: V.INSUFFICIENT, 3: V.NOT_LOWER}


@pytest.mark.parametrize(
    ("node", "asked"),
    [
        ({"state": entities.NodeState.DRAINING}, {}),
        ({"labels": {"zone": "a"}}, {"labels": {"zone": frozenset({"b"})}}),
        ({"capacity": slots(cpu=3)}, {}),
        ({}, {"backoff": {2: factories.NOW + factories.SECOND}}),
    ],
)
def test_who_runs_where_no_room_is_made_is_told_so(node, asked):
    nodes = [factories.a_node(1, labels={"zone": "b"}), factories.a_node(2, **node)]
    sessions = [_low(1, 3), _low(2, 3, on=(2,)), factories.a_running(3, slots(cpu=1))]

    pend = _pend(*sessions, nodes=nodes, asks=asked)

    assert _verdicts(pend) == {1: V.INSUFFICIENT, 2: V.NODE_RULED_OUT, 3: V.NOT_LOWER}
    assert pend.candidates[1].facts == {}


def test_suspended_sessions_per_node_are_a_limit_too():
    rules = {"mode": entities.PreemptionMode.SUSPEND, "max_suspended_per_node": 1}
    policy_ = dataclasses.replace(factories.ON, **rules)

    pend = _pend(_low(1, 2), _low(2, 2), policy=policy_)

    assert _verdicts(pend) == {1: V.LIMIT, 2: V.LIMIT}


def test_of_two_axes_an_own_session_is_told_the_one_that_gets_further():
    own = _low(1, 2, owner_id=1, job_priority=-1)

    pend = _pend(own, _low(2, 2), policies=_nobody)

    assert _verdicts(pend) == {1: V.POLICY_CHOSE_NOBODY, 2: V.POLICY_CHOSE_NOBODY}
    assert _verdicts(_pend(own, factories.a_running(2, slots(cpu=2)))) == {1: V.INSUFFICIENT, 2: V.NOT_LOWER}


def test_nor_is_an_own_one_insufficient_where_its_owners_axis_lacks_a_limit_alone():
    usage = entities.Usage(used=slots(cpu=9), sessions=1, max_slots={"cpu": 9})
    full = factories.a_queue(1, preemptible_queues=frozenset({2}), usage=usage)
    running = [_low(1, 2, owner_id=1, job_priority=-1), factories.a_running(2, slots(cpu=2), job_priority=-1)]

    pend = _pend(*running, queues=(full, QUEUES[1]))

    assert _verdicts(pend) == {1: V.LIMIT, 2: V.LIMIT}


def _to_take_over():
    """Return what session 9 may take over and has to add to; in the queue of those that it may stop."""
    leaving = _low(1, 2, state=states.SessionState.PREEMPTED, in_decision=True, stop_deadline=LATER)
    leaving = dataclasses.replace(leaving, stop_mode=entities.PreemptionMode.TERMINATE)
    holder = factories.a_session(8, slots(cpu=2), owner_id=2, queue_id=2, priority=-1)
    kept = entities.Reservation(7, 8, 1, slots(cpu=2), slots(), (1,), LATER)
    return (leaving, _low(2, 2), holder), {"reservations": (kept,)}


LATER = factories.NOW + 15 * factories.SECOND


@pytest.mark.parametrize(
    ("policies", "verdict"), [(_nobody, V.POLICY_CHOSE_NOBODY), (_fails, V.POLICY_GAVE_NO_ANSWER)]
)
def test_with_what_could_be_taken_over_the_stops_might_be_enough(policies, verdict):
    sessions, more = _to_take_over()

    found = _decided(sessions, more, policies)

    assert _verdicts(found[9]) == {1: V.IN_ANOTHER_DECISION, 2: verdict}


def _decided(sessions, more, policies):
    view = factories.a_snapshot([*sessions, factories.a_session(9, slots(cpu=4))], queues=QUEUES, **more)
    return factories.by_session(factories.decide(view, policies={"lowest_priority_first": policies}))


def test_what_is_taken_over_is_not_short_any_more():
    sessions, more = _to_take_over()
    view = factories.a_snapshot([*sessions, factories.a_session(9, slots(cpu=4))], queues=QUEUES, **more)

    stop = factories.preemptions(factories.decide(view))[9]

    assert (stop.takes_over, stop.victim_jobids) == (7, (2,))
    assert (stop.nodes[0].releasing, stop.nodes[0].short) == (slots(cpu=2), slots(cpu=2))


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
