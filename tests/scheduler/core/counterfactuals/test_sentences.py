"""Every kind of answer, with and without success, as one sentence with its numbers."""

from __future__ import annotations

import re

import pytest

from scheduler.core.counterfactuals import answers, sentences
from tests import factories

K = answers.Kind
GIB = 1 << 30
#: kind -> facts where it helps, facts where it does not, and both sentences
EXPECTED = {
    K.SPARED_JOB_PRIORITY: (
        {"own": 5, "value": 6},
        {"own": 5},
        "With job priority 6 or more instead of 5, it would have been spared.",
        "With any job priority above 5, it would have been stopped all the same.",
    ),
    K.SPARED_PRIORITY: (
        {"own": 5, "value": 6, "most": 8},
        {"own": 5},
        "With priority 6 to 8 instead of 5, it would have been spared.",
        "With any priority above 5, it would have been stopped all the same.",
    ),
    K.SPARED_LATER_START: (
        {"seconds": 180, "min_runtime": 600},
        None,
        "Had it started 3 minutes later, the minimum runtime of 10 minutes would have spared it.",
        "",
    ),
    K.SPARED_OPT_OUT: (
        {},
        {},
        "Had it opted out of preemption, it would have been spared.",
        "Had it opted out of preemption, it would have been stopped all the same.",
    ),
    K.STARTS_WITH_LESS: (
        {"kind": "cuda.device", "asked": 4, "value": 2, "step": 1, "least": 0},
        {"kind": "mem", "asked": 4 * GIB, "step": GIB, "least": GIB},
        "With 2 GPUs instead of 4, it starts now.",
        "With less than 4 GiB (tried down to 1 GiB) and all else as it is, it does not start now.",
    ),
    K.STARTS_SCALED: (
        {"percent": 50, "step": 5, "asked.cpu": 8000, "value.cpu": 4000, "value.mem": 2 * GIB},
        {"asked.cpu": 8000, "step": 5},
        "With 50 % of everything, rounded down (4 cores and 2 GiB), it starts now.",
        "With less of everything (tried down to 5 %), it does not start now.",
    ),
    K.STARTS_ON_FEWER_NODES: (
        {"asked": 3, "value": 1},
        {"asked": 3},
        "On 1 node instead of 3, it starts now.",
        "On fewer than 3 nodes, it does not start now.",
    ),
    K.PREEMPTION_ON: (
        {"outcome": "stops", "victims": 2},
        {},
        "With preemption on in this group, room is made for it by stopping 2 sessions.",
        "With preemption on in this group, it waits all the same.",
    ),
    K.HIGHER_PRIORITY: (
        {"own": 10, "value": 41, "outcome": "starts"},
        {"own": 10, "most": 100},
        "With priority 41 instead of 10, it starts now.",
        "With any priority from 10 to 100, it waits all the same.",
    ),
    K.PRIORITY_AT_CAP: (
        {"own": 10, "value": 40, "outcome": "starts"},
        None,
        "With priority 40, the highest that it may have, instead of 10, it starts now.",
        "",
    ),
    K.HIGHER_JOB_PRIORITY: (
        {"own": 10, "value": 11, "outcome": "kept"},
        {"own": 10, "most": 20},
        "With job priority 11 instead of 10, room that is becoming free is kept for it.",
        "With any job priority from 10 to 20, it waits all the same.",
    ),
    K.FIRST_ELIGIBLE: (
        {"at": factories.NOW, "outcome": "waits"},
        None,
        "From 2023-11-14 22:13:20 UTC on, the first session that the minimum runtime protects may be stopped: "
        "that alone is not enough.",
        "",
    ),
}


@pytest.mark.parametrize("kind", list(K))
def test_each_kind_is_a_sentence_with_its_numbers(kind):
    helping, failing, yes, no = EXPECTED[kind]

    assert sentences.say(answers.Counterfactual(kind, True, helping)).sentence == yes
    if failing is not None:
        assert sentences.say(answers.Counterfactual(kind, False, failing)).sentence == no


def test_a_moment_at_which_room_could_be_made_says_so_on_the_readers_clock():
    facts = {"at": 7, "outcome": "stops", "victims": 1}
    style = sentences.Style(clock=lambda moment: f"moment {moment}")

    said = sentences.say(answers.Counterfactual(K.FIRST_ELIGIBLE, True, facts), style)

    assert said.change == "From moment 1000000 on"
    assert said.result.endswith("if nothing else changes, room is made for it by stopping 1 session then")


def test_one_value_alone_is_no_range():
    answer = answers.Counterfactual(K.SPARED_PRIORITY, True, {"own": 5, "value": 6, "most": 6})

    assert sentences.say(answer).change == "With priority 6 instead of 5"


def test_spans_of_time_are_exact():
    spans = {0: "0 seconds", 1: "1 second", 60: "1 minute", 3725: "1 hour 2 minutes 5 seconds"}

    assert {n: sentences.duration(n) for n in spans} == spans
    assert re.fullmatch(r"2 hours", sentences.duration(7200))


def test_where_none_at_all_is_no_help_that_is_said():
    facts = {"kind": "cuda.device", "asked": 2, "step": 1, "least": 0}

    said = sentences.say(answers.Counterfactual(K.STARTS_WITH_LESS, False, facts)).sentence
    assert said == "Even with 0 GPUs and all else as it is, it does not start now."


def test_what_can_be_counted_is_fewer():
    answer = answers.Counterfactual(
        K.STARTS_WITH_LESS, False, {"kind": "cpu", "asked": 8000, "step": 100, "least": 100}
    )

    expected = "With fewer than 8 cores (tried down to 0.1 cores) and all else as it is"
    assert sentences.say(answer).change == expected
