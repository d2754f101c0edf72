"""The tabs of a session's page beside the explanation: time line, output, runs, facts."""

from __future__ import annotations

import datetime
import json
import shlex
from typing import Any

from django import urls

from scheduler import models
from scheduler.core import states
from scheduler.selectors import event_log, event_texts, explanations, permissions, signal_names
from xceweb.common import marks, visible, wording
from xceweb.dashboard.contexts import output_pages, session_seen, words

_S = states.SessionState
_LIVE = (_S.RUNNING.value, _S.PREEMPTED.value, _S.STOPPING.value, _S.TERMINATING.value)


def timeline(seen: session_seen.Seen) -> dict[str, Any]:
    """Return everything that happened to the session, with the time from each step to the next."""
    return {"steps": steps(seen, seen.entries), "chart": None}


def steps(seen: session_seen.Seen, entries: list[event_log.Entry]) -> list[dict[str, Any]]:
    """Return events as steps of a time line, oldest first; with a summary only changes of state."""
    shown = [entry for entry in entries if seen.is_open or "state" in entry.data or entry.type == _SUBMITTED]
    before = [None, *shown[:-1]] if shown else []
    return [_step(entry, previous, seen) for entry, previous in zip(shown, before, strict=True)]


_SUBMITTED = "session.submitted"


def _step(
    entry: event_log.Entry, previous: event_log.Entry | None, seen: session_seen.Seen
) -> dict[str, Any]:
    icon, css = _look(entry)
    text = event_texts.predicate(entry, seen.sight).replace("**", "")
    return {
        "at": entry.at,
        "delay_us": wording.as_microseconds(entry.at - previous.at) if previous else None,
        "icon": icon,
        "css": css,
        "what": text[:1].upper() + text[1:],
        "sub": _sub(entry) if seen.is_open else "",
        "url": _decision_url(entry) if seen.is_open else "",
    }


def _look(entry: event_log.Entry) -> tuple[str, str]:
    state = entry.data.get("state")
    if state:
        return marks.session(str(state), str(entry.data.get("result", ""))).icon, f"i-{state}"
    return marks.event(entry.type)


def _sub(entry: event_log.Entry) -> str:
    parts = [str(entry.data["text"])] if entry.data.get("text") else []
    if entry.data.get("mode"):
        parts.append(f"mode {entry.data['mode']}")
    if entry.data.get("grace_s"):
        parts.append(words.stop_times(str(entry.data.get("mode", "")), entry.data["grace_s"]))
    if entry.actor_id is not None:
        parts.append(f"by {entry.actor_name}")
    return ", ".join(parts)


def _decision_url(entry: event_log.Entry) -> str:
    return urls.reverse("dashboard:decision-detail", args=[entry.decision]) if entry.decision else ""


def output(seen: session_seen.Seen) -> dict[str, Any]:
    """Return the last lines of output, for those who may look inside."""
    row = seen.session
    refresh = urls.reverse("dashboard:session-tab", args=[row.public_id, "output"]) + "?part=output"
    if seen.sight < permissions.Sight.FULL:
        note = "Only the owner and administrators see what a session writes."
        return {"output": {"state": "hidden", "note": note}, "refresh_url": refresh}
    if seen.rank:
        refresh += f"&rank={seen.rank}"
    kept, nodes = explanations.output(row, rank=seen.rank), output_pages.nodes(row, rank=seen.rank)
    if seen.offset is not None and kept is not None:
        page = output_pages.page(row, kept, offset=seen.offset, rank=seen.rank)
        return {"output": page | {"nodes": nodes}, "refresh_url": f"{refresh}&offset={seen.offset}"}
    return {"output": _output(row, kept, rank=seen.rank) | {"nodes": nodes}, "refresh_url": refresh}


def _output(row: models.Session, kept: output_pages.Kept | None, *, rank: int) -> dict[str, Any]:
    is_live = row.state in _LIVE
    if kept is None and not is_live:
        note = "It has not written anything." if row.epoch else "It has not started yet."
        return {"state": "none", "note": note}
    size = kept.size if kept else 0
    return {
        "state": "live" if is_live else "kept",
        "text": visible.text(kept.tail) if kept else "",
        "note": "The whole output stays on the node where it ran.",
        "size_text": wording.amount(size, "mem"),
        "is_cut": bool(kept and (kept.is_truncated or size > output_pages.TAIL_BYTES)),
        "earlier_url": output_pages.before(row, size, rank=rank) if kept else "",
        "later_url": "",
        "download_url": "",
    }


def runs(seen: session_seen.Seen) -> dict[str, Any]:
    """Return the attempts of the session."""
    return {"attempts": attempts(seen)}


def attempts(seen: session_seen.Seen) -> list[dict[str, Any]]:
    """Return one row a run: where, how it ended, how long it waited and ran, what was lost."""
    return [_attempt(run, seen.session) for run in explanations.runs(seen.session)]


def _attempt(run: models.Run, row: models.Session) -> dict[str, Any]:
    is_present = run.attempt == row.attempt and run.ended_at is None
    waited_from = row.submitted_at if run.attempt == 1 else None
    return {
        "number": run.attempt,
        "state": row.state if is_present else _S.TERMINATED.value,
        "result": "" if is_present else _RESULTS.get(run.how_ended, "cancelled"),
        "node": ", ".join(run.node_names),
        "waited_s": (run.dispatched_at - waited_from).total_seconds() if waited_from else None,
        "ran_s": _ran(run),
        "exit_code": run.exit_code,
        "lost": _lost(run),
    }


_RESULTS = {
    "finished": "success",
    "success": "success",
    "failed": "failure",
    "failure": "failure",
    "preempted": "preempted",
    "timeout": "timeout",
    "lost": "lost",
}


def _ran(run: models.Run) -> float | None:
    if run.ran_ms is not None:
        return run.ran_ms // 1_000
    if run.started_at and run.ended_at:
        return (run.ended_at - run.started_at).total_seconds()
    return None


def _lost(run: models.Run) -> str:
    if run.how_ended != "preempted" or run.ended_at is None:
        return ""
    return "nothing: it saved its state" if run.was_checkpointed else "what it had not saved"


def facts(seen: session_seen.Seen) -> dict[str, Any]:
    """
    Return what was asked for, as far as DESIGN 9 lets the viewer read: with a summary size and times.

    The command is for operators too, the environment for FULL sight alone.
    """
    row = seen.session
    if not seen.is_open:
        sections = [{"heading": "Size", "facts": _size(seen)}, {"heading": "Times", "facts": _times(row)}]
        return {
            "sections": sections,
            "hidden_note": "The rest is shown to the owner and to who runs the group.",
        }
    sections = [
        {"heading": "Program", "facts": _program(seen)},
        {"heading": "Request", "facts": _request(seen)},
        {"heading": "How it may be stopped", "facts": _stopping(row)},
        {"heading": "Times", "facts": [*_times(row, begins=row.begin_at), *_attempts(row)]},
    ]
    note = "Environment and output are shown to the owner and to administrators."
    return {"sections": sections, "hidden_note": "" if seen.sight >= permissions.Sight.FULL else note}


def _program(seen: session_seen.Seen) -> list[dict[str, Any]]:
    row = seen.session
    found = [
        words.fact("Command", shlex.join(row.argv), is_code=True)
        if row.argv
        else words.fact("Script", row.script, is_code=True)
    ]
    if row.workdir:
        found.append(words.fact("Directory", row.workdir, is_code=True))
    shown = row.environment if seen.sight >= permissions.Sight.FULL else {}
    return found + [words.fact(name, value, is_code=True) for name, value in sorted(shown.items())]


def _request(seen: session_seen.Seen) -> list[dict[str, Any]]:
    row = seen.session
    found = [words.fact("Type", row.type), *_size(seen)]
    found += [words.fact("Priority", row.priority), words.fact("Own rank", row.job_priority)]
    if row.required_labels:
        found.append(words.fact("Labels", json.dumps(row.required_labels), is_code=True))
    if row.port:
        found.append(words.fact("Port", row.port))
    if row.wall_limit:
        found.append(words.fact("Time limit", wording.duration(row.wall_limit * wording.MICROSECONDS)))
    return found


def _size(seen: session_seen.Seen) -> list[dict[str, Any]]:
    amounts = [words.fact(name, wording.quantity(n, kind)) for name, n, kind in _named(seen)]
    return [words.fact("Nodes", seen.session.node_count), *amounts]


def _named(seen: session_seen.Seen) -> list[tuple[str, int, Any]]:
    return [(name, n, seen.kinds.get(name, name)) for name, n in sorted(seen.session.slots.items())]


def _stopping(row: models.Session) -> list[dict[str, Any]]:
    return [
        words.fact("May be preempted", "yes" if row.is_preemptible else "no: it opted out"),
        words.fact("Warning signal", signal_names.of(row.warning_signal)),
        words.fact("Own grace", f"{row.grace_period} s" if row.grace_period is not None else "the group's"),
        words.fact("Exit code 0 after a warning", f"means {row.exit_0_after_warning}"),
        words.fact("After a lost node", "starts anew" if row.restartable else "ends as lost"),
        *_if_anew(row),
    ]


def _if_anew(row: models.Session) -> list[dict[str, Any]]:
    """Say what people who are connected lose; a batch session loses what it had not saved, as its runs say."""
    if row.type != "interactive" and not row.port:
        return []
    return [words.fact("If it starts anew", "what is in its memory and every connection are lost")]


def _times(row: models.Session, *, begins: datetime.datetime | None = None) -> list[dict[str, Any]]:
    moments = {
        "Submitted": row.submitted_at,
        "May start from": begins,
        "Last start or resume": row.started_at,
        "Ended": row.ended_at,
    }
    return [words.fact(term, f"{at:%Y-%m-%d %H:%M:%S} UTC") for term, at in moments.items() if at]


def _attempts(row: models.Session) -> list[dict[str, Any]]:
    return [
        words.fact("Attempt", row.attempt),
        words.fact("Preempted", f"{row.times_preempted} times"),
    ]
