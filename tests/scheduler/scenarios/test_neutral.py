"""Snapshots as cases: neutral, and decided the same."""

from __future__ import annotations

import dataclasses
import os

import pytest
from hypothesis import example, given, settings

from scheduler.core import decisions, entities, snapshot, states
from scheduler.scenarios import answers, located, neutral, neutral_names, reading, select, written
from tests import factories, strategies

SCALES = {"cpu": 1000, "mem": 1, "cuda.device": 1}
ANSWERS = 200 if os.environ.get("XCE_NIGHT") else 60


def again(view: snapshot.Snapshot, session_id: int):
    """Write a snapshot, read the file, run it; return the names, the case and the session's answer."""
    writer = neutral.Writer(written.until(view, session_id), SCALES)
    (case,) = reading.cases(located.parse(written.dump(writer.case("A"))))
    assert (case.fault, case.beyond) == ("", ())
    return writer.names, case, select.run(case)[writer.names.sessions[session_id]]


@settings(max_examples=300, deadline=None)
@given(strategies.snapshots())
@example(strategies.random_snapshot(473))  # a session that is just starting was given another start
def test_every_stop_of_a_random_snapshot_comes_out_of_its_file_again(view):
    found = [d for d in factories.decide(view) if isinstance(d, decisions.Preempt) and not d.is_shadow]
    for stop in found:
        names, _, answer = again(view, stop.preempting_jobid)
        assert list(answer.victims) == neutral_names.names_of(names, stop.victim_jobids)
        assert answer.target == names.nodes[stop.node_id]


@settings(max_examples=ANSWERS, deadline=None)
@given(strategies.snapshots())
def test_every_answer_of_a_random_snapshot_comes_out_of_its_file_again(view):
    waiting = {one.id for one in view.sessions if one.state is states.SessionState.PENDING}
    for found in factories.decide(view):
        if isinstance(found, decisions.Pend) and found.session_id in waiting:
            _, _, answer = again(view, found.session_id)
            assert answer.reason == found.reason
            assert answer.outcome is not answers.Outcome.PLACE
        if isinstance(found, decisions.Dispatch) and found.session_id in waiting:
            names, _, answer = again(view, found.session_id)
            on = ",".join(sorted(names.nodes[grant.node_id] for grant in found.grants))
            assert answer == answers.Answer(answers.Outcome.PLACE, target=on)


def stopping(**more) -> snapshot.Snapshot:
    """Return a snapshot in which session 2 stops session 1 and session 3 stands behind."""
    node = factories.a_node(7, name="secret-host", labels={"secret-label": "secret-value"})
    low = factories.a_running(1, factories.slots(cpu=4), on=[7], job_priority=1)
    high = factories.a_session(
        2, factories.slots(cpu=4), job_priority=9, labels={"secret-label": frozenset({"secret-value"})}
    )
    last = factories.a_session(3, job_priority=1)
    queue = factories.a_queue(name="secret-queue")
    return factories.a_snapshot([low, high, last], nodes=[node], queues=(queue,), **more)


def test_no_name_of_the_installation_is_in_the_file():
    writer = neutral.Writer(stopping(), SCALES)

    assert "secret" not in written.dump(writer.case("A"))


def test_who_stands_behind_is_left_out():
    names, case, answer = again(stopping(), 2)

    assert [one.id for one in case.pending] == [names.sessions[2]]
    assert answer.victims == (names.sessions[1],)


def test_moments_are_exact_to_the_microsecond():
    view = stopping()
    started = view.now - 599_999_999
    sessions = tuple(
        dataclasses.replace(one, started_at=started) if one.started_at else one for one in view.sessions
    )
    policy = dataclasses.replace(view.policy, min_runtime_s=600)
    _, case, answer = again(dataclasses.replace(view, sessions=sessions, policy=policy), 2)

    assert str(case.running[0].started_s_ago) == "599.999999"
    assert answer.victims == ()


def test_use_outside_the_group_is_written_beside_the_limits():
    usage = entities.Usage(factories.slots(cpu=10), 3, {"cpu": 15}, 5)
    config = neutral.Writer(stopping(owners=(entities.Owner(1, usage),)), SCALES).case("A")["config"]

    assert config["owner_max"]["u1"] == {"cpu": neutral._number(15, 1000), "sessions": 5}
    assert config["owner_used"]["u1"] == {"cpu": neutral._number(6, 1000), "sessions": 2}


@pytest.mark.parametrize(
    "usage",
    [
        entities.Usage(used=factories.slots(cpu=6), sessions=2, max_slots={"cpu": 8}),
        entities.Usage(sessions=3, max_sessions=3),
    ],
)
def test_a_limit_that_is_used_up_elsewhere_is_none_that_the_request_exceeds(usage):
    view = factories.a_snapshot(
        [factories.a_session(9, factories.slots(cpu=4))], owners=(entities.Owner(1, usage),)
    )
    view = dataclasses.replace(view, nodes=(factories.a_node(capacity=factories.slots(cpu=8)),))

    assert again(view, 9)[2].reason == decisions.PendReason.OWNER_LIMIT


def test_devices_keep_their_numbers():
    gpus = factories.slots(cpu=1, **{"cuda.device": 2})
    node = factories.a_node(
        7, capacity=factories.slots(cpu=4, **{"cuda.device": 4}), devices={"cuda.device": (1, 3, 5, 7)}
    )
    rests = factories.a_running(1, gpus, on=[7], state=states.SessionState.SUSPENDED, priority=90)
    back = (entities.Allocation(7, gpus, {"cuda.device": (1, 5)}),)
    rests = dataclasses.replace(rests, allocations=(), resume_slots=back)
    runs = factories.a_running(2, gpus, on=[7], priority=90, job_priority=90)
    waits = factories.a_session(9, factories.slots(cpu=1))
    for taken, is_free in (((3, 7), True), ((1, 3), False)):
        held = (entities.Allocation(7, gpus, {"cuda.device": taken}),)
        now = dataclasses.replace(runs, allocations=held)
        view = factories.a_snapshot([rests, now, waits], nodes=[node])
        (resumed, _) = factories.decide(view)

        names, case, _ = again(view, 9)

        assert isinstance(resumed, decisions.Dispatch) is is_free
        told = select.run(case)[names.sessions[1]]
        assert (told.outcome is answers.Outcome.PLACE) is is_free


def test_a_queue_of_other_groups_stays_one():
    queue = factories.a_queue(name="secret-queue", serves_group=False)
    view = dataclasses.replace(stopping(), queues=(queue,))

    assert again(view, 2)[2].reason == decisions.PendReason.UNKNOWN_QUEUE
