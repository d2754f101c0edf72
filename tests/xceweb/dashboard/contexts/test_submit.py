"""The dry run in words."""

from __future__ import annotations

from scheduler import errors
from xceweb.dashboard.contexts import submit


def test_a_refusal_is_told_by_its_fields() -> None:
    """Each fault is a sentence."""
    refusal = errors.Refusal(fields={"slots": "mem: 4x is none", "queue": "there is none."})

    assert submit.refused(refusal, {})["note"] == "mem: 4x is none. there is none."
    assert submit.refused(errors.Refusal("not so"), {})["note"] == "not so."
    assert submit.refused(None, {"name": ["Missing."]})["note"] == "name: Missing."


def test_nothing_is_judged_before_there_is_something() -> None:
    """No fault, no answer."""
    assert submit.incomplete()["outcome"] == "waits"
