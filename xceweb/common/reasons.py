"""
The closed list of reasons: title, code and help page of each, by the part of the glossary in which it stands.

Built from the enums themselves, so that a new member shows up, and fails a test until it has its texts.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping

from django import urls

from scheduler import models
from scheduler.core import decisions, explain
from xceweb.common.reason_pages import outcomes, pending, verdicts
from xceweb.common.reason_pages.page import Page


@dataclasses.dataclass(frozen=True, slots=True)
class Reason:
    """One reason; its code is its permalink, and unique over all parts."""

    code: str
    label: str
    meaning: str  #: one sentence or two, for the list
    page: Page


@dataclasses.dataclass(frozen=True, slots=True)
class Part:
    """One closed list."""

    id: str
    heading: str
    text: str
    reasons: tuple[Reason, ...]


def parts() -> list[Part]:
    """Return the parts of the glossary, each in the order of its enum."""
    return [
        Part(
            "pending",
            "Why a session waits",
            "A waiting session has exactly one headline reason, the first that applies in this order.",
            tuple(_pend(reason) for reason in decisions.PendReason),
        ),
        Part(
            "verdicts",
            "Why a session was stopped, or was not",
            "Every running session of the group gets one verdict when room is looked for.",
            tuple(_verdict(verdict) for verdict in decisions.Verdict),
        ),
        Part(
            "outcomes",
            "What became of a preemption",
            "Every preemption is followed until its outcome is known.",
            tuple(_outcome(kind) for kind in models.Outcome.Kind.values),
        ),
    ]


def find(code: str) -> tuple[Part, Reason] | None:
    """Return a reason with its part, None for an unknown code."""
    return next(((part, one) for part in parts() for one in part.reasons if one.code == code), None)


def url(code: str) -> str:
    """Return the address of a reason's page."""
    return urls.reverse("help:reason", args=[code])


def _pend(reason: decisions.PendReason) -> Reason:
    code = reason.value
    return Reason(code, explain.pend_title(code), explain.pend_help(code), pending.PAGES[code])


def _verdict(verdict: decisions.Verdict) -> Reason:
    label = explain.verdict_text(verdict.value, {}).partition(":")[0]
    page = verdicts.PAGES[verdict.value]
    return Reason(verdict.value, label[:1].upper() + label[1:], page.meaning, page)


def _outcome(code: str) -> Reason:
    page = outcomes.PAGES[code]
    return Reason(code, outcomes.TITLES[code], page.meaning, page)


def without_page(codes: Iterable[str], pages: Mapping[str, Page]) -> list[str]:
    """Return the codes that lack a page, or whose page lacks one of its texts."""
    complete = {code for code, page in pages.items() if all(dataclasses.astuple(page))}
    return [code for code in codes if code not in complete]
