"""The head of a session's page: the steps of its life so far, and a warning while it is being stopped."""

from __future__ import annotations

import datetime
from typing import Any

from scheduler.core import states
from scheduler.selectors import event_log
from xceweb.common import marks
from xceweb.dashboard.contexts import session_seen

_S = states.SessionState
#: Steps that the rail shows; what lies between the first and the last ones is folded.
_MOST = 7


def rail(seen: session_seen.Seen) -> list[dict[str, Any]]:
    """Return the steps from submission to now, each with its time; the last one is the present state."""
    row = seen.session
    passed = [_step("pending", "Submitted", row.submitted_at)]
    passed += [_of_event(entry) for entry in seen.entries if entry.data.get("state") in _SHOWN]
    if len(passed) > _MOST:
        folded = len(passed) - _MOST + 1
        passed = [passed[0], _step("", f"{folded} more", None), *passed[folded + 1 :]]
    if row.state == _S.PENDING.value and len(passed) == 1:
        passed.append(_step("pending", "Waiting", None))
    passed[-1]["is_current"] = True
    return passed


_SHOWN = {state.value for state in states.SessionState}


def _of_event(entry: event_log.Entry) -> dict[str, Any]:
    state = str(entry.data["state"])
    mark = marks.session(state, str(entry.data.get("result", "")))
    return {
        "icon": mark.icon,
        "css": f"i-{state}",
        "word": "Queued" if state == _S.PENDING.value else mark.word,
        "at": entry.at,
        "text": "",
        "is_current": False,
    }


def _step(state: str, word: str, at: datetime.datetime | None) -> dict[str, Any]:
    icon = marks.session(state).icon if state else "dash"
    css = f"i-{state}" if state else "ink-3"
    return {"icon": icon, "css": css, "word": word, "at": at, "text": "", "is_current": False}


def warning(seen: session_seen.Seen) -> dict[str, Any] | None:
    """Return what stands above the page while a preemption stops the session, else None."""
    row = seen.session
    if row.state != _S.PREEMPTED.value or not seen.is_open:
        return None
    return {
        "sentence": "This session is being stopped to make room.",
        "deadline": row.state_deadline,
        "note": _NOTES.get(row.stop_goal, ""),
    }


_NOTES = {
    "suspend": "Its processes are stopped where they are and go on later.",
    "reschedule": "It returns to the queue; what it has not saved by then is lost.",
    "terminate": "It ends; what it has not saved by then is lost.",
}
