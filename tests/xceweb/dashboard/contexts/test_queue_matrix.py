"""The matrix, its words, and what is said when somebody was faster."""

from __future__ import annotations

import dataclasses

import pytest
from django import http

from tests.xceweb.common.samples import queues as samples
from xceweb.dashboard import matrix_form
from xceweb.dashboard.contexts import queue_matrix


def _sent(text):
    return matrix_form.read(http.QueryDict(text))


def _cell(shown, taker, giver):
    cells = [cell for row in shown["matrix"]["rows"] for cell in row["cells"]]
    return next(cell for cell in cells if (cell["taker"], cell["giver"]) == (taker, giver))


def test_a_box_says_what_it_is_and_why_it_has_no_effect():
    shown = queue_matrix.load(samples.ADMINISTRATOR, samples.rules())

    assert (shown["can_change"], shown["graph"]["is_draft"]) == (True, False)
    assert _cell(shown, "urgent", "batch") == {
        "taker": "urgent",
        "giver": "batch",
        "value": "urgent:batch",
        "is_self": False,
        "is_on": True,
        "is_changed": False,
        "idle": "",
    }
    assert _cell(shown, "urgent", "normal")["idle"] == "cannot be preempted"
    assert _cell(shown, "batch", "batch")["is_self"]
    assert queue_matrix.load(samples.VIEWER, samples.rules())["can_change"] is False


def test_queues_of_different_groups_have_no_effect_on_each_other():
    rules = [
        dataclasses.replace(rule, groups=frozenset({2})) if rule.name == "batch" else rule
        for rule in samples.rules()
    ]

    assert _cell(queue_matrix.load(samples.VIEWER, rules), "urgent", "batch")["idle"] == "no common group"


def test_what_is_ticked_is_shown_on_top_with_the_cycle_that_it_closes():
    sent = _sent(
        "versions=urgent:3+batch:1&was_preemptible=batch&preemptible=batch&preemptible=urgent&takes=batch:urgent"
    )

    shown = queue_matrix.load(samples.ADMINISTRATOR, samples.rules(), sent=sent)

    assert _cell(shown, "batch", "urgent")["is_changed"]
    assert shown["graph"]["is_draft"]
    (caution,) = shown["graph"]["cautions"]
    assert caution.text.startswith("Queues **batch and urgent** may stop each other's sessions")


def test_the_picture_is_said_in_words_too():
    words = queue_matrix.load(samples.VIEWER, samples.rules())["graph"]

    assert words["words"] == [
        {"name": "normal", "takes": "batch", "idle": ""},
        {"name": "urgent", "takes": "batch and scavenge", "idle": "normal"},
    ]
    assert words["others"] == "batch and scavenge"


@pytest.mark.parametrize(
    ("names", "text"), [([], ""), (["a"], "a"), (["a", "b"], "a and b"), (["a", "b", "c"], "a, b and c")]
)
def test_names_are_listed_as_a_sentence_has_them(names, text):
    assert queue_matrix.listed(names) == text


def test_a_conflict_says_who_was_faster_and_what_both_wanted(db):
    sent = _sent("versions=urgent:2+gone:1&was=urgent:batch&takes=urgent:scavenge&takes=gone:batch")

    rows = queue_matrix.conflict(samples.rules(), sent)["rows"]

    assert rows == [
        {"name": "gone", "by": "", "at": None, "theirs": "it was removed", "mine": "", "reason": ""},
        {
            "name": "urgent",
            "by": "bob",
            "at": None,
            "reason": "",
            "theirs": "may stop normal and scavenge",
            "mine": "may stop scavenge; may no longer stop batch",
        },
    ]
