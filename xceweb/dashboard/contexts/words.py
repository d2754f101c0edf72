"""Small pieces of text that several pages share."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from django import urls

from scheduler.selectors import explanations, signal_names

_NUMBER = re.compile(r"(?<![\w.*-])\d+(?:\.\d+)?(?![\w*-]|\.\d)")
#: What stands where nothing is to be shown.
NOTHING = "\u2013"
#: verdict -> symbol and colour class
VERDICT_ICONS = {
    "selected": ("s-preempted", "i-preempted"),
    "not-needed": ("check", "ink-3"),
}


def bold(text: str) -> str:
    """Mark the free-standing numbers of a sentence as bold."""
    return _NUMBER.sub(lambda match: f"**{match[0]}**", text)


def fact(term: str, text: object, **more: Any) -> dict[str, Any]:
    """Return one line of a list of facts."""
    return {"term": term, "text": str(text), **more}


def count(number: int, word: str) -> str:
    """Write a count with its noun: ``1 session``, ``3 sessions``."""
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


def shown(other: explanations.Other | None) -> dict[str, Any]:
    """Return label and address of another session: its name only where the viewer may see it."""
    if other is None or not other.is_named:
        return {"label": "Another session", "url": "", "is_mine": False}
    address = urls.reverse("dashboard:session-detail", args=[other.session.public_id])
    return {"label": other.session.name, "url": address, "is_mine": other.is_mine}


def stop_times(mode: str, grace_s: int) -> str:
    """Return what lies between the steps of a stop: a suspend kills nobody."""
    return f"{grace_s} s from {'SIGTSTP to SIGSTOP' if mode == 'suspend' else 'warning to kill'}"


def end_reason(text: str) -> str:
    """Return the stored reason of an end in plain words, signals by name."""
    kind, _, number = text.partition(" ")
    if kind == "signal" and number.isdecimal():
        return signal_names.of(int(number))
    return text.replace("_", " ").replace("-", " ").lower()


def verdict_icon(verdict: str) -> tuple[str, str]:
    """Return symbol and colour of a verdict."""
    return VERDICT_ICONS.get(verdict, ("dash", "ink-3"))


def names_of(ids: list[int], names: Mapping[int, str]) -> list[str]:
    """Return the names of nodes, sorted; one that is gone is named as such."""
    return sorted(names.get(pk, "a node that is gone") for pk in ids)
