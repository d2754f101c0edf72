"""Reading files of cases: defaults, copies, and faults that name case, key and line."""

from __future__ import annotations

import pathlib

import pytest

from scheduler.core import states
from scheduler.scenarios import entries, errors, fields, located, reading, rules

DATA = pathlib.Path(__file__).parents[2] / "data" / "cases"
HEAD = "id: A\nkind: select\nnodes:\n- id: n1\n  cap: {cpu: 4}\n"


def one(text: str) -> entries.Case:
    """Read a text that is one case."""
    (case,) = reading.cases(located.parse(text, name="f"), name="f")
    return case


def test_what_a_case_leaves_out_has_the_defaults_of_the_format():
    case = one(
        HEAD + "running:\n- id: v\n  alloc:\n    n1: {cpu: 0.5}\npending:\n- id: p\n  request: {cpu: 1}\n"
    )
    (running,) = case.running

    assert (running.owner, running.queue, running.priority, running.job_priority) == ("u1", "q1", 10, 10)
    assert running.preemptible
    assert running.state is states.SessionState.RUNNING
    assert running.alloc == {"n1": {"cpu": 500}}
    assert case.queues == (entries.QueueEntry("q1"),)
    assert case.config.rules == dict(rules.DEFAULTS)


def test_copies_have_numbers_and_start_one_second_apart():
    case = one(HEAD + "running:\n- id: v\n  repeat: 3\n  alloc:\n    n1: {cpu: 1}\n")

    assert [(each.id, each.started_s_ago) for each in case.running] == [
        ("v1", 3600),
        ("v2", 3599),
        ("v3", 3598),
    ]


@pytest.mark.parametrize(
    ("text", "field", "value"),
    [
        ("axis: priority, scope: queues", "preemption_scope", "queue"),
        ("axis: queue", "preemption_scope", "queue"),
        ("axis: job_priority, scope: same-owner", "preemption_scope", "owner"),
        ("scope: owner_then_queue", "preemption_scope", "owner_then_queue"),
        ("enabled: false", "preemption_state", "off"),
        ("state: shadow", "preemption_state", "shadow"),
        ("order: fewest-sessions", "preemption_order", "fewest-sessions"),
        ("min_runtime_s: 600", "preemption_min_runtime", 600),
        ("released_on_suspend: [cpu]", "suspend_releases", ["cpu"]),
        ("max_preemptions: 5", "max_preemptions_per_session", 5),
        ("requeue_suspended: true", "requeue_suspended", True),
    ],
)
def test_short_words_and_own_names_become_rules(text, field, value):
    assert one(HEAD + f"config: {{{text}}}\n").config.rules[field] == value


def test_limits_of_owners_are_amounts():
    case = one(HEAD + "config:\n  owner_max:\n    u1: {cpu: 4, sessions: 2}\n")

    assert case.config.owner_limits == {"u1": {"cpu": 4000, "sessions": 2000}}


@pytest.mark.parametrize(
    ("tail", "message"),
    [
        ("running: 3\n", "line 6: running of the case must be a list"),
        ("running:\n- id: v\n  alloc:\n    n9: {cpu: 1}\n", "line 6: .* node n9, which is not there"),
        ("running:\n- id: v\n  alloc:\n    n1: {cpu: lots}\n", "line 9: cpu of n1 of alloc .* is no amount"),
        (
            "queues: [{id: q2}]\npending:\n- id: p\n  request: {cpu: 1}\n  queue: q9\n",
            "line 7: .* queue q9, which is not there",
        ),
        ("queues: [{id: q2}, {id: q2}]\n", "line 6: queues of the case names q2 twice"),
        ("config:\n  queue_max: {q9: {cpu: 1}}\n", "line 6: config .* limits queue q9, which is not there"),
        (
            "running:\n- id: v\n  repeat: 50001\n  alloc:\n    n1: {cpu: 1}\n",
            "line 8: repeat .* at most 50000",
        ),
        ("running:\n- id: v\n  job_priority: 2147483648\n", "line 8: job_priority .* at most 2147483647"),
        ("running:\n- id: v\n  started_s_ago: 1e40\n", "line 8: started_s_ago .* must be seconds"),
        ("pending:\n- id: p\n  request: {cpu: 1}\n  preemptible: 1\n", "must be true or false, not 1"),
        ("pending:\n- id: p\n  request: {cpu: 1}\n  priority: high\n", "line 9: priority .* whole number"),
        ("pending:\n- id: p\n  request: {cpu: 1}\n  priority: 101\n", "it is 0 to 100"),
        (
            "pending:\n- id: p\n  request: {cpu: 1}\n  job_prioritty: 9\n",
            "line 9: .* did you mean 'job_priority'",
        ),
        ("pending:\n- id: p\n", "neither a request nor an alloc"),
        ("pending:\n- request: {cpu: 1}\n", "line 7: id of a pending session is missing"),
        ("config: {order: best}\n", "line 6: order of config must be one of"),
        ("config: {enabled: 1}\n", "line 6: enabled of config must be true or false"),
        ("steps:\n- tick\n", "line 7: each step must be a table with a key 'do'"),
        ("expect: preempt\n", "line 6: expect of the case must be a table"),
        (
            "pending:\n- id: p\n  request: {cpu: 1}\n- id: p\n  request: {cpu: 1}\n",
            "names p twice",
        ),
    ],
)
def test_a_fault_of_a_case_names_its_line_and_key(tail, message):
    case = one(HEAD + tail)

    with pytest.raises(errors.BadScenario, match=message):
        raise errors.BadScenario(case.fault or "none")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("3", "f: it must be a list of cases"),
        ("[]", "f: there is no case in it"),
        ("cases: []", "f: there is no case in it"),
        ("nodes: []", "f: it must be a list of cases"),
        (
            "- {id: A, kind: signal}\n- {id: A, kind: signal}",
            "f, line 2: case A is there twice, first in line 1",
        ),
    ],
)
def test_a_file_that_is_no_list_of_cases_is_refused_whole(text, message):
    with pytest.raises(errors.BadScenario, match=message):
        reading.cases(located.parse(text, name="f"), name="f")


@pytest.mark.parametrize(
    ("text", "case_id", "fault"),
    [
        ("- 3", "line 1", "f, line 1: the case must be a table of keys and values"),
        ("- title: x\n- kind: select", "line 1", "f, line 1: id of the case is missing"),
        ("- id: [1]", "line 1", "f, line 1: id of the case must be text, not [1]"),
    ],
)
def test_a_case_without_an_id_is_a_fault_of_its_own_and_keeps_no_other_from_running(text, case_id, fault):
    first, *others = reading.cases(located.parse(f"{text}\n- id: B\n"), name="f")

    assert (first.id, first.fault) == (case_id, fault)
    assert others[-1].id == "B"


def test_a_kind_that_nobody_knows_is_a_reason():
    (reason,) = one("id: A\nkind: dream\nnodes: 3\n").beyond

    assert reason == "line 2: kind dream is none of select, lifecycle, config, explain, signal"


def test_cases_may_stand_in_a_table():
    found = reading.cases(located.parse("version: 1\ncases:\n- id: A\n- id: B\n"))

    assert [case.id for case in found] == ["A", "B"]


def test_a_queue_that_no_queues_tell_of_is_a_reason():
    (reason,) = one(HEAD + "pending:\n- {id: p, queue: express, request: {cpu: 1}}\n").beyond

    assert reason == "session p is in queue express, and the case declares no queues"


def test_a_queue_that_names_itself_says_nothing():
    case = one(HEAD + "queues:\n- {id: a, preemptible_queues: [a, b]}\n- {id: b}\n")

    assert case.queues[1].preemptible_queues == ("b",)


def test_one_name_alone_is_a_list_of_one_and_labels_are_words():
    node = "- id: n2\n  cap: {cpu: 1}\n  labels: {ssd: true, rack: 7}\n"
    case = one(
        HEAD + node + "pending:\n- {id: p, request: {cpu: 1}, requires_any: {ssd: true, rack: [7, 8]}}\n"
    )

    assert case.nodes[1].labels == {"ssd": "true", "rack": "7"}
    assert case.pending[0].requires_any == {"ssd": ("true",), "rack": ("7", "8")}


@pytest.mark.parametrize("key", sorted(fields.BEYOND))
def test_what_is_beyond_the_scheduler_is_a_reason_and_no_fault(key):
    case = one(HEAD + f"pending:\n- id: p\n  request: {{cpu: 1}}\n  {key}: [a]\n")

    assert not case.fault
    assert case.beyond == (f"line 9: {key} of session p is beyond what this scheduler has",)


def test_a_switch_beyond_the_scheduler_that_is_off_changes_nothing():
    assert one(HEAD + "config: {reclaim: false}\n").beyond == ()


def test_a_key_that_nobody_knows_is_a_reason():
    (reason,) = one(HEAD + "config: {phase_of_the_moon: 3}\n").beyond

    assert "'phase_of_the_moon' that this version does not know" in reason


def test_an_axis_with_the_other_scope_is_none_of_ours():
    (reason,) = one(HEAD + "config: {axis: priority, scope: same-owner}\n").beyond

    assert "axis priority with scope same-owner is no axis of this scheduler" in reason


@pytest.mark.parametrize("name", ["select", "lifecycle", "others", "variants"])
def test_no_case_of_ours_has_a_fault(name):
    assert {case.id: case.fault for case in reading.read(DATA / f"{name}.yaml") if case.fault} == {}
