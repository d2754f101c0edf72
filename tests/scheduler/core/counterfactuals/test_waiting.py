"""What would help a waiting session: each stated value works, and one step less does not."""

from __future__ import annotations

import dataclasses

import pytest

from scheduler.core import decisions, entities, units
from scheduler.core.counterfactuals import answers, changes, reruns, waiting
from tests import factories, strategies
from tests.factories import slots
from tests.scheduler.core.counterfactuals import draws

K, OUT = answers.Kind, answers.Outcome
pytestmark = pytest.mark.timeout(draws.TIMEOUT_S)
OFF = dataclasses.replace(factories.ON, state=entities.PreemptionState.OFF)
_RANKS = {K.HIGHER_PRIORITY: "priority", K.HIGHER_JOB_PRIORITY: "job_priority"}


def ask(view, session_id=9, **more):
    """Return the answers, by kind; of several of one kind the last."""
    about = waiting.About(**more)
    found = waiting.would_help(view, session_id, rounds=reruns.Rounds(most=5_000), about=about)
    return {one.kind: one for one in found.found}


def fate(view, session_id):
    """Run the round whole, without leaving out those behind."""
    return reruns.fate_of(factories.decide(view), session_id)


def test_the_largest_request_that_starts_now():
    view = factories.a_snapshot(
        [
            factories.a_running(1, slots(cuda_device=2), indices={"cuda.device": (0, 1)}, job_priority=90),
            factories.a_session(9, slots(cuda_device=4)),
        ],
        nodes=[factories.a_node(capacity=slots(cuda_device=4))],
    )

    found = ask(view)[K.STARTS_WITH_LESS]

    assert found.facts == {"kind": "cuda.device", "asked": 4, "step": 1, "least": 1, "value": 2}


def test_less_of_one_kind_is_no_help_where_another_is_short_too_but_less_of_all_is():
    held = factories.a_running(1, slots(cpu=6, mem=6), priority=90, job_priority=90)
    waits = factories.a_session(9, slots(cpu=8, mem=8))
    view = factories.a_snapshot([held, waits], nodes=[factories.a_node(capacity=slots(cpu=10, mem=10))])

    found = ask(view, kinds={})

    assert not found[K.STARTS_WITH_LESS].helps
    assert found[K.STARTS_SCALED].facts["percent"] == 60
    assert (found[K.STARTS_SCALED].facts["value.cpu"], found[K.STARTS_SCALED].facts["value.mem"]) == (4, 4)


@pytest.mark.parametrize("asked", [1, 2])
def test_of_devices_none_at_all_is_tried_too(asked):
    node = factories.a_node(capacity=slots(cpu=8, **{"cuda.device": 4}))
    busy = factories.a_running(1, slots(cpu=1, **{"cuda.device": 4}), priority=90, job_priority=90)
    view = factories.a_snapshot(
        [busy, factories.a_session(9, slots(cpu=2, **{"cuda.device": asked}))], nodes=[node]
    )
    kinds = {"cuda.device": units.BUILT_IN["cuda.device"]}

    found = waiting.would_help(view, 9, rounds=reruns.Rounds(), about=waiting.About(kinds=kinds)).found

    less = {one.facts["kind"]: one for one in found if one.kind is K.STARTS_WITH_LESS}
    assert (less["cuda.device"].helps, less["cuda.device"].facts["value"]) == (True, 0)


def test_what_has_no_less_is_not_spoken_of():
    busy = factories.a_running(1, slots(cpu=4), priority=90, job_priority=90)
    view = factories.a_snapshot([busy, factories.a_session(9, slots(cpu=1))])

    assert K.STARTS_WITH_LESS not in ask(view, kinds={})


def test_fewer_nodes():
    nodes = [factories.a_node(n) for n in (1, 2, 3)]
    held = factories.a_running(1, slots(cpu=4), on=[3], priority=90, job_priority=90)
    view = factories.a_snapshot([held, factories.a_session(9, slots(cpu=4), node_count=3)], nodes=nodes)

    assert ask(view)[K.STARTS_ON_FEWER_NODES].facts == {"asked": 3, "value": 2}


def test_switching_preemption_on_would_make_room_and_shows_whom_it_would_stop():
    running = factories.a_running(1, slots(cpu=4), job_priority=1)
    view = factories.a_snapshot([running, factories.a_session(9)], policy=OFF)

    assert ask(view)[K.PREEMPTION_ON] == answers.Counterfactual(
        K.PREEMPTION_ON, True, {"outcome": "stops", "victims": 1}, frozenset({1})
    )


def test_switching_on_is_no_question_where_it_is_on():
    running = factories.a_running(1, slots(cpu=4), job_priority=30)

    assert K.PREEMPTION_ON not in ask(factories.a_snapshot([running, factories.a_session(9)]))


def test_the_least_job_priority_that_makes_room():
    running = factories.a_running(1, slots(cpu=4), job_priority=30)
    view = factories.a_snapshot([running, factories.a_session(9)])

    found = ask(view)[K.HIGHER_JOB_PRIORITY]

    assert found.facts == {"own": 10, "value": 31, "outcome": "stops", "victims": 1}
    assert found.rests_on == frozenset({1})


def test_no_job_priority_is_named_that_nobody_can_ask_for():
    running = factories.a_running(1, slots(cpu=4), job_priority=2**31 - 1)

    found = ask(factories.a_snapshot([running, factories.a_session(9)]))[K.HIGHER_JOB_PRIORITY]

    assert (found.helps, found.facts["most"]) == (False, 2**31 - 1)


def test_the_least_priority_that_goes_before_another():
    first = factories.a_session(8, slots(cpu=4), priority=20, owner_id=2)
    view = factories.a_snapshot([first, factories.a_session(9, slots(cpu=4))])

    found = ask(view)[K.HIGHER_PRIORITY]

    assert found.facts == {"own": 10, "value": 21, "outcome": "starts"}
    assert (found.rests_on, found.ranks_of) == (frozenset({8}), frozenset({8}))
    assert ask(view)[K.PRIORITY_AT_CAP].facts == {"own": 10, "value": 100, "outcome": "starts"}


def test_a_priority_right_above_whom_it_would_stop_gives_no_other_rank_away():
    queues = (factories.a_queue(1, preemptible_queues=frozenset({2})), factories.a_queue(2, preemptible=True))
    running = factories.a_running(1, slots(cpu=4), owner_id=2, queue_id=2, priority=30)
    beside = factories.a_running(2, slots(mem=1), owner_id=2, queue_id=2, priority=30)
    nodes = [factories.a_node(capacity=slots(cpu=4, mem=1))]
    view = factories.a_snapshot([running, beside, factories.a_session(9)], queues=queues, nodes=nodes)

    found = ask(view)[K.HIGHER_PRIORITY]

    assert (found.facts["value"], found.rests_on, found.ranks_of) == (31, frozenset({1}), frozenset())


def test_no_priority_above_the_cap_is_tried():
    first = factories.a_session(8, slots(cpu=4), priority=20, owner_id=2)
    view = factories.a_snapshot([first, factories.a_session(9, slots(cpu=4))])

    found = ask(view, priority_cap=20)[K.HIGHER_PRIORITY]

    assert (found.helps, found.facts) == (False, {"own": 10, "most": 20})


def protected(*, started=300, more=()):
    policy = dataclasses.replace(factories.ON, min_runtime_s=600)
    began = factories.NOW - started * factories.SECOND
    running = factories.a_running(1, slots(cpu=4), job_priority=1, started_at=began)
    return factories.a_snapshot([running, factories.a_session(9), *more], policy=policy)


def test_the_moment_from_which_the_first_protected_session_may_be_stopped():
    found = ask(protected())[K.FIRST_ELIGIBLE]

    at = factories.NOW + 300 * factories.SECOND
    assert (found.facts, found.rests_on) == ({"at": at, "outcome": "stops", "victims": 1}, frozenset({1}))


def test_a_protected_session_that_would_free_nothing_that_helps_is_passed_over():
    view = protected(more=[factories.a_running(2, slots(cpu=4), job_priority=1, started_at=1, on=(2,))])
    began = factories.NOW - 500 * factories.SECOND
    elsewhere = dataclasses.replace(view.sessions[2], started_at=began)
    nodes = (*view.nodes, factories.a_node(2, state=entities.NodeState.DRAINING))
    view = dataclasses.replace(view, nodes=nodes, sessions=(*view.sessions[:2], elsewhere))

    found = ask(view)[K.FIRST_ELIGIBLE]

    assert (found.facts["at"], found.rests_on) == (factories.NOW + 300 * factories.SECOND, frozenset({1}))


def test_however_many_protected_sessions_on_closed_nodes_hide_none_that_helps():
    began = factories.NOW - 500 * factories.SECOND
    many = [
        factories.a_running(n, slots(cpu=1), job_priority=1, started_at=began + n, on=(2,))
        for n in range(20, 32)
    ]
    view = protected(more=many)
    closed = factories.a_node(2, capacity=slots(cpu=16), state=entities.NodeState.DRAINING)

    found = ask(dataclasses.replace(view, nodes=(*view.nodes, closed)))[K.FIRST_ELIGIBLE]

    assert (found.facts["at"], found.rests_on) == (factories.NOW + 300 * factories.SECOND, frozenset({1}))


def test_however_many_protected_sessions_hold_nothing_short_they_hide_none_that_helps():
    view = protected()
    node = dataclasses.replace(view.nodes[0], capacity=slots(cpu=4, mem=64))
    began = factories.NOW - 500 * factories.SECOND
    many = [factories.a_running(n, slots(mem=1), job_priority=1, started_at=began + n) for n in range(20, 32)]
    view = dataclasses.replace(view, nodes=(node, *view.nodes[1:]), sessions=(*view.sessions, *many))

    assert ask(view)[K.FIRST_ELIGIBLE].rests_on == frozenset({1})


def test_where_more_moments_are_left_than_are_tried_the_answer_says_that_it_is_not_whole(monkeypatch):
    monkeypatch.setattr(waiting, "MOST_MOMENTS", 0)

    assert not waiting.would_help(protected(), 9, rounds=reruns.Rounds()).is_complete


def test_a_protected_session_that_the_reader_may_not_see_is_not_spoken_of():
    assert K.FIRST_ELIGIBLE not in ask(protected(), visible=frozenset())


@pytest.mark.parametrize("fields", [{"is_held": True}, {"begin_at": factories.NOW + 1}])
def test_nothing_is_asked_for_a_session_that_is_kept_by_something_else(fields):
    view = factories.a_snapshot([factories.a_session(9, slots(cpu=4), **fields)])

    assert ask(view) == {}


def test_a_running_session_is_not_asked_about():
    view = factories.a_snapshot([factories.a_running(9)])

    assert waiting.would_help(view, 9, rounds=reruns.Rounds()) == answers.Answers()


def test_of_one_that_can_never_run_only_its_size_is_asked():
    found = ask(factories.a_snapshot([factories.a_session(9, slots(cpu=9))]))

    assert set(found) == {K.STARTS_WITH_LESS}
    assert found[K.STARTS_WITH_LESS].facts["value"] == 4


def test_a_budget_that_ends_leaves_what_was_found():
    view = factories.a_snapshot([factories.a_running(1, slots(cpu=2)), factories.a_session(9, slots(cpu=4))])

    found = waiting.would_help(view, 9, rounds=reruns.Rounds(most=4))

    assert (len(found.found), found.is_complete) == (1, False)


def test_a_clock_that_runs_out_ends_it_too():
    view = factories.a_snapshot([factories.a_session(9, slots(cpu=9))])

    found = waiting.would_help(view, 9, rounds=reruns.Rounds(may_go_on=lambda: False))

    assert found == answers.Answers(is_complete=False)


# Every answer of random rounds


def pending(view):
    return [session for session in view.sessions if session.state == "pending"]


def checked(view) -> int:
    """Ask for two pending sessions of a round, apply each answer and one step less; return for how many there were."""
    count = 0
    for session in pending(view)[-2:]:
        found = waiting.would_help(view, session.id, rounds=reruns.Rounds(most=5_000))
        assert found.is_complete
        for answer in found.found:
            _CHECKS[answer.kind](view, session, answer)
        count += bool(found.found)
    return count


def _starts(view, session, **fields):
    return fate(changes.of_session(view, session.id, **fields), session.id).outcome is OUT.STARTS


def _check_less(view, session, answer):
    kind, value, step = answer.facts["kind"], answer.facts.get("value", 0), answer.facts["step"]
    if answer.helps:
        assert _starts(view, session, request=_with(session, {kind: value}))
    else:
        value = answer.facts["least"] - step
    more = min(value + step, answer.facts["asked"])
    assert not _starts(view, session, request=_with(session, {kind: more}))


def _with(session, amounts):
    return type(session.request)({**session.request.as_dict(), **amounts})


def _check_scaled(view, session, answer):
    percent = answer.facts.get("percent", 0)
    if answer.helps:
        request = waiting.scaled(session.request, percent, units.BUILT_IN)
        assert request.as_dict() == {k: answer.facts[f"value.{k}"] for k in session.request.kinds()}
        assert _starts(view, session, request=request)
    more = waiting.scaled(session.request, percent + waiting.PERCENT, units.BUILT_IN)
    assert not _starts(view, session, request=more)


def _check_nodes(view, session, answer):
    value = answer.facts.get("value", 0)
    assert not answer.helps or _starts(view, session, node_count=value)
    for count in range(value + 1, answer.facts["asked"] + 1):
        assert not _starts(view, session, node_count=count)


def _check_switch(view, session, answer):
    found = fate(changes.of_policy(view, state=entities.PreemptionState.ON), session.id)
    assert (found.has_room, found.outcome) == (answer.helps, answer.facts.get("outcome", OUT.WAITS))
    assert not fate(view, session.id).has_room


def _check_rank(view, session, answer):
    name, own = _RANKS[answer.kind], answer.facts["own"]
    value = answer.facts["value"] if answer.helps else answer.facts["most"] + 1
    top = max(getattr(one, name) for one in view.sessions) + 20  # far above it nobody is compared with
    for less in {*range(own, min(value, top)), value - 1}:
        assert not fate(changes.of_session(view, session.id, **{name: less}), session.id).has_room
    if answer.helps:
        found = fate(changes.of_session(view, session.id, **{name: value}), session.id)
        assert found.outcome == answer.facts["outcome"]
        assert len(found.victims) == answer.facts.get("victims", 0)


def _check_cap(view, session, answer):
    assert answer.facts["value"] == 100
    found = fate(changes.of_session(view, session.id, priority=100), session.id)
    assert (found.outcome, len(found.victims)) == (answer.facts["outcome"], answer.facts.get("victims", 0))


def _check_eligible(view, session, answer):
    at = answer.facts["at"]
    before, after = (fate(changes.at(view, moment), session.id) for moment in (at - 1, at))
    then = {one.session_id: one.verdict for one in after.candidates}
    protected_until_then = [
        one.session_id
        for one in before.candidates
        if one.verdict is decisions.Verdict.MIN_RUNTIME and one.session_id in answer.rests_on
    ]
    assert any(then[pk] in waiting.ELIGIBLE for pk in protected_until_then)
    assert after.outcome == answer.facts["outcome"]


_CHECKS = {
    K.STARTS_WITH_LESS: _check_less,
    K.STARTS_SCALED: _check_scaled,
    K.STARTS_ON_FEWER_NODES: _check_nodes,
    K.PREEMPTION_ON: _check_switch,
    K.HIGHER_PRIORITY: _check_rank,
    K.PRIORITY_AT_CAP: _check_cap,
    K.HIGHER_JOB_PRIORITY: _check_rank,
    K.FIRST_ELIGIBLE: _check_eligible,
}


@pytest.mark.parametrize("part", draws.PARTS)
def test_every_stated_value_works_and_one_step_less_does_not(part, record_property):
    asked = draws.ask(part, checked)

    record_property("waiting sessions", asked)
    assert asked >= draws.WANTED / len(draws.PARTS)


RULES = (
    {"min_runtime_s": 600},
    {"state": entities.PreemptionState.OFF},
    {"min_runtime_s": 0, "scope": entities.PreemptionScope.OWNER},
)


def test_the_random_rounds_have_answers_of_every_kind():
    kinds = set()
    for seed in range(60):
        view = strategies.random_snapshot(seed, **RULES[seed % 3])
        for session in pending(view):
            found = waiting.would_help(view, session.id, rounds=reruns.Rounds(most=5_000))
            kinds |= {one.kind for one in found.found if one.helps}

    assert kinds == set(_CHECKS)
