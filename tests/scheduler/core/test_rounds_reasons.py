"""Each headline reason out of a real round, and which one wins: the tiers of ECOSYSTEM D.4."""

from __future__ import annotations

import dataclasses
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler.core import decisions, entities, explain, ordering, snapshot, states
from tests import factories, strategies
from tests.factories import slots

R, D = decisions.PendReason, entities.DependencyState
NOW, SECOND = factories.NOW, factories.SECOND
OFF = dataclasses.replace(factories.ON, state=entities.PreemptionState.OFF)
STOPPED = factories.a_queue(state=entities.QueueState.STOPPED)
GONE = factories.a_queue(serves_group=False)
TWO = (factories.a_node(1), factories.a_node(2))
FULL = factories.a_running(1, slots(cpu=4))
LOW = dataclasses.replace(FULL, job_priority=1)
LIMIT = entities.Usage(used=slots(cpu=3), sessions=1, max_slots={"cpu": 4})
KEPT = entities.Reservation(1, 8, 1, slots(cpu=4), slots(cpu=2), (1,), NOW + SECOND)
STOPPING = factories.a_running(
    1, slots(cpu=2), state="preempted", stop_mode=entities.PreemptionMode.TERMINATE,
    stop_deadline=NOW + SECOND, in_decision=True, owner_id=2,
)  # fmt: skip
FOREIGN = factories.a_queue(preemptible_queues=frozenset({2}), preempt_policy="gone")
LISTED = factories.a_queue(2, preemptible=True)
BACKGROUND = factories.a_running(1, slots(cpu=4), owner_id=2, queue_id=2, priority=5)


def _asked(**more: Any) -> entities.Session:
    return factories.a_session(9, more.pop("request", slots(cpu=2)), **more)


def _longest(**more: Any) -> entities.Session:
    return _asked(waiting_since=NOW - 1800 * SECOND, **more)


#: Reason -> sessions beside which session 9 waits for it, and what else is so in that group.
CASES: dict[R, tuple[list[entities.Session], dict[str, Any]]] = {
    R.HELD: ([_asked(is_held=True)], {}),
    R.UNKNOWN_QUEUE: ([_asked()], {"queues": (GONE,)}),
    R.NO_MATCHING_NODE: ([_asked(labels={"zone": frozenset("z")})], {}),
    R.NODE_UNAVAILABLE: (
        [factories.a_suspended(9)], {"nodes": [factories.a_node(state=entities.NodeState.DOWN)]}
    ),
    R.GROUP_STOPPED: ([_asked()], {"is_starting": False}),
    R.QUEUE_STOPPED: ([_asked()], {"queues": (STOPPED,)}),
    R.DEPENDENCY_IMPOSSIBLE: ([_asked(dependency=D.IMPOSSIBLE)], {}),
    R.DEPENDENCY: ([_asked(dependency=D.WAITING)], {}),
    R.BEGIN_TIME: ([_asked(begin_at=NOW + 1)], {}),
    R.NEVER_FITS: ([_asked(request=slots(cpu=5))], {}),
    R.EXCEEDS_OWNER_LIMIT: (
        [_asked(request=slots(cpu=4), node_count=2)], {"nodes": TWO, "owners": (entities.Owner(1, LIMIT),)}
    ),
    R.EXCEEDS_QUEUE_LIMIT: (
        [_asked(request=slots(cpu=4), node_count=2)], {"nodes": TWO, "queues": (factories.a_queue(usage=LIMIT),)}
    ),
    R.OWNER_LIMIT: ([_asked()], {"owners": (entities.Owner(1, LIMIT),)}),
    R.QUEUE_LIMIT: ([_asked()], {"queues": (factories.a_queue(usage=LIMIT),)}),
    R.POLICY_FAILED: ([BACKGROUND, _asked()], {"queues": (FOREIGN, LISTED)}),
    R.NO_RESOURCES: ([FULL, _asked()], {}),
    R.FRAGMENTED: (
        [factories.a_running(1, slots(cpu=2)), factories.a_running(2, slots(cpu=2), on=(2,)),
         _asked(request=slots(cpu=3))],
        {"nodes": TWO},
    ),
    R.AWAITING_VICTIMS: ([LOW, _asked()], {}),
    R.AWAITING_RELEASE: ([STOPPING, _asked(request=slots(cpu=3))], {}),
    R.HOLDS_CLAIM: ([FULL, _longest()], {}),
    R.ROOM_CLAIMED: ([FULL, factories.a_running(2, slots(cpu=1), on=(2,)), _asked()],
                     {"nodes": TWO, "policy": OFF}),
    R.BEHIND_OTHERS: ([STOPPING, factories.a_session(8, slots(cpu=4)), _asked()], {"reservations": (KEPT,)}),
}  # fmt: skip
#: The holder of a claim on the second node, before session 9 in the line.
CASES[R.ROOM_CLAIMED][0].append(factories.a_session(7, slots(cpu=4), priority=50))
CASES[R.ROOM_CLAIMED][1]["claims"] = (entities.Claim(7, (2,)),)


def _pend(reason: R) -> decisions.Pend:
    sessions, more = CASES[reason]
    pend = factories.by_session(factories.decide(factories.a_snapshot(sessions, **more)))[9]
    assert isinstance(pend, decisions.Pend)
    return pend


@pytest.mark.parametrize("reason", list(CASES))
def test_p13_a_round_comes_to_every_reason_and_its_sentence_has_all_it_needs(reason):
    pend = _pend(reason)

    sentence = explain.pend_sentence(snapshot.to_plain(pend))
    assert pend.reason is reason
    assert " ." not in sentence
    assert " :" not in sentence
    assert "{" not in sentence


def test_p13_no_reason_is_without_a_round_but_that_of_no_round():
    assert set(R) - set(CASES) == {R.NOT_EVALUATED}


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        (R.UNKNOWN_QUEUE, "Its queue q1 does not serve this group any more."),
        (
            R.FRAGMENTED,
            "It needs 0.003 cores on one node. This group has 0.004 cores free, but never more than 0.002 "
            "together; n1 is nearest, 0.001 cores short.",
        ),
        (R.BEHIND_OTHERS, "Enough is free on n1, but it was reserved for other sessions before."),
    ],
)
def test_a_headline_has_its_numbers(reason, expected):
    assert explain.pend_sentence(snapshot.to_plain(_pend(reason))) == expected


def test_what_nobody_reserved_is_not_behind_others():
    pend = factories.by_session(factories.decide(factories.a_snapshot([FULL, _asked()], policy=OFF)))[9]

    assert (pend.reason, "reserved" in pend.facts) == (R.NO_RESOURCES, False)


def test_of_many_reserved_nodes_the_first_are_named():
    nodes = [factories.a_node(i) for i in range(1, 6)]
    full = [dataclasses.replace(FULL, id=i, allocations=(dataclasses.replace(FULL.allocations[0], node_id=i),))
            for i in range(1, 6)]  # fmt: skip
    urgent = [
        factories.a_session(10 + i, slots(cpu=4), owner_id=2, queue_id=2, priority=50) for i in range(5)
    ]
    kept = [
        entities.Reservation(i, 9 + i, i, slots(cpu=4), slots(cpu=2), (i,), NOW + SECOND) for i in range(1, 6)
    ]
    half = [
        dataclasses.replace(one, allocations=(entities.Allocation(one.id, slots(cpu=2)),)) for one in full
    ]
    view = factories.a_snapshot(
        [*half, *urgent, _asked()],
        nodes=nodes,
        reservations=tuple(kept),
        policy=OFF,
        queues=(FOREIGN, LISTED),
    )

    pend = factories.by_session(factories.decide(view))[9]

    assert pend.facts["reserved"] == "n1, n2, n3 and 2 more"


def test_a_session_that_would_not_fit_beside_the_reservation_either_lacks_slots():
    large = [STOPPING, factories.a_session(8, slots(cpu=4)), _asked(request=slots(cpu=3))]

    pend = factories.by_session(factories.decide(factories.a_snapshot(large, reservations=(KEPT,))))[9]

    assert pend.reason is R.NO_RESOURCES


def test_a_session_of_several_nodes_is_fragmented_when_too_few_have_it_all():
    running = [factories.a_running(1, slots(cpu=2)), factories.a_running(2, slots(cpu=1), on=(2,))]
    nodes = [*TWO, factories.a_node(3)]
    view = factories.a_snapshot(
        [*running, _asked(request=slots(cpu=3), node_count=3)], nodes=nodes, policy=OFF
    )

    pend = factories.by_session(factories.decide(view))[9]

    assert (pend.reason, pend.facts["nodes.free"]) == (R.FRAGMENTED, 2)
    assert explain.pend_sentence(snapshot.to_plain(pend)) == (
        "It needs 0.003 cores on each of 3 nodes at once, and 2 nodes have that free now, of 0.009 cores in this "
        "group."
    )


def test_enough_of_each_kind_on_different_nodes_is_fragmented():
    nodes = [factories.a_node(i, capacity=slots(cpu=4, mem=4)) for i in (1, 2)]
    running = [factories.a_running(1, slots(cpu=4)), factories.a_running(2, slots(mem=4), on=(2,))]
    view = factories.a_snapshot([*running, _asked(request=slots(cpu=1, mem=1))], nodes=nodes, policy=OFF)

    pend = factories.by_session(factories.decide(view))[9]

    assert pend.reason is R.FRAGMENTED
    assert "All of it is free in this group, but not together on one node; " in explain.pend_sentence(
        snapshot.to_plain(pend)
    )


def test_a_used_up_limit_goes_before_a_policy_that_failed_and_both_are_told():
    queue = dataclasses.replace(FOREIGN, usage=LIMIT)
    view = factories.a_snapshot([BACKGROUND, _asked()], queues=(queue, LISTED))

    pend = factories.by_session(factories.decide(view))[9]

    assert pend.reason is R.QUEUE_LIMIT
    assert "gone" in str(pend.facts["policy"])


# Which one wins


def test_what_else_stands_in_the_way_is_named_in_order():
    session = _asked(request=slots(cpu=9), begin_at=NOW + 1, is_held=True)

    pend = factories.by_session(factories.decide(factories.a_snapshot([session], queues=(GONE,))))[9]

    assert pend.reason is R.HELD
    assert explain.pend_also(pend.facts) == ["unknown-queue", "begin-time", "never-fits"]


def _hindered(view: snapshot.Snapshot, chance: random.Random) -> snapshot.Snapshot:
    """Return the snapshot with gates and requests that can never start among the waiting."""
    queues = tuple(
        dataclasses.replace(
            queue,
            state=chance.choice((*[entities.QueueState.OPEN] * 5, entities.QueueState.STOPPED)),
            serves_group=chance.random() < 0.9,
        )
        for queue in view.queues
    )
    sessions = tuple(_gated(one, chance) for one in view.sessions)
    is_starting = chance.random() < 0.9
    return dataclasses.replace(view, queues=queues, sessions=sessions, is_starting=is_starting)


def _gated(session: entities.Session, chance: random.Random) -> entities.Session:
    if session.state is not states.SessionState.PENDING:
        return session
    return dataclasses.replace(
        session,
        is_held=chance.random() < 0.1,
        begin_at=chance.choice((None, None, None, NOW, NOW + SECOND)),
        dependency=chance.choice((*[D.MET] * 6, D.WAITING, D.IMPOSSIBLE)),
        labels=chance.choice((session.labels, session.labels, {"zone": frozenset("z")})),
        node_count=chance.choice((session.node_count, session.node_count, 4)),
    )


def _never(view: snapshot.Snapshot, session: entities.Session) -> set[R]:
    """Return, told anew, every reason for which a pending session can never start."""
    queue = next(one for one in view.queues if one.id == session.queue_id)
    owner = next(one for one in view.owners if one.id == session.owner_id)
    with_labels = [n for n in view.nodes if all(n.labels.get(k) in v for k, v in session.labels.items())]
    large = [n for n in with_labels if n.capacity.covers(session.request)]
    found = {
        R.UNKNOWN_QUEUE: not queue.serves_group,
        R.NO_MATCHING_NODE: bool(session.labels) and not with_labels,
        R.DEPENDENCY_IMPOSSIBLE: session.dependency is D.IMPOSSIBLE,
        R.NEVER_FITS: bool(with_labels) and len(large) < session.node_count,
        R.EXCEEDS_OWNER_LIMIT: _is_above(session, owner.usage),
        R.EXCEEDS_QUEUE_LIMIT: _is_above(session, queue.usage),
    }
    return {reason for reason, holds in found.items() if holds}


def _is_above(session: entities.Session, usage: entities.Usage) -> bool:
    most = usage.max_slots.items()
    return any(session.request.get(kind) * session.node_count > limit for kind, limit in most)


#: What is left of the list once nothing forbids a start: tiers from the quota on.
_ROOM = frozenset(list(R)[list(R).index(R.OWNER_LIMIT) :])


@settings(max_examples=300, deadline=None)
@given(st.integers(0, 2**62))
def test_p13_every_waiting_session_has_one_reason_and_those_for_ever_win_over_want_of_room(seed):
    view = _hindered(strategies.random_snapshot(seed, pending=6), random.Random(seed))

    found = factories.decide(view)

    own = [one for one in found if not isinstance(one, decisions.Preempt)]
    by_id = {one.id: one for one in view.sessions}
    answered = [one.session_id for one in own]
    stopped = {i for stop in factories.preemptions(found).values() for i in stop.victim_jobids}
    line = [one.id for one in ordering.waiting(view)]
    assert answered == [i for i in line if i in answered or i not in stopped]
    for one in own:
        session = by_id[one.session_id]
        never = _never(view, session)
        if session.state is not states.SessionState.PENDING:
            continue
        if isinstance(one, decisions.Dispatch):
            assert not never
            continue
        told = [one.reason, *(R(code) for code in explain.pend_also(one.facts))]
        assert never == decisions.NEVER_STARTS.intersection(told)
        assert told == sorted(set(told), key=list(R).index)
        assert not (never and one.reason in _ROOM)
