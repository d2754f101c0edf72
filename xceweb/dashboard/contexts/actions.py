"""What the viewer may do to a session now: the buttons, each with what it means before it is pressed."""

from __future__ import annotations

from typing import Any

from django import urls

from scheduler import models
from scheduler.core import states
from scheduler.selectors import permissions

_S = states.SessionState
_ALIVE = frozenset(state.value for state in states.SessionState) - {_S.TERMINATED.value, _S.TERMINATING.value}
_WAITS = frozenset({_S.PENDING.value, _S.SUSPENDED.value})
_RUNS = frozenset({_S.RUNNING.value})

#: key -> (label, states in which it is offered, question, consequence, button, tone)
_ACTIONS: dict[str, tuple[str, frozenset[str], str, str, str, str]] = {
    "hold": (
        "Hold",
        _WAITS,
        "Hold this session?",
        "It does not start until it is released.",
        "Hold it",
        "primary",
    ),
    "suspend": (
        "Suspend",
        _RUNS,
        "Suspend this session?",
        "Its processes stand still and keep their memory until somebody releases it.",
        "Suspend it",
        "primary",
    ),
    "requeue": (
        "Requeue",
        _RUNS | {_S.SUSPENDED.value},
        "Put this session back into the queue?",
        "It is stopped and starts anew in its old place; what it has not saved is lost.",
        "Stop and requeue it",
        "danger",
    ),
    "cancel": (
        "Cancel",
        _ALIVE,
        "Cancel this session?",
        "It ends for good; what it has not saved is lost.",
        "Cancel it",
        "danger",
    ),
}
_RELEASE = ("release", "Release", "Release this session?", "It starts or goes on as soon as there is room.")


def of(viewer: models.User, session: models.Session) -> list[dict[str, Any]]:
    """Return the actions that are possible in the present state; none for those who may not act."""
    if not permissions.can_act(viewer, session):
        return []
    found = [_action(session, key) for key, action in _ACTIONS.items() if session.state in action[1]]
    if session.is_held and session.state in _WAITS:
        key, label, title, text = _RELEASE
        released = _shape(session, key, (label, title, text, "Release it", "primary"))
        found = [released, *[action for action in found if action["key"] != "hold"]]
    if session.state != _S.TERMINATED.value and permissions.can_change(viewer, session):
        found.insert(0, _change(session))
    return found


def _action(session: models.Session, key: str) -> dict[str, Any]:
    label, _, title, text, button, tone = _ACTIONS[key]
    return _shape(session, key, (label, title, text, button, tone))


def _shape(session: models.Session, key: str, words: tuple[str, str, str, str, str]) -> dict[str, Any]:
    label, title, text, button, tone = words
    return {
        "key": key,
        "label": label,
        "url": urls.reverse("dashboard:session-act", args=[session.public_id, key]),
        "title": title,
        "text": text,
        "button": button,
        "tone": tone,
        "fields": [],
    }


def _change(session: models.Session) -> dict[str, Any]:
    text = "The next round works with the new values; the change is kept in the time line."
    action = _shape(session, "change", ("Change", "Change its priorities", text, "Change it", "primary"))
    limits = {"type": "number", "required": True}
    priority = {
        "name": "priority",
        "label": f"Priority, at most {session.priority_cap}",
        "value": session.priority,
    }
    rank = {"name": "job_priority", "label": "Own rank (job priority)", "value": session.job_priority}
    choice = {
        "name": "is_preemptible",
        "label": "May be preempted",
        "type": "select",
        "value": "true" if session.is_preemptible else "false",
        "options": [{"value": "true", "label": "Yes"}, {"value": "false", "label": "No, opt out"}],
    }
    fields = [
        {**priority, **limits, "min": 0, "max": session.priority_cap},
        {**rank, **limits, "min": None, "max": None},
        choice,
    ]
    return {**action, "fields": fields}
