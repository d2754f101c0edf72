"""Would preemption help a waiting session: the switch, who never stops others, and who was weighed how."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler import models
from scheduler.core import decisions, entities, explain, states
from scheduler.selectors import counterfactuals, explanations
from xceweb.dashboard.contexts import candidates, session_seen, words

R = decisions.PendReason
_MOST = 12
#: Headlines of sessions that others might be stopped for.
_TRIED = decisions.SHORT_OF_SLOTS | {R.POLICY_FAILED, R.HOLDS_CLAIM, R.ROOM_CLAIMED}
Views = list[Mapping[str, Any]]


def load(seen: session_seen.Seen, row: models.PendReason, names: Mapping[int, str]) -> dict[str, Any] | None:
    """
    Return what preemption could do, from the record of the wait; None where nobody is stopped for such a reason.

    Returns:
        ``is_open`` says that the record does not tell who was weighed, and that ``again`` finds it out.
    """
    if not row.candidates and row.reason not in _TRIED:
        return None
    refusal = _refusal(seen.session)
    if refusal:
        return {"sentence": refusal, "candidates": [], "is_open": False}
    if not row.candidates:
        return {"sentence": "", "candidates": [], "is_open": True}
    return _shown(seen, row.candidates, names)


def again(seen: session_seen.Seen) -> dict[str, Any]:
    """Return who would be weighed now, by a round on the present state."""
    refusal = _refusal(seen.session)
    found = None if refusal else counterfactuals.weighed(seen.session)
    if found is None:
        return {"sentence": refusal or "Could not be computed.", "candidates": [], "is_open": False}
    has_room, views = found
    if has_room:
        return {"sentence": "The next round starts it, or makes room.", "candidates": [], "is_open": False}
    return _shown(seen, views, explanations.node_names(explanations.node_ids(views)))


def _refusal(session: models.Session) -> str:
    """Return why nobody is ever stopped for this session, empty where somebody may be."""
    state = session.group.policy.preemption_state if session.group.policy else "off"
    if state != entities.PreemptionState.ON:
        return f"Preemption is **{state}** in {session.group.slug}: nobody is stopped for a waiting session."
    if session.node_count > 1:
        return "No: nobody is stopped for a session on several nodes."
    if session.is_private or session.type == entities.SessionType.SYSTEM:
        return "No: nobody is stopped for a private or system session."
    if session.state != states.SessionState.PENDING:
        return "No: nobody is stopped for a suspended session."
    return ""


def _shown(seen: session_seen.Seen, found: Views, names: Mapping[int, str]) -> dict[str, Any]:
    others = explanations.others(seen.viewer, candidates.ids(found))
    views = candidates.visible(found, others)
    if not views:
        text = "No running session was a candidate, as far as you may see."
        return {"sentence": text, "candidates": [], "is_open": False}
    rows = _rows(seen, views, (others, names))
    return {"sentence": _counted(views), "candidates": rows, "is_open": False}


def _counted(views: Views) -> str:
    counts = explain.verdict_counts(views)
    parts = [f"{verdict.replace('-', ' ')} (**{number}**)" for verdict, number in counts.items()]
    were = "was" if len(views) == 1 else "were"
    text = f"No: {words.count(len(views), 'session')} {were} weighed: {', '.join(parts)}."
    return f"{text} The first {_MOST} of them:" if len(views) > _MOST else text


def _rows(
    seen: session_seen.Seen, views: Views, known: tuple[candidates.Others, Mapping[int, str]]
) -> list[dict[str, Any]]:
    others, names = known
    found = []
    for view in views[:_MOST]:
        other = others.get(view["session_id"])
        is_own = other is not None and other.session.owner_id == seen.session.owner_id
        line = candidates.row(view, others, axis="owner" if is_own else "queue", kinds=seen.kinds)
        found.append({**line, "node": ", ".join(words.names_of(view["node_ids"], names))})
    return found
