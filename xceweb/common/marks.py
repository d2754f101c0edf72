"""
How states, results, switches and events look: one symbol and one style key each.

Colour, shape and word always go together; the words of states are the states' own names. A state or event
that this table does not know is shown plainly, never hidden.
"""

from __future__ import annotations

import dataclasses
import enum


@dataclasses.dataclass(frozen=True, slots=True)
class Mark:
    """The look of one state: ``key`` selects the style, ``icon`` the symbol, ``word`` is what people read."""

    key: str
    icon: str
    word: str


_ALIVE = {
    "pending": Mark("pending", "s-pending", "Pending"),
    "scheduled": Mark("scheduled", "s-scheduled", "Scheduled"),
    "running": Mark("running", "s-running", "Running"),
    "preempted": Mark("preempted", "s-preempted", "Preempted"),
    "suspended": Mark("suspended", "s-suspended", "Suspended"),
    "stopping": Mark("stopping", "s-stopping", "Stopping"),
    "terminating": Mark("terminating", "s-terminating", "Terminating"),
}
_OVER = {
    "success": Mark("ended-success", "s-success", "Success"),
    "failure": Mark("ended-failure", "s-failure", "Failure"),
    "preempted": Mark("ended-preempted", "s-endpreempted", "Preempted"),
    "cancelled": Mark("ended-cancelled", "s-cancelled", "Cancelled"),
    "timeout": Mark("ended-timeout", "s-timeout", "Timeout"),
    "lost": Mark("ended-lost", "s-lost", "Lost"),
}
_NODES = {
    "ready": Mark("node-ready", "check", "Ready"),
    "draining": Mark("node-draining", "drain", "Draining"),
    "suspect": Mark("node-suspect", "warn", "Suspect"),
    "down": Mark("node-down", "cross", "Down"),
}
_QUEUES = {
    "open": Mark("node-ready", "check", "Open"),
    "no_submit": Mark("node-draining", "drain", "Closed to submits"),
    "stopped": Mark("node-suspect", "pause", "Stopped"),
}
_OUTCOMES = {
    "used": Mark("outcome-used", "check", "Used"),
    "partly": Mark("outcome-partly", "half", "Partly used"),
    "wasted": Mark("outcome-wasted", "warn", "Wasted"),
    "transferred": Mark("outcome-other", "rerun", "Transferred"),
    "withdrawn": Mark("outcome-other", "undo", "Withdrawn"),
    "open": Mark("outcome-open", "clock", "Under way"),
    "shadow": Mark("outcome-other", "l-shadow", "Shadow only"),
}
_LAMPS = {
    "off": Mark("off", "l-off", "Off"),
    "shadow": Mark("shadow", "l-shadow", "Shadow"),
    "on": Mark("on", "l-on", "On"),
}
_TABLES = {"node": _NODES, "queue": _QUEUES, "outcome": _OUTCOMES, "lamp": _LAMPS}

#: Last word of an event's type (``session.started``, ``group.policy_changed``) -> (symbol, colour class).
EVENT_ICONS = {
    "submitted": ("s-pending", "i-pending"),
    "waits": ("s-pending", "i-pending"),
    "requeued": ("s-pending", "i-pending"),
    "released": ("s-pending", "i-pending"),
    "dispatch_undone": ("s-pending", "i-pending"),
    "held": ("pause", "i-pending"),
    "scheduled": ("s-scheduled", "i-scheduled"),
    "resume_scheduled": ("s-scheduled", "i-scheduled"),
    "wait": ("s-scheduled", "i-scheduled"),
    "started": ("s-running", "i-running"),
    "withdrawn": ("undo", "i-running"),
    "withdraw_asked": ("undo", "i-running"),
    "withdraw_refused": ("s-preempted", "i-preempted"),
    "preempted": ("s-preempted", "i-preempted"),
    "preempt": ("decision", "i-preempted"),
    "shadow": ("l-shadow", "i-preempted"),
    "outcome": ("decision", "ink-3"),
    "policy_changed": ("l-on", "i-preempted"),
    "change_planned": ("clock", "i-preempted"),
    "return_planned": ("clock", "i-preempted"),
    "plan_ended": ("clock", "ink-3"),
    "suspended": ("s-suspended", "i-suspended"),
    "resume_undone": ("s-suspended", "i-suspended"),
    "stop_asked": ("s-stopping", "i-suspended"),
    "stop_failed": ("warn", "i-failure"),
    "stuck": ("warn", "i-failure"),
    "held_again": ("s-suspended", "i-suspended"),
    "escapes": ("warn", "i-failure"),
    "policy_failed": ("warn", "i-failure"),
    "cancel_asked": ("s-terminating", "i-terminating"),
    "ended": ("check", "ink-3"),
    "changed": ("info", "ink-3"),
    "created": ("plus", "ink-3"),
    "joined": ("nodes", "ink-3"),
    "hello": ("nodes", "ink-3"),
    "state_changed": ("nodes", "ink-3"),
}
_PLAIN_EVENT = ("info", "ink-3")


def session(state: str, result: str | None = "") -> Mark:
    """Return the look of a session: by its result once it is terminated, else by its state."""
    state, result = _plain(state), _plain(result)
    if state == "terminated":
        return _OVER.get(result) or Mark("ended-cancelled", "s-cancelled", "Terminated")
    return _ALIVE.get(state) or _unknown(state)


def of(what: str, value: str) -> Mark:
    """Return the look of a ``node``, a ``queue``, a decision's ``outcome`` or the ``lamp`` of a switch."""
    return _TABLES[what].get(_plain(value)) or _unknown(_plain(value))


def event(kind: str) -> tuple[str, str]:
    """Return symbol and colour class of an event type; unknown types get a plain sign."""
    return EVENT_ICONS.get(kind.rpartition(".")[2].replace("-", "_"), _PLAIN_EVENT)


def _plain(value: object) -> str:
    return str(value.value if isinstance(value, enum.Enum) else value or "").lower()


def _unknown(word: str) -> Mark:
    return Mark("unknown", "info", word.replace("_", " ").capitalize() or "Unknown")
