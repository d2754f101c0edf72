"""The matrix as it was sent."""

from __future__ import annotations

import pytest
from django import http

from scheduler.selectors import queue_rules
from xceweb.dashboard import matrix_form


def _rules(**takes):
    return [
        queue_rules.Rule(name, 1, name == "low", frozenset(givers.split()), frozenset(), "", None)
        for name, givers in takes.items()
    ]


def _sent(text):
    return matrix_form.read(http.QueryDict(text))


def test_what_the_page_wrote_is_read_back_and_changes_nothing():
    rules = _rules(high="low mid", low="", mid="low")
    data = http.QueryDict(mutable=True)
    data.update(matrix_form.written(rules))
    data.setlist("takes", ["high:low", "high:mid", "mid:low"])
    data.setlist("preemptible", ["low"])

    sent = matrix_form.read(data)

    assert sent.versions == {"high": 1, "low": 1, "mid": 1}
    assert sent.changes() == {}
    assert sent.on(rules) == matrix_form.boxes(rules)
    assert matrix_form.drafted(rules, sent.after) == rules


def test_each_queue_wants_what_was_ticked_or_unticked_of_it():
    sent = _sent(
        "versions=high:3+low:1+mid:2&was=high:low+mid:low&was_preemptible=low"
        "&takes=high:mid&takes=mid:low&preemptible=mid&reason=x"
    )

    assert sent.changes() == {
        "high": {"preemptible_queues": ["mid"]},
        "low": {"preemptible": False},
        "mid": {"preemptible": True},
    }
    assert (sent.versions["high"], sent.reason) == (3, "x")


def test_changes_stand_on_top_of_what_others_changed_meanwhile():
    sent = _sent("versions=high:1+low:1+mid:1&was=high:low&takes=high:low&takes=mid:low")

    merged = sent.on(_rules(high="mid", low="", mid=""))

    assert merged.takes == {("high", "mid"), ("mid", "low")}
    assert merged.preemptible == {"low"}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "versions=high&takes=high:low",
        "versions=high:x&takes=high:low",
        "versions=high:1&takes=low:high",
        "versions=high:1&takes=high&takes=:&takes=high:",
        f"versions=high:1&takes=high:{'l' * 60}",
    ],
)
def test_what_makes_no_sense_counts_as_not_sent(text):
    assert _sent(text).changes() == {}
