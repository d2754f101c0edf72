"""One expectation of a story, judged."""

from __future__ import annotations

import decimal

import pytest

from scheduler.scenarios import findings


def test_what_cannot_be_judged_is_neither_true_nor_false():
    assert findings.found("a", "x", None, "y") == findings.unknown("a", "x")
    assert findings.unknown("a", "x").holds is None


def test_a_finding_says_how_it_is_and_how_it_should_be():
    found = findings.found("a", [decimal.Decimal("1.5")], False, {"v": True})

    assert (found.what, found.holds) == ("expect.a", False)
    assert found.text == "it is {'v': True}, expected ['1.5']"


@pytest.mark.parametrize(
    ("value", "names"),
    [(["b", "a", 1], ["1", "a", "b"]), ([], []), ("a", None), ([["a"]], None), (None, None)],
)
def test_names_are_a_list_of_words(value, names):
    assert findings.names(value) == names
