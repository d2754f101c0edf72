"""One action on many sessions: the question before it, and what became of each."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from django import urls

from scheduler.selectors import permissions, sessions, slot_kinds
from scheduler.services import many
from xceweb.dashboard.contexts import session_list


@dataclasses.dataclass(frozen=True, slots=True)
class Words:
    """How an action is put: ``done`` completes "3 sessions ..."."""

    verb: str
    consequence: str
    done: str
    is_dangerous: bool = False


WORDS = {
    "hold": Words("Hold", "They do not start, or go on, until they are released.", "held"),
    "release": Words("Release", "They start or go on as soon as there is room.", "released"),
    "suspend": Words(
        "Suspend",
        "Their processes stand still and keep their memory until somebody releases them.",
        "being suspended",
    ),
    "resume": Words("Resume", "They go on as soon as there is room.", "free to go on"),
    "requeue": Words(
        "Requeue",
        "They are stopped and start anew in their old places; what they have not saved is lost.",
        "going back to the queue",
        is_dangerous=True,
    ),
    "cancel": Words(
        "Cancel", "They end for good; what they have not saved is lost.", "being cancelled", is_dangerous=True
    ),
}


def menu() -> list[dict[str, Any]]:
    """Return the actions that the list offers for what is ticked."""
    return [
        {
            "label": words.verb,
            "url": urls.reverse("dashboard:session-bulk", args=[action]),
            "is_dangerous": words.is_dangerous,
        }
        for action, words in WORDS.items()
    ]


def question(action: str, rows: Sequence[sessions.Row], *, back: str) -> dict[str, Any]:
    """
    Return the context of ``dashboard/session_bulk.html`` before anything is done.

    Args:
        back: the query of the list that was left.
    """
    may = [row for row in rows if row.sight >= permissions.Sight.OPERATIONS]
    return {
        **_common(action, back),
        "is_asked": True,
        "number": len(may),
        "left_out": len(rows) - len(may),
        "rows": _shown(may, {}),
    }


def answer(
    action: str, rows: Sequence[sessions.Row], outcomes: Sequence[many.Outcome], *, back: str
) -> dict[str, Any]:
    """Return the context of ``dashboard/session_bulk.html`` afterwards; rows as they are then."""
    refusals = {outcome.session.public_id: outcome.refusal for outcome in outcomes}
    return {
        **_common(action, back),
        "is_asked": False,
        "number": sum(not outcome.refusal for outcome in outcomes),
        "total": len(outcomes),
        "rows": _shown(rows, refusals),
    }


def _common(action: str, back: str) -> dict[str, Any]:
    address = urls.reverse("dashboard:session-list")
    return {
        "words": WORDS[action],
        "action_url": urls.reverse("dashboard:session-bulk", args=[action]),
        "back": back,
        "back_url": f"{address}?{back}" if back else address,
        "takes_reason": action == "cancel",
    }


def _shown(rows: Sequence[sessions.Row], refusals: dict[Any, str]) -> list[dict[str, Any]]:
    known = slot_kinds.load()
    return [{**session_list.row(row, known), "refusal": refusals.get(row.id, "")} for row in rows]
