"""
Events in words, as far as their reader may see: "**render** started on **node-1**".

Pure functions over ``event_log.Entry``. With the sight of a summary a text has state, queue and times only:
no name, no owner, no node, no actor, no reason. ``**`` marks what a page prints bold; names are printed
through escaping.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable

from scheduler.core import decisions, explain, states
from scheduler.selectors import event_log, permissions

_ENDS = {
    states.Result.SUCCESS.value: "finished",
    states.Result.FAILURE.value: "failed",
    states.Result.CANCELLED.value: "was cancelled",
    states.Result.PREEMPTED.value: "ended: preempted",
    states.Result.TIMEOUT.value: "reached its time limit",
    states.Result.LOST.value: "was lost with its node",
}
_PLAIN = {
    "session.submitted": "was submitted",
    "session.dispatch_undone": "could not start and waits again",
    "session.resume_undone": "could not resume and stays suspended",
    "session.suspended": "is suspended",
    "session.requeued": "went back to the queue",
    "session.withdrawn": "keeps running: its preemption was withdrawn",
    "session.stop_failed": "could not be stopped and keeps running",
    "session.held_again": "ran although it was suspended: somebody continued its processes; it was stopped again",
    "session.released": "was released",
    "session.stop_asked": "is being stopped",
    "session.withdraw_asked": "may go on: its stop is being taken back",
    "session.withdraw_refused": "stops all the same: it was too late to take its stop back",
    "decision.handed_over": "goes on with a stop that was ordered for another session, which needs it no more",
    "session.claim_ended": "gave up the room that was kept for it",
    "queue.changed": "has new rules",
    "queue.policy_failed": "stops nobody: its preemption policy failed",
    "group.created": "was created",
    "group.withdrawn": "has its preemptions taken back",
    "node.added": "was added",
    "node.enrolled": "has a key and may join",
    "node.key_revoked": "lost a key: what it signs is refused",
    "node.joined": "joined",
    "node.hello": "reported in again",
}


def text(entry: event_log.Entry, sight: permissions.Sight) -> str:
    """Return the whole sentence for a feed, at the sight of its reader (above NONE)."""
    return f"{subject(entry, sight)} {predicate(entry, sight)}"


def subject(entry: event_log.Entry, sight: permissions.Sight) -> str:
    """Return whom the event is about; a session without its name where only the summary may be seen."""
    if entry.session_id is not None:
        if sight >= permissions.Sight.OPERATIONS:
            return f"**{_plain(entry.session_name)}**"
        return f"A session in **{entry.queue}**"
    if entry.node:
        return f"Node **{entry.node}**"
    if entry.type.startswith("queue."):
        return f"Queue **{_plain(entry.data.get('queue') or entry.data.get('slug') or '')}**"
    return f"Group **{entry.group}**" if entry.group else "The installation"


def predicate(entry: event_log.Entry, sight: permissions.Sight) -> str:
    """Return what happened, to be written after the subject."""
    sees_all = sight >= permissions.Sight.OPERATIONS
    worded = _WORDED.get(entry.type)
    if worded is not None:
        return worded(entry, sees_all)
    return _PLAIN.get(entry.type) or entry.type.rpartition(".")[2].replace("_", " ")


def _plain(name: object) -> str:
    return str(name or "").replace("*", "")


def _on_node(entry: event_log.Entry, sees_all: bool) -> str:
    name = entry.node or ", ".join(entry.data.get("nodes") or [])
    return f" on **{name}**" if sees_all and name else ""


def _by(entry: event_log.Entry, sees_all: bool) -> str:
    return f" by **{_plain(entry.actor_name)}**" if sees_all and entry.actor_id is not None else ""


def _scheduled(entry: event_log.Entry, sees_all: bool) -> str:
    return f"is being started{_on_node(entry, sees_all)}"


def _resuming(entry: event_log.Entry, sees_all: bool) -> str:
    return f"is being resumed{_on_node(entry, sees_all)}"


def _started(entry: event_log.Entry, sees_all: bool) -> str:
    verb = "runs again" if entry.data.get("resumed") else "runs"
    return f"{verb}{_on_node(entry, sees_all)}"


def _preempted(entry: event_log.Entry, sees_all: bool) -> str:
    return f"is being stopped to make room{_on_node(entry, sees_all)}"


def _stuck(entry: event_log.Entry, sees_all: bool) -> str:
    return f"is not proven stopped at its deadline and keeps its slots{_on_node(entry, sees_all)}"


def _escapes(entry: event_log.Entry, sees_all: bool) -> str:
    often = f"was continued **{entry.data.get('times')}** times while suspended{_on_node(entry, sees_all)}"
    return f"{often}: it takes processor time that others were given; cancel it, or resume it"


def _late(entry: event_log.Entry, sees_all: bool) -> str:
    return "has not started in time; its start is being cancelled"


def _decided(entry: event_log.Entry, sees_all: bool) -> str:
    if not sees_all:
        return "gets room"
    if entry.data.get("takes_over") and not entry.data.get("victims"):
        return f"takes over the room that is being made for a session behind it{_on_node(entry, sees_all)}"
    return f"gets room by stopping {_victims(entry)}{_on_node(entry, sees_all)}"


def _shadow(entry: event_log.Entry, sees_all: bool) -> str:
    how = f" by stopping {_victims(entry)}" if sees_all else ""
    return f"would have got room{how} (shadow: nothing was stopped)"


def _victims(entry: event_log.Entry) -> str:
    count = entry.data.get("victims")
    return f"**{count}** {'session' if count == 1 else 'sessions'}" if count else "other sessions"


def _kept(entry: event_log.Entry, sees_all: bool) -> str:
    return f"waits for room that is becoming free{_on_node(entry, sees_all)}"


def _claims(entry: event_log.Entry, sees_all: bool) -> str:
    return f"has waited too long: sessions behind it leave its room alone{_on_node(entry, sees_all)}"


def _waits(entry: event_log.Entry, sees_all: bool) -> str:
    reason = entry.data.get("reason")
    known = sees_all and reason in list(decisions.PendReason)
    return f"waits: {explain.pend_title(str(reason)).lower()}" if known else "waits"


def _ended(entry: event_log.Entry, sees_all: bool) -> str:
    how = _ENDS.get(str(entry.data.get("result")), "ended")
    code = entry.data.get("exit_code")
    return f"{how} with exit code **{code}**" if how == "failed" and sees_all and code else how


def _cancelled(entry: event_log.Entry, sees_all: bool) -> str:
    return f"is being cancelled{_by(entry, sees_all)}"


def _held(entry: event_log.Entry, sees_all: bool) -> str:
    match entry.data:
        case {"reason": "start-failed", "tries": tries}:
            return f"is held: **{tries}** starts in a row came to nothing"
        case {"reason": "cannot-be-ordered", "why": why}:
            return f"is held: its start cannot be ordered from an agent ({_plain(why)})"
    return f"is held{_by(entry, sees_all)}"


def _changed(entry: event_log.Entry, sees_all: bool) -> str:
    names = ", ".join(name.replace("_", " ") for name in entry.changed)
    return f"was changed{_by(entry, sees_all)}" + (f": {names}" if sees_all and names else "")


def _policy_changed(entry: event_log.Entry, sees_all: bool) -> str:
    state = (entry.data.get("after") or {}).get("preemption_state")
    if state:
        return f"has preemption **{state}**, set by **{_plain(entry.actor_name)}**"
    return f"has new rules{_by(entry, sees_all)}"


def _change_planned(entry: event_log.Entry, sees_all: bool) -> str:
    state = (entry.data.get("after") or {}).get("preemption_state")
    what = f"preemption **{state}**" if state else "new rules"
    return f"will have {what} at **{_moment(entry)}**{_by(entry, sees_all)}"


def _return_planned(entry: event_log.Entry, sees_all: bool) -> str:
    state = (entry.data.get("after") or {}).get("preemption_state")
    what = f"to preemption **{state}**" if state else "to its former rules"
    return f"goes back {what} by itself at **{_moment(entry)}**"


def _plan_ended(entry: event_log.Entry, sees_all: bool) -> str:
    which = "way back" if entry.data.get("kind") == "return" else "planned change"
    how = _PLAN_ENDS.get(str(entry.data.get("end")), "is not carried out")
    why = _plain(entry.data.get("text")) if sees_all else ""
    told = f"{how}{_by(entry, sees_all)}" if entry.data.get("end") == "cancelled" else how
    return f"has a {which} for **{_moment(entry)}** that {told}" + (f": {why}" if why else "")


_PLAN_ENDS = {
    "cancelled": "was cancelled",
    "overtaken": "is dropped, so that nothing is overwritten",
    "failed": "could not be carried out",
}


def _moment(entry: event_log.Entry) -> str:
    at = datetime.datetime.fromisoformat(str(entry.data.get("at"))).astimezone(datetime.UTC)
    return f"{at:%-d %b %H:%M} UTC"


def _node_changed(entry: event_log.Entry, sees_all: bool) -> str:
    state = entry.data.get("state") or entry.data.get("after")
    return f"is **{state}**{_by(entry, sees_all)}" if state else f"changed{_by(entry, sees_all)}"


def _outcome(entry: event_log.Entry, sees_all: bool) -> str:
    kind, cause = entry.data.get("outcome"), entry.data.get("cause")
    words = {
        "used": "used the room that was made for it",
        "partly": "used the room; not every session had to stop",
        "wasted": "did not use the room that was made for it",
        "transferred": "left the room that was being made for it to another session",
        "withdrawn": "needs no room any more: nobody else is stopped for it",
    }
    worded = words.get(str(kind), "has an outcome")
    return f"{worded} ({str(cause).replace('-', ' ')})" if cause and sees_all else worded


_WORDED: dict[str, Callable[[event_log.Entry, bool], str]] = {
    "session.scheduled": _scheduled,
    "session.resume_scheduled": _resuming,
    "session.started": _started,
    "session.preempted": _preempted,
    "session.waits": _waits,
    "session.claims": _claims,
    "session.stuck": _stuck,
    "session.late": _late,
    "session.escapes": _escapes,
    "decision.preempt": _decided,
    "decision.shadow": _shadow,
    "decision.wait": _kept,
    "session.ended": _ended,
    "session.cancel_asked": _cancelled,
    "session.held": _held,
    "session.changed": _changed,
    "group.policy_changed": _policy_changed,
    "group.change_planned": _change_planned,
    "group.return_planned": _return_planned,
    "group.plan_ended": _plan_ended,
    "node.state_changed": _node_changed,
    "decision.outcome": _outcome,
}
#: Every event type that has words of its own: those that the services tell.
KNOWN = frozenset(_PLAIN) | frozenset(_WORDED)
