"""Answers are values: equal, hashable kinds, words that stay."""

from __future__ import annotations

from scheduler.core.counterfactuals import answers


def test_the_words_of_kinds_and_outcomes_stay_as_programs_know_them():
    assert [str(kind) for kind in answers.Kind] == [
        "spared-job-priority", "spared-priority", "spared-later-start", "spared-opt-out", "starts-with-less",
        "starts-scaled", "starts-on-fewer-nodes", "preemption-on", "higher-priority", "priority-at-cap",
        "higher-job-priority", "first-eligible",
    ]  # fmt: skip
    assert [str(outcome) for outcome in answers.Outcome] == ["starts", "stops", "kept", "waits"]
