"""Wait, stop or nothing; and what a policy's answer must stand up to."""

from __future__ import annotations

import dataclasses

import pytest

from scheduler.core import decisions, entities, resources, states
from scheduler.core.preemption import planning, policy, shipped
from tests import factories
from tests.factories import slots

R = decisions.PendReason
QUEUES = (
    factories.a_queue(1, name="urgent", preemptible_queues=frozenset({2}), preempt_policy="odd"),
    factories.a_queue(2, preemptible=True),
)


def _view(**more):
    running = [
        factories.a_running(i, slots(cpu=2), owner_id=2, queue_id=2, priority=i, on=(node_id,))
        for i, node_id in ((1, 1), (2, 1), (3, 2), (4, 2))
    ]
    safe = factories.a_running(5, slots(cpu=4), owner_id=2, queue_id=1, on=(3,))
    nodes = [factories.a_node(i) for i in (1, 2, 3)]
    waiting = factories.a_session(9, slots(cpu=2), priority=50)
    return factories.a_snapshot([*running, safe, waiting], nodes=nodes, queues=QUEUES, **more)


def _decide(chooser):
    found = factories.decide(_view(), policies={"odd": chooser})
    return factories.preemptions(found), factories.by_session(found)[9]


def _answering(node_id, *victim_ids):
    return lambda problem: policy.Answer(node_id, victim_ids)


def _raise(problem):
    raise ZeroDivisionError


def _give_up(problem):
    raise policy.PolicyFailed("no licence")


def test_a_plug_in_sees_legal_candidates_only_and_its_choice_is_taken():
    seen = []

    def choose(problem):
        seen.extend(c.session_id for target in problem.targets for c in target.candidates)
        return policy.Answer(2, (4,))

    stops, pend = _decide(choose)

    assert sorted(seen) == [1, 2, 3, 4]
    assert (stops[9].victim_jobids, stops[9].policy_name, stops[9].is_fewest_proved) == ((4,), "odd", True)
    assert pend.reason is R.AWAITING_VICTIMS


@pytest.mark.parametrize(
    ("chooser", "words"),
    [
        (_answering(3, 5), "not offered"),
        (_answering(1, 5), "may not be stopped"),
        (_answering(1, 3), "may not be stopped"),
        (_answering(1, 99), "may not be stopped"),
        (_answering(1), "none"),
        (_answering(1, 1, 1), "twice"),
        (_answering(1, 1, 2), "not needed"),
        (_raise, "ZeroDivisionError"),
        (_give_up, "no licence"),
    ],
)
def test_p07_p11_a_bad_answer_is_refused_and_seen(chooser, words):
    stops, pend = _decide(chooser)

    assert stops == {}
    assert pend.reason is R.POLICY_FAILED
    assert words in pend.facts["policy"]


@pytest.mark.parametrize("chooser", [_answering(3, 5), _raise])
def test_p11_a_policy_that_failed_is_not_asked_again_in_that_round(chooser):
    asked = []
    view = _view()
    more = [factories.a_session(i, slots(cpu=1), priority=50) for i in (10, 11)]
    view = dataclasses.replace(view, sessions=(*view.sessions, *more))

    found = factories.decide(view, policies={"odd": lambda problem: asked.append(1) or chooser(problem)})

    assert len(asked) == 1
    assert {R.POLICY_FAILED} == {pend.reason for pend in factories.by_session(found).values()}
    assert {"the preemption policy odd"} == {pend.facts["policy"][:25] for pend in found}


def test_victims_that_do_not_free_enough_are_refused():
    large = dataclasses.replace(factories.a_session(9, slots(cpu=4)), priority=50)
    view = _view()
    view = dataclasses.replace(view, sessions=(*view.sessions[:-1], large))

    found = factories.decide(view, policies={"odd": _answering(1, 1)})

    assert "do not free enough" in factories.by_session(found)[9].facts["policy"]


def test_a_policy_that_finds_nothing_lets_the_session_wait_for_room():
    stops, pend = _decide(lambda problem: None)

    assert (stops, pend.reason) == ({}, R.NO_RESOURCES)


def test_a_failed_queue_policy_does_not_keep_an_owner_from_its_own_sessions():
    own = factories.a_running(1, slots(cpu=4), job_priority=1)
    view = factories.a_snapshot([own, factories.a_session(9)], queues=QUEUES)

    assert factories.preemptions(factories.decide(view))[9].axis is entities.Axis.OWNER


def test_more_suspended_sessions_than_a_node_may_hold_are_refused():
    rules = dataclasses.replace(factories.ON, mode=entities.PreemptionMode.SUSPEND, max_suspended_per_node=1)
    view = _view(policy=rules)
    large = factories.a_session(9, slots(cpu=4), priority=50)
    view = dataclasses.replace(view, sessions=(*view.sessions[:-1], large))

    found = factories.decide(view, policies={"odd": _answering(1, 1, 2)})

    assert "more sessions than one node may hold" in factories.by_session(found)[9].facts["policy"]


def test_of_several_nodes_to_wait_for_the_one_that_is_through_first_is_kept():
    def stopping(session_id, node_id, deadline):
        fields = {"state": states.SessionState.TERMINATING, "stop_deadline": factories.NOW + deadline}
        return factories.a_running(session_id, slots(cpu=4), on=(node_id,), **fields)

    nodes = [factories.a_node(1), factories.a_node(2)]
    view = factories.a_snapshot([stopping(1, 1, 9), stopping(2, 2, 5), factories.a_session(9)], nodes=nodes)

    (pend,) = factories.decide(view)

    assert (pend.wait.node_id, pend.wait.releasing_ids) == (2, (2,))


def test_a_search_that_ran_out_of_steps_says_so(monkeypatch):
    monkeypatch.setattr(planning, "STEPS", 0)

    found = factories.decide(_view(), policies={"odd": shipped.FOR_QUEUES[shipped.DEFAULT]})

    stop = factories.preemptions(found)[9]
    assert (stop.n_victims, stop.is_fewest_proved, stop.proof.is_best) == (1, True, False)


def test_what_is_left_of_the_rounds_steps_goes_into_each_decision(monkeypatch):
    monkeypatch.setattr(planning, "ROUND_STEPS", 7)
    given = []

    def choose(problem):
        given.append(problem.steps)
        answer = shipped.FOR_QUEUES[shipped.DEFAULT](problem)
        return None if answer is None else dataclasses.replace(answer, steps=5)

    sessions = [
        dataclasses.replace(s, id=s.id + 100 * i) for i in range(2) for s in _view().sessions if s.id == 9
    ]
    view = dataclasses.replace(_view(), sessions=(*(s for s in _view().sessions if s.id != 9), *sessions))
    factories.decide(view, policies={"odd": choose})

    assert given == [7, 2]


def test_a_queue_whose_policy_is_gone_takes_nothing_over():
    """Before, it took a reservation that needed no victim, in the name of the default policy."""
    queues = (
        factories.a_queue(1, preemptible_queues=frozenset({2, 3}), preempt_policy="gone"),
        factories.a_queue(2, preemptible=True, preemptible_queues=frozenset({3})),
        factories.a_queue(3, preemptible=True),
    )
    leaving = dataclasses.replace(
        factories.a_running(1, slots(cpu=4), owner_id=3, queue_id=3, priority=1),
        state=states.SessionState.PREEMPTED,
        in_decision=True,
        stop_mode=entities.PreemptionMode.TERMINATE,
        stop_deadline=factories.NOW + 20 * factories.SECOND,
    )
    holder = factories.a_session(2, slots(cpu=4), owner_id=2, queue_id=2, priority=5)
    taker = factories.a_session(3, slots(cpu=4), owner_id=1, queue_id=1, priority=20)
    until = factories.NOW + 60 * factories.SECOND
    room = entities.Reservation(1, 2, 1, slots(cpu=4), resources.EMPTY, (1,), until)

    def answers(name):
        named = (dataclasses.replace(queues[0], preempt_policy=name), *queues[1:])
        view = factories.a_snapshot(
            [leaving, holder, taker], queues=named, reservations=(room,), edges=(entities.Edge(2, 1),)
        )
        return factories.by_session(factories.decide(view))[3]

    assert answers("gone").reason is R.POLICY_FAILED
    assert answers("").reason is not R.POLICY_FAILED
