"""The checker finds what is planted."""

from __future__ import annotations

import dataclasses

import pytest

from scheduler.core import decisions, entities, invariants, states
from tests import factories
from tests.factories import slots

AXIS, S = entities.Axis, states.SessionState
OFF = dataclasses.replace(factories.ON, state=entities.PreemptionState.OFF)
DEVICES = factories.a_node(capacity=slots(cpu=9, cuda_device=2))


def _device(session_id, index):
    return factories.a_running(session_id, slots(cpu=1, cuda_device=1), indices={"cuda.device": (index,)})


def _kept(**more):
    fields = {
        "id": 1,
        "session_id": 9,
        "node_id": 1,
        "slots": slots(cpu=1),
        "drawn": slots(),
        "victim_ids": (),
    }
    return entities.Reservation(**fields | {"deadline": factories.NOW} | more)


@pytest.mark.parametrize(
    ("sessions", "more", "words"),
    [
        ([factories.a_running(1, slots(cpu=5))], {}, "gives 5 of cpu"),
        ([_device(1, 0), _device(2, 0)], {"nodes": [DEVICES]}, "twice"),
        ([_device(1, 7)], {"nodes": [DEVICES]}, "does not have"),
        ([factories.a_session(1), factories.a_session(1)], {}, "listed twice"),
        ([factories.a_running(1, state=S.PENDING)], {}, "holds slots"),
        ([factories.a_running(1, allocations=())], {}, "holds nothing"),
        ([factories.a_running(1, on=(1, 1))], {}, "two allocations"),
        ([], {"reservations": (_kept(),)}, "does not wait"),
        ([factories.a_session(9)], {"reservations": (_kept(), _kept(id=2))}, "two reservations"),
        ([factories.a_session(9)], {"reservations": (_kept(drawn=slots(cpu=2)),)}, "more than it asks"),
    ],
)
def test_p01_a_planted_contradiction_in_a_snapshot_is_found(sessions, more, words):
    found = invariants.check_snapshot(factories.a_snapshot(sessions, **more))

    assert any(words in finding for finding in found)


def _start(session_id, *, cpu=1, indices=None):
    return decisions.Dispatch(session_id, (decisions.NodeGrant(1, slots(cpu=cpu), indices or {}),))


@pytest.mark.parametrize(
    ("decision", "more", "words"),
    [
        ([], {}, "got the answers"),
        ([_start(9), _start(9)], {}, "got the answers"),
        ([_start(9, cpu=2)], {}, "the round gives 5 of cpu"),
        ([_start(9)], {"nodes": [factories.a_node(max_sessions=1)]}, "gets 2 sessions of 1"),
        ([_start(9, indices={"cuda.device": (7,)})], {"nodes": [DEVICES]}, "does not have"),
        (
            [_start(9)],
            {"owners": (entities.Owner(1, entities.Usage(used=slots(cpu=3), max_slots={"cpu": 3})),)},
            "more cpu",
        ),
        (
            [_start(9)],
            {"owners": (entities.Owner(1, entities.Usage(sessions=1, max_sessions=1)),)},
            "more sessions",
        ),
    ],
)
def test_p01_a_planted_fault_in_a_round_is_found(decision, more, words):
    view = factories.a_snapshot([factories.a_running(1, slots(cpu=3)), factories.a_session(9)], **more)

    assert any(words in finding for finding in invariants.check_decisions(view, decision))


def _stop():
    view = factories.a_snapshot(
        [factories.a_running(1, slots(cpu=4), job_priority=1), factories.a_session(9)]
    )
    return view, factories.decide(view)


def test_a_good_round_has_no_finding():
    view, found = _stop()

    assert invariants.check_decisions(view, found) == []


def test_p12_a_preemption_while_off_is_found():
    view, found = _stop()

    findings = invariants.check_decisions(dataclasses.replace(view, policy=OFF), found)

    assert findings == ["preemption is off and the round preempts"]


def test_a_preemption_without_its_pend_and_a_victim_stopped_twice_are_found():
    view, (stop, pend) = _stop()

    assert any("not followed" in finding for finding in invariants.check_decisions(view, [pend, stop]))
    twice = dataclasses.replace(stop, victims=stop.victims * 2)
    assert any("stopped twice" in finding for finding in invariants.check_decisions(view, [twice, pend]))


def _handed_over(**holder):
    waits = factories.a_session(8, slots(cpu=1), **{"job_priority": 1} | holder)
    taker = factories.a_session(9, slots(cpu=1), job_priority=9)
    victim = factories.a_running(
        1, slots(cpu=4), state=S.PREEMPTED, job_priority=0, stop_deadline=factories.NOW
    )
    kept = entities.Reservation(7, 8, 1, slots(cpu=1), slots(), (1,), factories.NOW)
    view = factories.a_snapshot([victim, waits, taker], reservations=(kept,))
    stop, pend = factories.decide(factories.a_snapshot([dataclasses.replace(victim, state=S.RUNNING), taker]))
    taken = dataclasses.replace(stop, victims=(), takes_over=7, releasing_ids=(1,))
    return view, [taken, pend, decisions.Pend(8, decisions.PendReason.NO_RESOURCES, {})]


def test_a_takeover_from_one_behind_that_may_be_stopped_is_well():
    assert invariants.check_decisions(*_handed_over()) == []


@pytest.mark.parametrize(
    ("plant", "words"),
    [
        (lambda found: [found[2], *found[:2]], "from one ahead of it"),
        (lambda found: [dataclasses.replace(found[0], takes_over=6), *found[1:]], "what is not there"),
        (lambda found: [*found[:2], *found[:2], found[2]], "what is not there"),
    ],
)
def test_a_takeover_that_must_not_be_is_found(plant, words):
    view, found = _handed_over()

    assert any(words in finding for finding in invariants.check_decisions(view, plant(found)))


def test_a_takeover_from_one_that_could_not_be_stopped_is_found():
    findings = invariants.check_decisions(*_handed_over(is_preemptible=False))

    assert findings == ["session 9 takes over from session 8: opted out, private or system"]


QUEUES = (
    factories.a_queue(1, preemptible_queues=frozenset({2, 3})),
    factories.a_queue(2, preemptible=True),
    factories.a_queue(3),
)
RULES = dataclasses.replace(factories.ON, min_runtime_s=600, max_preemptions_per_session=1)


@pytest.mark.parametrize(
    ("axis", "victim", "words"),
    [
        (AXIS.OWNER, {}, ""),
        (AXIS.OWNER, {"owner_id": 2}, "another owner"),
        (AXIS.OWNER, {"job_priority": 9}, "not lower"),
        (AXIS.QUEUE, {"queue_id": 2}, ""),
        (AXIS.QUEUE, {}, "queue not listed"),
        (AXIS.QUEUE, {"queue_id": 3}, "not preemptible"),
        (AXIS.QUEUE, {"queue_id": 2, "priority": 9}, "priority not lower"),
        (AXIS.QUEUE, {"queue_id": 2, "job_priority": 10}, "ranked higher"),
        (AXIS.OWNER, {"state": S.SCHEDULED}, "not running"),
        (AXIS.OWNER, {"in_decision": True}, "another decision"),
        (AXIS.OWNER, {"is_private": True}, "private"),
        (AXIS.OWNER, {"is_preemptible": False}, "opted out"),
        (AXIS.OWNER, {"times_preempted": 1}, "too often"),
        (AXIS.OWNER, {"started_at": factories.NOW - 1}, "minimum runtime"),
    ],
)
def test_p07_an_illegal_victim_is_found(axis, victim, words):
    preemptor = factories.a_session(9, priority=9, job_priority=9)
    candidate = factories.a_running(1, **{"priority": 1, "job_priority": 1} | victim)
    view = factories.a_snapshot([candidate, preemptor], queues=QUEUES, policy=RULES)

    reason = invariants.why_illegal(view, preemptor, candidate, axis)

    assert words in reason
    assert bool(words) == bool(reason)


@pytest.mark.parametrize(
    ("state", "rule"), [(S.SCHEDULED, "cancel_unconfirmed_dispatch"), (S.SUSPENDED, "requeue_suspended")]
)
def test_a_rule_opens_further_states(state, rule):
    candidate = factories.a_running(1, state=state, job_priority=1)
    view = factories.a_snapshot([candidate], policy=dataclasses.replace(factories.ON, **{rule: True}))

    assert invariants.why_illegal(view, factories.a_session(9), candidate, AXIS.OWNER) == ""
