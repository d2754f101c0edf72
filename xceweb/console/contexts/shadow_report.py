"""What preemption would have done while a group was in shadow, in words."""

from __future__ import annotations

import datetime
from typing import Any

from django import urls

from scheduler import clock, models
from scheduler.selectors import permissions, shadow_reports, slot_kinds
from xceweb.common import wording
from xceweb.console.contexts import preview_costs
from xceweb.dashboard.contexts import words

#: A time in shadow that ended longer ago is history.
_RECENT = datetime.timedelta(days=7)
_MOST_REPEATS = 5


def load(viewer: models.User, group: models.ResourceGroup) -> dict[str, Any] | None:
    """Return the context of ``console/_shadow_report.html``; None where nothing recent is to be told."""
    if not permissions.can_preview(viewer, group):
        return None
    found = shadow_reports.period(group)
    if found is None or (found[1] is not None and found[1] < clock.now() - _RECENT):
        return None
    report = shadow_reports.load(viewer, group)
    return _shown(report) if report else None


def _shown(report: shadow_reports.Report) -> dict[str, Any]:
    kinds = slot_kinds.load()
    return {
        "since": report.since,
        "until": report.until,
        "sentence": _sentence(report),
        "figures": preview_costs.of_shadow(report, kinds) if report.decisions else [],
        "owners": [
            {"owner": one.owner, "stopped": one.stopped, "helped": one.helped}
            | {"lost": preview_costs.lost(one.lost, kinds) or "nothing"}
            for one in report.owners
        ],
        "repeats": [_repeat(row, times) for row, times in report.repeats[:_MOST_REPEATS]],
        "more_repeats": max(0, len(report.repeats) - _MOST_REPEATS),
        "note": _note(report),
    }


def _repeat(row: models.Session, times: int) -> dict[str, Any]:
    url = urls.reverse("dashboard:session-detail", args=[row.public_id])
    return {"label": row.name, "url": url, "times": times}


def _sentence(report: shadow_reports.Report) -> str:
    if not report.decisions:
        return "So far it would have stopped **nobody**."
    people = sum(bool(one.stopped) for one in report.owners)
    stopped = f"**{words.count(report.stopped, 'session')}** of **{people}** {'person' if people == 1 else 'people'}"
    helped = words.count(report.helped, "session")
    waited = wording.duration(report.waited_s * wording.MICROSECONDS)
    waits = "has waited" if report.helped == 1 else "have waited"
    still = f", **{report.still_waiting}** of them until now" if report.still_waiting else ""
    return f"On would have stopped {stopped} for **{helped}**, which {waits} **{waited}** since{still}."


def _note(report: shadow_reports.Report) -> str:
    cut = f" Only the newest {shadow_reports.MOST:,} decisions are counted." if report.is_cut else ""
    often = f" They came up {report.rounds:,} times in {words.count(report.decisions, 'different decision')}."
    return f"{shadow_reports.HONESTY} Each session's work is counted once.{often if report.decisions else ''}{cut}"
