"""Changed requests that the core has tried, in words: what would help, and what would not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler.core import explain
from scheduler.selectors import dry_run, slot_kinds
from xceweb.common import wording
from xceweb.dashboard.contexts import words


def helps(one: dry_run.Variant) -> bool:
    """Say whether the change makes the session start."""
    return one.answer.outcome in ("starts", "stops")


def line(one: dry_run.Variant, kinds: Mapping[str, slot_kinds.Kind]) -> dict[str, Any]:
    """Return one variant: ``helps``, ``label`` (the change) and ``fact`` (what the core answered)."""
    return {"helps": helps(one), "label": _label(one, kinds), "fact": _fact(one)}


def _label(one: dry_run.Variant, kinds: Mapping[str, slot_kinds.Kind]) -> str:
    if one.change == "priority":
        return f"With priority {one.value}"
    return f"With {wording.quantity(one.value, slot_kinds.of(one.change, kinds))}"


def _fact(one: dry_run.Variant) -> str:
    where = ", ".join(one.answer.nodes)
    if one.answer.outcome == "starts":
        return f"starts now on {where}"
    if one.answer.outcome == "stops":
        return f"starts on {where} after stopping {words.count(one.answer.victims, 'session')}"
    reason = str(one.answer.pend["reason"]) if one.answer.pend else "not-evaluated"
    return f"does not start now: {explain.pend_title(reason).lower()}"
