"""Tried changes in words."""

from __future__ import annotations

import pytest

from scheduler.selectors import dry_run
from xceweb.dashboard.contexts import variants

ANSWERS = {
    "starts": (dry_run.Answer("starts", ("n-1",), 0, "", None), "starts now on n-1"),
    "stops": (dry_run.Answer("stops", ("n-1",), 2, "owner", None), "starts on n-1 after stopping 2 sessions"),
    "waits": (dry_run.Answer("waits", (), 0, "", {"reason": "held"}), "does not start now: held"),
}


@pytest.mark.parametrize("outcome", sorted(ANSWERS))
def test_an_answer_is_told(outcome: str) -> None:
    """Also one that does not help."""
    answer, fact = ANSWERS[outcome]

    line = variants.line(dry_run.Variant("cuda.device", 2, answer), {})

    assert (line["label"], line["fact"]) == ("With 2 cuda.device", fact)
    assert line["helps"] is (outcome != "waits")
