"""Each case by its kind, and one that breaks the run keeps no other from running."""

from __future__ import annotations

import pytest

from scheduler.scenarios import answers, entries, playing


def test_a_case_with_a_fault_is_failed_and_one_that_asks_for_more_is_skipped():
    fault = entries.Case("A", entries.Kind.SELECT, 1, fault="line 3: no")
    beyond = entries.Case("B", entries.Kind.LIFECYCLE, 1, beyond=("tags", "kernels"))
    results = [playing.run(case, lambda case: pytest.fail("not to be played")) for case in (fault, beyond)]

    assert [(r.verdict, r.why) for r in results] == [
        (answers.Verdict.FAILED, "line 3: no"),
        (answers.Verdict.SKIPPED, "tags; kernels"),
    ]


def test_what_breaks_the_run_is_a_failed_case_with_the_error():
    def broken(case):
        raise ZeroDivisionError("by nothing")

    got = playing.run(entries.Case("A", entries.Kind.LIFECYCLE, 7), broken)

    assert got.verdict is answers.Verdict.FAILED
    assert got.why == "line 7: it broke the run, which is a fault of ours: ZeroDivisionError: by nothing"
