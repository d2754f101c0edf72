"""What would have spared a victim: each stated value works, and one step less does not."""

from __future__ import annotations

import dataclasses

import pytest

from scheduler.core.counterfactuals import answers, changes, reruns, victims
from tests import factories
from tests.factories import slots
from tests.scheduler.core.counterfactuals import draws

K = answers.Kind
pytestmark = pytest.mark.timeout(draws.TIMEOUT_S)
RULES = factories.ON
_FIELDS = {K.SPARED_JOB_PRIORITY: "job_priority", K.SPARED_PRIORITY: "priority"}


def ask(view, session_id=1, preemptor_id=9, **more):
    """Return the answers by kind."""
    found = victims.spared(view, session_id, preemptor_id, rounds=reruns.Rounds(**more))
    return {one.kind: one for one in found.found}


def is_spared(view, session_id, **fields):
    """Run the changed round whole, without any help of the code under test."""
    changed = changes.of_session(view, session_id, **fields)
    return all(
        session_id not in stop.victim_jobids
        for stop in factories.preemptions(factories.decide(changed)).values()
    )


def test_on_the_owner_axis_the_preemptors_rank_would_have_spared_it():
    running = factories.a_running(1, slots(cpu=4), job_priority=5)
    view = factories.a_snapshot([running, factories.a_session(9, job_priority=20)])

    assert ask(view)[K.SPARED_JOB_PRIORITY] == answers.Counterfactual(
        K.SPARED_JOB_PRIORITY, True, {"own": 5, "value": 20}
    )


def test_with_another_lower_session_beside_it_a_little_more_is_enough_and_shows_that_session():
    running = [factories.a_running(n, slots(cpu=2), job_priority=n) for n in (1, 2)]
    view = factories.a_snapshot([*running, factories.a_session(9, slots(cpu=2), job_priority=20)])

    found = ask(view)[K.SPARED_JOB_PRIORITY]

    assert (found.facts, found.rests_on) == ({"own": 1, "value": 3}, frozenset({2}))


def test_a_job_priority_that_only_moves_the_stop_to_the_queue_axis_spares_nobody():
    running = factories.a_running(1, slots(cpu=4), job_priority=5, queue_id=2, priority=1)
    preemptor = factories.a_session(9, job_priority=20, priority=50)
    queues = [factories.a_queue(1, preemptible_queues=frozenset({2})), factories.a_queue(2, preemptible=True)]
    view = factories.a_snapshot([running, preemptor], queues=tuple(queues))

    found = ask(view)[K.SPARED_JOB_PRIORITY]

    assert found.facts["value"] == 21  # the queue axis never goes below the owner's own ranking
    assert not is_spared(view, 1, job_priority=20)


def queue_axis(*sessions, **rules):
    queues = (factories.a_queue(1, preemptible_queues=frozenset({2})), factories.a_queue(2, preemptible=True))
    policy = dataclasses.replace(RULES, **rules)
    return factories.a_snapshot(sessions, queues=queues, policy=policy)


def test_on_the_queue_axis_the_priority_is_what_counts():
    running = factories.a_running(1, slots(cpu=4), owner_id=2, queue_id=2, priority=5)

    found = ask(queue_axis(running, factories.a_session(9, priority=40)))

    assert found[K.SPARED_PRIORITY].facts == {"own": 5, "value": 40}
    assert K.SPARED_JOB_PRIORITY not in found


def test_a_later_start_within_the_minimum_runtime_would_have_spared_it():
    running = factories.a_running(
        1, slots(cpu=4), owner_id=2, queue_id=2, priority=5, started_at=factories.NOW - 779 * factories.SECOND
    )
    view = queue_axis(running, factories.a_session(9, priority=40), min_runtime_s=600)

    assert ask(view)[K.SPARED_LATER_START].facts == {"seconds": 180, "min_runtime": 600}


def test_opting_out_would_have_spared_it_unless_it_had():
    running = factories.a_running(1, slots(cpu=4), job_priority=5)
    view = factories.a_snapshot([running, factories.a_session(9, job_priority=20)])

    assert ask(view)[K.SPARED_OPT_OUT].helps


def test_a_round_that_comes_out_otherwise_gives_no_answers():
    running = factories.a_running(1, slots(cpu=4), job_priority=50)
    view = factories.a_snapshot([running, factories.a_session(9, job_priority=20)])

    found = victims.spared(view, 1, 9, rounds=reruns.Rounds())

    assert found == answers.Answers(is_same=False)


@pytest.mark.parametrize("most", [0, 1, 2, 3])
def test_a_budget_that_ends_leaves_what_was_found(most):
    running = factories.a_running(1, slots(cpu=4), job_priority=5)
    view = factories.a_snapshot([running, factories.a_session(9, job_priority=20)])

    found = victims.spared(view, 1, 9, rounds=reruns.Rounds(most=most))

    assert not found.is_complete


def checked(view) -> int:
    """Ask for every victim of a round, apply each answer and one step less; return of how many there were answers."""
    count = 0
    for preemptor_id, stop in factories.preemptions(factories.decide(view)).items():
        for session_id in stop.victim_jobids:
            found = victims.spared(view, session_id, preemptor_id, rounds=reruns.Rounds(most=5_000))
            assert found.is_same
            assert found.is_complete
            for answer in found.found:
                _CHECKS[answer.kind](view, changes.session(view, session_id), answer)
            count += bool(found.found)
    return count


def _check_rank(view, victim, answer):
    name, facts = _FIELDS[answer.kind], answer.facts
    if not answer.helps:
        top = max(getattr(s, name) for s in view.sessions) + 1
        return [
            pytest.fail(f"{value} spares")
            for value in range(facts["own"], top + 1)
            if is_spared(view, victim.id, **{name: value})
        ]
    assert is_spared(view, victim.id, **{name: facts["value"]})
    for less in range(facts["own"], facts["value"]):
        assert not is_spared(view, victim.id, **{name: less})
    _check_upper_end(view, victim, answer)


def _check_upper_end(view, victim, answer):
    name, facts = _FIELDS[answer.kind], answer.facts
    top = max(getattr(s, name) for s in view.sessions) + 1
    most = facts.get("most", top + 20)
    for value in range(facts["value"], most + 1):
        assert is_spared(view, victim.id, **{name: value})
    if "most" in facts:
        assert not is_spared(view, victim.id, **{name: most + 1})


def _check_later(view, victim, answer):
    later = victim.started_at + answer.facts["seconds"] * factories.SECOND
    assert later <= view.now
    assert is_spared(view, victim.id, started_at=later)
    assert not is_spared(view, victim.id, started_at=later - factories.SECOND)


def _check_opt_out(view, victim, answer):
    assert answer.helps == is_spared(view, victim.id, is_preemptible=False)
    assert not is_spared(view, victim.id)


_CHECKS = {
    K.SPARED_JOB_PRIORITY: _check_rank,
    K.SPARED_PRIORITY: _check_rank,
    K.SPARED_LATER_START: _check_later,
    K.SPARED_OPT_OUT: _check_opt_out,
}


@pytest.mark.parametrize("part", draws.PARTS)
def test_every_stated_value_works_and_none_below_it_does(part, record_property):
    asked = draws.ask(part, checked)

    record_property("victims", asked)
    assert asked >= draws.WANTED / len(draws.PARTS)
