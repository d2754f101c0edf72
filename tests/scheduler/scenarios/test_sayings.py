"""What a case says in its own words of why a session waits."""

from __future__ import annotations

import pytest

from scheduler.core import decisions
from scheduler.scenarios import sayings


@pytest.mark.parametrize("text", ["no-resources", "NO_RESOURCES", "no resources", " no-resources "])
def test_a_code_is_exact_however_it_is_written(text):
    assert sayings.reasons(text) == sayings.Meant(frozenset({"no-resources"}), True)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("no node in the group offers slot gpu", "never-fits"),
        ("2 gpu cannot be freed on any one node", "no-resources"),
        ("suspending frees cpu but not memory", "no-resources"),
    ],
)
def test_phrases_with_one_meaning_are_exact(text, code):
    assert sayings.reasons(text) == sayings.Meant(frozenset({code}), True)


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
