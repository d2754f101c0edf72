"""Why a session is scheduled, running, suspended, being stopped or over: one sentence, numbers, what could stop it."""

from __future__ import annotations

from typing import Any

from scheduler.core import states
from scheduler.selectors import explanations, signal_names
from xceweb.common import wording
from xceweb.dashboard.contexts import session_seen, session_tabs, words

_S = states.SessionState
_HEADS = {
    _S.PENDING.value: ("What it waits for", "pending"),
    _S.SCHEDULED.value: ("Why it starts", "scheduled"),
    _S.RUNNING.value: ("Why it runs", "running"),
    _S.PREEMPTED.value: ("What happens to it", "quiet"),
    _S.SUSPENDED.value: ("Why it is suspended", "suspended"),
    _S.STOPPING.value: ("Why it is being stopped", "suspended"),
    _S.TERMINATING.value: ("Why it ends", "quiet"),
}
_ENDS = {
    "success": "It finished with exit code **0**.",
    "cancelled": "It was **cancelled** before it had finished.",
    "preempted": "It was **stopped to make room** for a session before it. That is no failure of its own.",
    "timeout": "It reached its **time limit** and was ended.",
    "lost": "Its **node was lost**, and it may not start anew by itself.",
}


def load(seen: session_seen.Seen) -> dict[str, Any]:
    """Return the explanation; with a summary only the state in words."""
    eyebrow, tone = _head(seen)
    context = {
        "kind": "other",
        "eyebrow": eyebrow,
        "tone": tone,
        "note": "",
        "facts": [],
        "steps": [],
        "risk": None,
    }
    if not seen.is_open:
        sentence = f"A session of queue **{seen.session.queue.slug}**, now **{seen.session.state}**."
        return {**context, "sentence": sentence, "note": "You see its state, size, queue and times."}
    return {
        **context,
        "sentence": _sentence(seen),
        "note": _note(seen),
        "facts": _facts(seen),
        "steps": session_tabs.steps(seen, seen.entries[-8:]),
        "risk": _risk(seen),
    }


def _head(seen: session_seen.Seen) -> tuple[str, str]:
    row = seen.session
    if row.state != _S.TERMINATED.value:
        return _HEADS[row.state]
    return "How it ended", "failure" if row.result == "failure" and seen.is_open else "quiet"


def _sentence(seen: session_seen.Seen) -> str:
    row = seen.session
    where = _where(seen)
    if row.state == _S.SCHEDULED.value:
        return (
            f"It is being {'resumed' if row.is_resume else 'started'}{where}; the node has not answered yet."
        )
    if row.state == _S.RUNNING.value:
        return f"It runs{where}{_since(row)}{_made_room(seen)}."
    if row.state == _S.SUSPENDED.value:
        return _suspended(row, where)
    if row.state == _S.TERMINATED.value:
        return _ended(row)
    return {
        _S.PREEMPTED.value: f"It is being stopped{where} to make room for a session before it.",
        _S.STOPPING.value: f"A person asked to {row.stop_goal or 'stop'} it; it keeps its slots until that is proven.",
        _S.TERMINATING.value: f"It is being ended{where}; it keeps its slots until its processes are gone.",
        _S.PENDING.value: "It waits for its start.",
    }[row.state]


def _where(seen: session_seen.Seen) -> str:
    held = seen.session.allocations.select_related("node").order_by("node__name")
    names = ", ".join(one.node.name for one in held)
    return f" on **{names}**" if names else ""


def _since(row: Any) -> str:
    return f" since **{row.started_at:%H:%M:%S} UTC**" if row.started_at else ""


def _made_room(seen: session_seen.Seen) -> str:
    decision = explanations.room_made(seen.session)
    if decision is None or decision.attempt != seen.session.attempt or decision.kind != "preempt":
        return ""
    number = len(decision.record.get("victims", ()))
    return f"; **{words.count(number, 'lower session')}** made room for it"


def _suspended(row: Any, where: str) -> str:
    if row.is_held:
        return f"It was suspended{where} by a person and goes on **only after a release**."
    return f"It is suspended{where} and goes on by itself **as soon as there is room**."


def _ended(row: Any) -> str:
    if row.result != "failure":
        return _ENDS.get(row.result, "It is over.")
    if row.exit_signal:
        return f"It was ended by **{signal_names.of(row.exit_signal)}**."
    return f"It failed with exit code **{row.exit_code}**." if row.exit_code is not None else "It **failed**."


def _note(seen: session_seen.Seen) -> str:
    row = seen.session
    if row.state == _S.TERMINATED.value and row.ended_at:
        ran = f", **{_length(row)}** after its last start" if row.started_at else ""
        return f"It ended at {row.ended_at:%Y-%m-%d %H:%M:%S} UTC{ran}."
    if row.state == _S.SUSPENDED.value:
        return "Its processes stand still and keep their memory; nothing of its work is lost."
    return ""


def _length(row: Any) -> str:
    return wording.duration(wording.as_microseconds(row.ended_at - row.started_at) // 1_000_000 * 1_000_000)


def _facts(seen: session_seen.Seen) -> list[dict[str, Any]]:
    row = seen.session
    found = [words.fact("Attempt", row.attempt)]
    if row.times_preempted:
        found.append(words.fact("Preempted", words.count(row.times_preempted, "time")))
    if row.wall_limit and row.state == _S.RUNNING.value:
        found.append(words.fact("Time limit", wording.duration(row.wall_limit * wording.MICROSECONDS)))
    if row.port and row.state == _S.RUNNING.value and seen.is_open:
        run = explanations.runs(row)[-1]
        found.append(words.fact("Listens at", f"{run.node_names[0]}:{row.port}", is_code=True))
    if row.result_reason and row.state == _S.TERMINATED.value:
        found.append(words.fact("Reason", _reason(seen)))
    return found


_ASKED = ("asked", "cancelled")


def _reason(seen: session_seen.Seen) -> str:
    """Return why it ended; for what a person asked, who it was as far as the log says."""
    reason = seen.session.result_reason
    if reason not in _ASKED:
        return words.end_reason(reason)
    asked = (one for one in reversed(seen.entries) if one.type in _CANCELS and one.actor_id is not None)
    name = next((one.actor_name.replace("*", "") for one in asked), "")
    return f"cancelled by **{name}**" if name else "cancelled by a person"


_CANCELS = ("session.cancel_asked", "session.ended")


def _risk(seen: session_seen.Seen) -> dict[str, Any] | None:
    """Return what could stop a running session now, by the rules in force."""
    row, policy = seen.session, seen.session.group.policy
    if row.state != _S.RUNNING.value or policy is None:
        return None
    if policy.preemption_state != "on":
        return {
            "sentence": f"No: preemption is **{policy.preemption_state}** in {row.group.slug}.",
            "facts": [],
        }
    if not row.is_preemptible or row.is_private or row.type == "system":
        return {"sentence": "No: sessions like this one are not preempted.", "facts": []}
    return {"sentence": "Yes, when a higher session finds no free room:", "facts": _threats(row, policy)}


def _threats(row: Any, policy: Any) -> list[dict[str, Any]]:
    found = []
    if policy.preemption_scope != "queue":
        text = f"any of the owner's sessions with a job priority above **{row.job_priority}**"
        found.append(words.fact("By the owner", text))
    if policy.preemption_scope != "owner":
        found.append(words.fact("By other queues", _queues(row)))
    if policy.preemption_min_runtime:
        found.append(words.fact("Protected for", f"{policy.preemption_min_runtime} s after each start"))
    return [*found, words.fact("Then", _MODES[policy.preemption_mode])]


def _queues(row: Any) -> str:
    names = list(row.queue.preempted_by.values_list("slug", flat=True)) if row.queue.preemptible else []
    if not names:
        return f"none: queue {row.queue.slug} is not preempted by any queue"
    return f"sessions of {', '.join(names)} with a priority above **{row.priority}**"


_MODES = {
    "terminate": "it ends",
    "reschedule": "it returns to the queue and starts anew",
    "suspend": "it is suspended and goes on later",
}
