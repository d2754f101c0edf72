"""
One session's page: the session as the viewer may see it, its tabs, and what the chosen tab shows.

With a summary there is state, size, queue and times: every other value of the page is left out here, before
any template sees it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django import urls

from scheduler.core import states
from scheduler.selectors import explanations, permissions, slot_kinds
from xceweb.dashboard.contexts import (
    actions,
    session_header,
    session_seen,
    session_tabs,
    why_other,
    why_pending,
    why_preempted,
    words,
)

#: tab -> word; "why" is the page itself, "pending" and "preempted" show one explanation whatever the state is
TABS = {"timeline": "Time line", "output": "Output", "runs": "Runs", "facts": "Facts"}
EXPLANATIONS = ("pending", "preempted")


def load(seen: session_seen.Seen, tab: str) -> dict[str, Any]:
    """
    Return the context of ``dashboard/session_detail.html``.

    Args:
        tab: one of ``TABS`` or ``EXPLANATIONS``, or empty for the explanation of the present state.
    """
    context = {
        "session": describe(seen),
        "tab": tab or "why",
        "tabs": _tabs(seen, tab),
        "rail": session_header.rail(seen),
        "warning": session_header.warning(seen),
        "actions": actions.of(seen.viewer, seen.session),
        "json_url": urls.reverse("api:session-explanation", args=[seen.session.public_id]),
    }
    body = _BODIES.get(tab)
    return {**context, **body(seen)} if body else {**context, "why": why(seen, tab)}


def kind(seen: session_seen.Seen) -> str:
    """Return which explanation fits the present state: pending, preempted, other."""
    if seen.is_open and explanations.was_just_stopped(seen.session, seen.stops[0] if seen.stops else None):
        return "preempted"
    is_pending = seen.session.state == states.SessionState.PENDING.value
    return "pending" if is_pending and seen.is_open else "other"


def why(seen: session_seen.Seen, tab: str = "") -> dict[str, Any]:
    """Return the explanation of the present state, or the named one where it exists."""
    wanted = shown(seen, tab)
    if wanted == "preempted":
        return why_preempted.load(seen, seen.stops[0])
    return why_pending.load(seen) if wanted == "pending" else why_other.load(seen)


def shown(seen: session_seen.Seen, tab: str = "") -> str:
    """Return which explanation is shown: that of the present state, or the named one where it exists."""
    wanted = tab if tab in EXPLANATIONS else kind(seen)
    if wanted == "preempted" and seen.stops:
        return "preempted"
    is_pending = seen.session.state == states.SessionState.PENDING.value and seen.is_open
    return "pending" if wanted == "pending" and is_pending else "other"


def describe(seen: session_seen.Seen) -> dict[str, Any]:
    """Return the session itself, as far as it may be seen."""
    row = seen.session
    values = {
        "id": row.public_id,
        "name": seen.name,
        "url": urls.reverse("dashboard:session-detail", args=[row.public_id]),
        "state": row.state,
        "result": row.result,
        "attempt": row.attempt,
        "group": row.group.slug,
        "queue": row.queue.slug,
        "slots": slot_kinds.amounts(row.slots, seen.kinds),
        "node_count": row.node_count,
        "submitted_at": row.submitted_at,
        "held": row.is_held and row.state != states.SessionState.TERMINATED.value,
        "is_mine": row.owner_id == seen.viewer.pk,
        "can_see_inside": seen.sight == permissions.Sight.FULL,
        "is_summary": not seen.is_open,
    }
    return {**values, **(_inside(seen) if seen.is_open else _CLOSED)}


_CLOSED: dict[str, Any] = {
    "owner": "",
    "priority": words.NOTHING,
    "priority_cap": None,
    "job_priority": None,
    "nodes": [],
    "claim": None,
    "session_type": "",
    "is_preemptible": None,
    "wall_time_s": None,
    "preempted_count": words.NOTHING,
    "preempted_limit": None,
}


def _inside(seen: session_seen.Seen) -> dict[str, Any]:
    row = seen.session
    held = row.allocations.select_related("node").order_by("node__name")
    return {
        "owner": row.owner.get_username(),
        "priority": row.priority,
        "priority_cap": row.priority_cap,
        "job_priority": row.job_priority,
        "nodes": [allocation.node.name for allocation in held],
        "claim": _claim(seen),
        "session_type": row.type,
        "is_preemptible": row.is_preemptible,
        "wall_time_s": row.wall_limit,
        "preempted_count": row.times_preempted,
        "preempted_limit": row.group.policy.max_preemptions_per_session if row.group.policy else None,
    }


def _claim(seen: session_seen.Seen) -> dict[str, Any] | None:
    """Return the nodes that are kept for a session that waits and has waited too long, and since when."""
    if seen.session.state not in (states.SessionState.PENDING.value, states.SessionState.SUSPENDED.value):
        return None
    found = explanations.claim(seen.session)
    if found is None:
        return None
    return {"nodes": sorted(node.name for node in found.nodes.all()), "since": found.since}


def _tabs(seen: session_seen.Seen, current: str) -> list[dict[str, Any]]:
    first = {"label": "Why", "url": _url(seen), "is_current": not current, "count": None}
    return [first, *[_tab(seen, *item, current=current) for item in _further(seen)]]


def _further(seen: session_seen.Seen) -> list[tuple[str, str, int | None]]:
    found: list[tuple[str, str, int | None]] = []
    shown = kind(seen)
    if seen.stops and shown != "preempted":
        found.append(("preempted", "Why preempted", len(seen.stops)))
    if seen.is_open and shown == "preempted" and seen.session.state == states.SessionState.PENDING.value:
        found.append(("pending", "Why pending", None))
    if not seen.is_open:
        return [("timeline", TABS["timeline"], None)]
    return found + [(name, word, None) for name, word in TABS.items()]


def _tab(
    seen: session_seen.Seen, name: str, label: str, number: int | None, *, current: str
) -> dict[str, Any]:
    return {"label": label, "url": _url(seen, name), "is_current": name == current, "count": number}


def _url(seen: session_seen.Seen, tab: str = "") -> str:
    if not tab:
        return urls.reverse("dashboard:session-detail", args=[seen.session.public_id])
    return urls.reverse("dashboard:session-tab", args=[seen.session.public_id, tab])


_BODIES: dict[str, Callable[[session_seen.Seen], dict[str, Any]]] = {
    "timeline": session_tabs.timeline,
    "output": session_tabs.output,
    "runs": session_tabs.runs,
    "facts": session_tabs.facts,
}
