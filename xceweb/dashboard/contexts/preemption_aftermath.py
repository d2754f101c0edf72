"""What became of a preemption: times and delays, whether the room was used, what was lost, what comes next."""

from __future__ import annotations

import datetime
import itertools
from typing import Any

from scheduler import models
from scheduler.core import explain, states
from scheduler.selectors import decisions, explanations
from xceweb.common import wording
from xceweb.dashboard.contexts import session_seen, why_pending, words

_S = states.SessionState
_OUTCOMES = {
    "used": "Yes: the session for which room was made **started on it**.",
    "partly": "Yes: it started, and **not every session had to stop**.",
    "wasted": "No: the room was made, and **nobody used it**",
    "transferred": "The room went to **another session**",
    "withdrawn": "The decision was **taken back**",
    "open": "It is **under way**: the room is being made.",
}
_FATES = {
    "stopped": "It stopped",
    "finished": "It finished by itself after the warning",
    "withdrawn": "Its stop was taken back",
    "stop-failed": "Its stop failed",
    "lost": "Its node was lost",
}


def timing(seen: session_seen.Seen, victim: models.Victim) -> dict[str, Any]:
    """Return the steps from the decision to the start on the freed room, with the time between them."""
    decision = victim.decision
    started = decisions.start_after(decision)
    fate = getattr(victim, "fate", None)
    steps = [_step(decision.at, "decision", "i-preempted", "Decided and told to stop")]
    if fate is not None:
        steps.append(_step(fate.at, "s-suspended", "i-suspended", _FATES[fate.fate]))
    if started is not None:
        steps.append(_step(started, "s-running", "i-running", "The other session runs on the freed room"))
    steps.sort(key=lambda step: step["at"])
    for before, after in itertools.pairwise(steps):
        after["delay_us"] = wording.as_microseconds(after["at"] - before["at"])
    return {
        "spans": _spans(decision.at, fate, started),
        "label": "From the decision to the start",
        "steps": steps,
    }


def _step(at: datetime.datetime, icon: str, css: str, what: str) -> dict[str, Any]:
    return {"at": at, "delay_us": None, "icon": icon, "css": css, "what": what, "sub": "", "url": ""}


def _spans(
    at: datetime.datetime, fate: models.VictimFate | None, started: datetime.datetime | None
) -> list[dict[str, Any]]:
    if fate is None or started is None or not at <= fate.at <= started:
        return []
    stop, start = wording.as_microseconds(fate.at - at), wording.as_microseconds(started - fate.at)
    return [
        {"kind": "preempted", "us": stop, "text": f"stopping {wording.duration(stop)}"},
        {"kind": "scheduled", "us": start, "text": f"starting {wording.duration(start)}"},
    ]


def outcome(decision: models.Decision) -> dict[str, Any]:
    """Return whether the room was used, in words."""
    row = getattr(decision, "outcome", None)
    state = row.kind if row else "open"
    text = _OUTCOMES[state]
    if row is None and hasattr(decision, "given_up"):
        text = "It is being **taken back**: whether a session still has to stop is not known yet."
    if not text.endswith("."):
        text = f"{text}{f' ({row.cause})' if row and row.cause else ''}."
    return {"state": state, "sentence": text}


def lost(seen: session_seen.Seen, victim: models.Victim) -> dict[str, Any]:
    """Return what the stop cost the session: its run so far, unless that was kept."""
    ran_s = (
        int((victim.decision.at - victim.started_at_then).total_seconds()) if victim.started_at_then else 0
    )
    kept = _kept(victim)
    tone = "" if kept else "cost"
    ran = wording.duration(ran_s * wording.MICROSECONDS)
    figures = [{"value": ran, "unit": "", "label": "run since its last start", "tone": tone}]
    devices = seen.session.slots.get("cuda.device", 0)
    if ran_s * devices >= _LEAST_DEVICE_S:
        hours = f"{ran_s * devices // 36 / 100:.2f}"
        figures.append({"value": hours, "unit": "GPU hours", "label": "used in that time", "tone": tone})
    return {"figures": figures, "note": kept or _LOST_NOTE}


_LEAST_DEVICE_S = 36  # a hundredth of a GPU hour
_LOST_NOTE = "What it had not saved by the time of the stop is lost."


def _kept(victim: models.Victim) -> str:
    fate = getattr(victim, "fate", None)
    if fate is not None and fate.fate in ("withdrawn", "stop-failed"):
        return "Nothing: it was not stopped."
    if fate is not None and fate.fate == "finished":
        return "Nothing: it had finished."
    if victim.mode == "suspend":
        return "Nothing: its processes keep their memory and go on from where they stood."
    run = models.Run.objects.filter(session=victim.session_id, attempt=victim.attempt).first()
    if run is not None and run.was_checkpointed:
        return "Nothing that matters: it saved its state after the warning."
    return ""


def next_(seen: session_seen.Seen, victim: models.Victim) -> dict[str, Any]:
    """Return what comes next, by the mode and by where the session is now."""
    return {
        "sentence": words.bold(_next_sentence(seen, victim)),
        "link": None,
        "facts": _next_facts(seen, victim),
    }


def _next_sentence(seen: session_seen.Seen, victim: models.Victim) -> str:
    row = seen.session
    if row.state == _S.PREEMPTED.value:
        return f"It is being stopped. {explain.what_next(victim.decision.record, row.pk)}"
    if row.state in (_S.PENDING.value, _S.SUSPENDED.value):
        reason = explanations.pend_reason(row)
        waits = f" {why_pending.sentence(reason, seen.kinds)}" if reason else ""
        return f"{explain.what_next(victim.decision.record, row.pk)}{waits}"
    if row.state == _S.TERMINATED.value:
        return (
            "It is over."
            if row.result != "preempted"
            else "It does not start again by itself: submit it anew."
        )
    return f"It is {row.state} again."


def _next_facts(seen: session_seen.Seen, victim: models.Victim) -> list[dict[str, Any]]:
    row, policy = seen.session, seen.session.group.policy
    found = [words.fact("Preempted so far", words.count(row.times_preempted, "time"))]
    if policy and policy.max_preemptions_per_session:
        found.append(words.fact("Protected after", words.count(policy.max_preemptions_per_session, "time")))
    if victim.mode == "reschedule" and row.type == "interactive":
        found.append(words.fact("Interactive", "an interactive session loses its state when it starts anew"))
    return found
