"""What a case says in its own words of why a session waits."""

from __future__ import annotations

import pytest

from scheduler.core import decisions
from scheduler.scenarios import sayings

SHORT = decisions.SHORT_OF_SLOTS


@pytest.mark.parametrize("text", ["no-resources", "NO_RESOURCES", "no resources", " no-resources "])
def test_a_code_is_exact_however_it_is_written(text):
    assert sayings.reasons(text) == sayings.Meant(SHORT, True)
    assert sayings.reasons(text).text == "no-resources"


def test_another_code_stands_for_itself():
    meant = sayings.reasons("FRAGMENTED")

    assert (meant, meant.text) == (sayings.Meant(frozenset({"fragmented"}), True), "fragmented")


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("no node in the group offers slot gpu", {"never-fits"}),
        ("2 gpu cannot be freed on any one node", SHORT),
        ("suspending frees cpu but not memory", SHORT),
    ],
)
def test_phrases_with_one_meaning_are_exact(text, codes):
    assert sayings.reasons(text) == sayings.Meant(frozenset(codes), True)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("it is held", "held"),
        ("the group is stopped", "group-stopped"),
        ("queue low is closed", "queue-stopped"),
        ("not before noon", "begin-time"),
        ("a dependency is not met", "dependency"),
        ("no node has the feature", "no-matching-node"),
        ("larger than any node", "never-fits"),
        ("the owner's quota is used up", "owner-limit"),
        ("waiting for v to leave", "awaiting-victims"),
        ("slots are kept for p", "room-claimed"),
        ("the plug-in failed", "policy-failed"),
        ("a higher session on n1 holds it", "no-resources"),
    ],
)
def test_other_sentences_are_known_by_their_main_words_and_only_confirm(text, code):
    meant = sayings.reasons(text)

    assert code in meant.codes
    assert not meant.is_exact


def test_what_says_nothing_that_is_known_means_nothing():
    assert sayings.reasons("a kind thought") == sayings.Meant(frozenset(), False)


def test_every_code_is_known_by_itself():
    assert {code for reason in decisions.PendReason for code in sayings.reasons(reason).codes} == set(
        decisions.PendReason
    )
