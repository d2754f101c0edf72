"""Sentences from the stored plain form of decisions."""

from __future__ import annotations

import dataclasses
import json
import re

import pytest

from scheduler.core import decisions, entities, explain, snapshot, states, wording
from tests import factories, strategies
from tests.factories import slots

GIB = 1 << 30
R = decisions.PendReason


def _plain(decision):
    return json.loads(json.dumps(snapshot.to_plain(decision)))


def _pend(reason, **facts):
    return {"reason": str(reason), "facts": {key.replace("__", "."): value for key, value in facts.items()}}


#: Facts as the core records them, for every reason.
FACTS = {
    R.QUEUE_STOPPED: {"queue": "night"},
    R.BEGIN_TIME: {"until": factories.NOW},
    R.NO_MATCHING_NODE: {"labels": "zone = a or b"},
    R.NEVER_FITS: {"asked__cpu": 9000, "most__cpu": 4000, "nodes": 1, "nodes__large": 0},
    R.EXCEEDS_OWNER_LIMIT: {"asked__cpu": 9000, "limit__cpu": 4000},
    R.EXCEEDS_QUEUE_LIMIT: {"asked__sessions": 1, "limit__sessions": 0},
    R.OWNER_LIMIT: {"asked__cpu": 2000, "left__cpu": 500, "limit__cpu": 4000},
    R.QUEUE_LIMIT: {"asked__sessions": 1, "left__sessions": 0, "limit__sessions": 3},
    R.AWAITING_VICTIMS: {"node": "n1", "sessions": 2},
    R.AWAITING_RELEASE: {"node": "n1", "sessions": 1, "until": factories.NOW},
    R.NODE_UNAVAILABLE: {"node": "n1"},
    R.NO_RESOURCES: {
        "asked__cpu": 2000, "free__cpu": 500, "most__cpu": 500, "nearest": "n1", "short__cpu": 1500
    },
    R.HOLDS_CLAIM: {
        "asked__cpu": 2000, "free__cpu": 0, "most__cpu": 0, "nearest": "n1", "short__cpu": 2000, "kept": "n1"
    },
    R.FRAGMENTED: {
        "asked__cpu": 2000, "free__cpu": 2500, "most__cpu": 1500, "nearest": "n1", "short__cpu": 500
    },
    R.BEHIND_OTHERS: {"reserved": "n1, n2"},
    R.UNKNOWN_QUEUE: {"queue": "night"},
    R.ROOM_CLAIMED: {"kept": "n1"},
    R.POLICY_FAILED: {"policy": "the queue names a policy that does not exist"},
}  # fmt: skip


@pytest.mark.parametrize("reason", list(R))
def test_p13_every_reason_has_title_help_and_a_sentence_with_all_its_facts(reason):
    sentence = explain.pend_sentence(_pend(reason, **FACTS.get(reason, {})))

    assert re.fullmatch(r"[A-Z0-9].*\.", sentence)
    assert "{" not in sentence
    assert "  " not in sentence
    assert explain.pend_title(reason)
    assert explain.pend_help(reason).endswith(".")


@pytest.mark.parametrize(
    ("table", "enum"),
    [
        (wording.PEND_TITLE, R),
        (wording.PEND_HELP, R),
        (wording.VERDICT, decisions.Verdict),
        (wording.ACTION, decisions.Action),
        (wording.NEXT, entities.PreemptionMode),
        (wording.VALUE, entities.Axis),
    ],
)
def test_p13_no_text_is_missing(table, enum):
    assert set(table) == set(enum)


@pytest.mark.parametrize(
    ("pend", "expected"),
    [
        (
            _pend(R.HOLDS_CLAIM, **FACTS[R.HOLDS_CLAIM], until=factories.NOW),
            "It needs 2 cores on one node. n1 is nearest, 2 cores short. It has waited too long: sessions behind it "
            "leave its room on n1 alone, at the latest until 2023-11-14 22:13:20 UTC.",
        ),
        (
            _pend(R.ROOM_CLAIMED, **FACTS[R.ROOM_CLAIMED]),
            "Enough is free on n1, but it is kept for a session ahead of it that has waited too long.",
        ),
        (
            _pend(R.NEVER_FITS, **FACTS[R.NEVER_FITS]),
            "It can never run as asked: it needs 9 cores on one node, and the largest node has 4 cores.",
        ),
        (
            _pend(R.NEVER_FITS, asked__cpu=1, most__cpu=4, nodes=3, nodes__large=2),
            "It can never run as asked: it needs 3 nodes that are large enough, and this group has 2.",
        ),
        (
            _pend(R.NEVER_FITS, **FACTS[R.NEVER_FITS], labels=1),
            "It can never run as asked: it needs 9 cores on one node, and the largest node with the labels that it"
            " requires has 4 cores.",
        ),
        (
            _pend(R.NEVER_FITS, asked__cpu=1, most__cpu=4, nodes=3, nodes__large=2, labels=1),
            "It can never run as asked: it needs 3 nodes that are large enough with the labels that it requires, and"
            " this group has 2.",
        ),
        (
            _pend(R.NEVER_FITS, asked__cpu=1, most__cpu=4, nodes=1, nodes__large=0),
            "It can never run as asked: no single node of this group has all that it needs.",
        ),
        (
            _pend(R.OWNER_LIMIT, **FACTS[R.OWNER_LIMIT]),
            "It needs 2 cores, and its owner's limit of 4 cores leaves 0.5 cores.",
        ),
        (
            _pend(
                R.NO_RESOURCES,
                **{"asked__cuda.device": 4, "free__cuda.device": 5, "most__cuda.device": 3},
                **{"nearest": "gpu-03", "short__cuda.device": 1},
            ),
            "It needs 4 GPUs on one node. This group has 5 GPUs free, but never more than 3 together;"
            " gpu-03 is nearest, 1 GPU short.",
        ),
        (
            _pend(R.NO_RESOURCES, asked__mem=GIB, nodes=2),
            "It needs 1 GiB on each of 2 nodes at once, and not enough nodes have that free now.",
        ),
        (
            _pend(R.NO_RESOURCES, asked__mem=GIB),
            "It needs 1 GiB on one node, and no node that could hold it takes sessions now.",
        ),
        (
            _pend(R.NO_RESOURCES, resume=1, asked__cpu=2000, nearest="n1", short__cpu=1000),
            "It is suspended and needs 2 cores back on n1: 1 core short.",
        ),
        (
            _pend(R.NO_RESOURCES, resume=1, nearest="n1", short__sessions=1),
            "It is suspended on n1: 1 session place short.",
        ),
        (
            _pend(
                R.NO_RESOURCES,
                asked__cpu=1000,
                free__cpu=9000,
                most__cpu=9000,
                nearest="n1",
                short__sessions=1,
            ),
            "It needs 1 core on one node. n1 has that free, but no place for one more session.",
        ),
        (
            _pend(
                R.FRAGMENTED,
                **{"asked__cpu": 2000, "free__cpu": 2000, "most__cpu": 1000, "labels": 1},
                **{"nearest": "n1", "short__cpu": 1000},
            ),
            "It needs 2 cores on one node. The nodes with the labels that it requires have 2 cores free, but never more"
            " than 1 together; n1 is nearest, 1 core short.",
        ),
        (
            _pend(
                R.FRAGMENTED, asked__cpu=2000, free__cpu=2000, most__cpu=1000, nearest="n1", short__cpu=1000
            ),
            "It needs 2 cores on one node. This group has 2 cores free, but never more than 1 together; n1 is nearest,"
            " 1 core short.",
        ),
        (
            _pend(R.AWAITING_VICTIMS, node="n1", sessions=2),
            "Room is being made for it on n1: 2 sessions told to stop.",
        ),
        (
            _pend(R.AWAITING_VICTIMS, node="n1", sessions=0),
            "Room on n1 that was kept for a session behind it is kept for it now.",
        ),
        (
            _pend(R.AWAITING_RELEASE, node="n1", sessions=0, until=0),
            "Room is kept for it on n1, at the latest until 1970-01-01 00:00:00 UTC.",
        ),
    ],
)
def test_a_wait_is_told_in_one_sentence_with_the_numbers(pend, expected):
    assert explain.pend_sentence(pend) == expected


def _stop(**more):
    queues = (
        factories.a_queue(1, name="urgent", preemptible_queues=frozenset({2})),
        factories.a_queue(2, preemptible=True),
    )
    node = factories.a_node(capacity=slots(cpu=8000, cuda_device=4))
    victim = factories.a_running(1, slots(cpu=1000, cuda_device=3), owner_id=2, queue_id=2, priority=5)
    preemptor = factories.a_session(9, slots(cpu=1000, cuda_device=4), priority=20)
    view = factories.a_snapshot([victim, preemptor], nodes=[node], queues=queues, **more)
    return _plain(factories.preemptions(factories.decide(view))[9])


def test_why_preempted_has_both_numbers_and_what_was_short():
    sentence = explain.why_preempted(_stop(), 1, queue="urgent", node="gpu-1")

    assert sentence == (
        "Stopped so that a session of queue urgent with priority 20 could start on gpu-1; yours was 5."
        " It was 3 GPUs short there, and yours frees 3 GPUs."
    )


def test_why_preempted_names_the_job_priority_on_the_owner_axis():
    view = factories.a_snapshot(
        [
            factories.a_running(1, slots(cpu=4), job_priority=5),
            factories.a_session(9, slots(cpu=1), job_priority=20),
        ]
    )
    stop = _plain(factories.preemptions(factories.decide(view))[9])

    assert explain.why_preempted(stop, 1, queue="q1", node="n1").startswith(
        "Stopped so that a session of queue q1 with job priority 20 could start on n1; yours was 5."
    )


def test_what_is_next_follows_the_mode_of_the_decision():
    suspend = dataclasses.replace(factories.ON, mode=entities.PreemptionMode.SUSPEND)

    assert explain.what_next(_stop(), 1) == "It does not start again by itself."
    assert "go on from where they stood" in explain.what_next(_stop(policy=suspend), 1)
    assert explain.why_preempted(_stop(policy=suspend), 1, queue="q", node="n").startswith(
        "Suspended so that"
    )


def test_the_preemptor_is_told_what_is_done_for_it():
    expected = "1 lower session is being stopped on gpu-1, to make up for 3 GPUs."

    assert explain.why_preempting(_stop(), node="gpu-1") == expected


def test_one_that_takes_room_over_and_stops_nobody_is_told_so():
    taken = _stop() | {"victims": []}

    expected = "It takes over the room on n1 that is being made for a session behind it."
    assert explain.why_preempting(taken, node="n1") == expected


def _joined(cpus=3000):
    """Return a decision that takes 2 cores over, and adds a victim of 1 where 3 are asked."""
    one = {"job_priority": 1, "state": states.SessionState.PREEMPTED, "in_decision": True}
    leaving = factories.a_running(1, slots(cpu=2000), **one, stop_mode=entities.PreemptionMode.TERMINATE)
    leaving = dataclasses.replace(leaving, stop_deadline=factories.NOW + factories.SECOND)
    others = [factories.a_running(i, slots(cpu=1000), job_priority=1) for i in (2, 3)]
    waiting = [factories.a_session(i, slots(cpu=n), job_priority=i) for i, n in ((8, 2000), (9, cpus))]
    kept = entities.Reservation(7, 8, 1, slots(cpu=2000), slots(), (1,), factories.NOW + factories.SECOND)
    view = factories.a_snapshot(
        [leaving, *others, *waiting], nodes=[factories.a_node(capacity=slots(cpu=4000))], reservations=(kept,)
    )
    return _plain(factories.preemptions(factories.decide(view))[9])


def test_what_is_taken_over_is_told_beside_what_the_victims_free():
    assert explain.why_preempted(_joined(), 2, queue="q1", node="n1") == (
        "Stopped so that a session of queue q1 with job priority 9 could start on n1; yours was 1. It takes over room"
        " there from a session behind it; beside that it was 1 core short, and yours frees 1 core."
    )
    assert explain.why_preempting(_joined(), node="n1") == (
        "1 lower session is being stopped on n1, to make up for 1 core, beside what it takes over: room there from a"
        " session behind it."
    )


def _stop_for_a_place():
    """Return a stop on a node that holds one session and has cores to spare."""
    node = factories.a_node(1, capacity=slots(cpu=4000), max_sessions=1)
    running = factories.a_running(1, slots(cpu=1000), job_priority=0)
    view = factories.a_snapshot(
        [running, factories.a_session(9, slots(cpu=1000), job_priority=9)], nodes=(node,)
    )
    return _plain(factories.preemptions(factories.decide(view))[9])


def test_a_session_place_that_is_short_is_said():
    sentence = explain.why_preempted(_stop_for_a_place(), 1, queue="q1", node="n1")

    assert sentence.endswith("It was 1 session place short there, and yours frees 1 session place.")
    assert explain.why_preempting(_stop_for_a_place(), node="n1") == (
        "1 lower session is being stopped on n1, to make up for 1 session place."
    )


def test_one_that_was_suspended_frees_no_session_place():
    stop = _stop_for_a_place()
    stop["nodes"][0]["short"] = {"cpu": 500}
    stop["victims"][0]["action"] = "requeue-suspended"

    sentence = explain.why_preempted(stop, 1, queue="q1", node="n1")

    assert sentence.endswith("It was 0.5 cores and 1 session place short there, and yours frees 1 core.")


def test_a_session_that_is_no_victim_has_no_sentence():
    with pytest.raises(KeyError):
        explain.why_preempted(_stop(), 77, queue="q", node="n")


@pytest.mark.parametrize("verdict", list(decisions.Verdict))
def test_every_verdict_is_told(verdict):
    facts = {"own": 5, "theirs": 5, "until": factories.NOW, "times": 2, "most": 2}

    assert "{" not in explain.verdict_text(verdict, facts, axis="queue")


def test_a_verdict_is_told_with_its_numbers():
    facts = {"own": 5, "theirs": 4}

    assert explain.verdict_text("not-lower", facts) == "not lower: job priority 5 is not below 4"
    assert explain.verdict_text("min-runtime", {}) == "protected by the minimum runtime"
    assert explain.verdict_text("min-runtime", {"until": 0}, clock=lambda _: "noon").endswith("until noon")


def test_who_was_not_needed_is_told_so_also_where_room_was_taken_over_and_nobody_stopped():
    taken = _joined(cpus=2000)

    (not_needed,) = {c["verdict"] for c in taken["candidates"]} - {"in-another-decision"}

    assert (taken["victims"], not_needed) == ([], "not-needed")
    assert explain.verdict_text(not_needed, {}) == (
        "not needed: it could have been stopped, but there was enough without it"
    )


def test_verdicts_are_counted_most_frequent_first():
    candidates = [{"verdict": "opted-out"}, {"verdict": "other-owner"}, {"verdict": "other-owner"}]

    assert list(explain.verdict_counts(candidates).items()) == [("other-owner", 2), ("opted-out", 1)]


@pytest.mark.parametrize("seed", range(30))
def test_p13_every_pend_of_a_round_can_be_told(seed):
    for decision in factories.decide(strategies.random_snapshot(seed)):
        if isinstance(decision, decisions.Pend):
            assert explain.pend_sentence(_plain(decision)).endswith(".")
