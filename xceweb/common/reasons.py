"""The glossary: every reason to wait and every verdict, each with a permalink that messages link to."""

from __future__ import annotations

from typing import Any

from scheduler.core import decisions, explain

_OUTCOMES = {
    "used": ("Used", "The session for which room was made started on it."),
    "partly": ("Partly used", "It started, and not every session had to stop for it."),
    "wasted": (
        "Wasted",
        "Room was made and nobody used it. The cause stands beside it; it should never happen.",
    ),
    "transferred": ("Transferred", "A session before it in the order took the room instead."),
    "withdrawn": ("Withdrawn", "The reason was gone before anything irreversible; the sessions went on."),
}


def parts() -> list[dict[str, Any]]:
    """Return the parts of ``help/reasons.html``."""
    return [
        {
            "id": "pending",
            "heading": "Why a session waits",
            "text": "A waiting session has exactly one headline reason, the first that applies in this order.",
            "reasons": [_pend(reason) for reason in decisions.PendReason],
        },
        {
            "id": "verdicts",
            "heading": "Why a session was stopped, or was not",
            "text": "Every running session of the group gets one verdict when room is looked for.",
            "reasons": [_verdict(verdict) for verdict in decisions.Verdict],
        },
        {
            "id": "outcomes",
            "heading": "What became of a preemption",
            "text": "Every preemption is followed until its outcome is known.",
            "reasons": [_reason(code, label, text) for code, (label, text) in _OUTCOMES.items()],
        },
    ]


def _pend(reason: decisions.PendReason) -> dict[str, str]:
    return _reason(reason.value, explain.pend_title(reason.value), explain.pend_help(reason.value))


def _verdict(verdict: decisions.Verdict) -> dict[str, str]:
    label, _, text = explain.verdict_text(verdict.value, _Named()).partition(":")
    meaning = text.strip() or label
    return _reason(verdict.value, _capital(label), f"{_capital(meaning)}.")


class _Named(dict[str, Any]):
    """Facts whose numbers are not known: the glossary speaks of them in general."""


def _reason(code: str, label: str, meaning: str) -> dict[str, str]:
    return {"code": code, "label": label, "meaning": meaning, "advice": ""}


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
