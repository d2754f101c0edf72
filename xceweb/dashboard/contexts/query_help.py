"""Help with a query while it is typed: how its last word may go on, what that word means, what cannot be read."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

from scheduler import errors, models
from scheduler.core import decisions, entities, states
from scheduler.selectors import permissions, session_query

#: Ways to go on that are offered at once.
MOST = 12


@dataclasses.dataclass(frozen=True, slots=True)
class Word:
    """What is said of a word of the language, and values that it may have with their sign."""

    text: str
    values: tuple[str, ...] = ()


_AGES = (">15m", ">1h", ">1d", "<1h")
_WORDS: Mapping[str, Word] = {
    "state": Word(
        "its state, alive or over; several with commas",
        tuple(f":{one}" for one in ("alive", "over", *states.SessionState)),
    ),
    "result": Word("how it ended", tuple(f":{one.value}" for one in states.Result)),
    "type": Word(
        "batch or interactive, or another type", tuple(f":{one.value}" for one in entities.SessionType)
    ),
    "queue": Word("its queue"),
    "group": Word("its resource group"),
    "user": Word("its owner by name, or me", (":me",)),
    "name": Word("a part of its name", (":",)),
    "node": Word("a node that it holds", (":",)),
    "reason": Word("why it waits", tuple(f":{one.value}" for one in decisions.PendReason)),
    "age": Word("how long ago it was submitted: 90s, 15m, 2h, 1d or 1w", _AGES),
    "since": Word("how long it has been in its state: 90s, 15m, 2h, 1d or 1w", _AGES),
    "priority": Word("its priority from 0 to 100", (">50", "<10", ":10")),
    "job_priority": Word("its rank among its owner's", (">50", "<10", ":10")),
    "preempted": Word("how often it was preempted", (">0", ">2")),
}


def load(viewer: models.User, text: str) -> dict[str, Any]:
    """Return the context of ``dashboard/_query_help.html``; at most two queries."""
    before, last = _split(text)
    key = _key(last)
    ways = _values(viewer, key) if key else _keys()
    fault = _fault(viewer, before)
    return {
        "options": [before + way for way in ways if way.startswith(last) and way != last][:MOST],
        "fault": fault,
        "hint": "" if fault else _hint(key),
    }


def _split(text: str) -> tuple[str, str]:
    """Return all but the last word with its blank, and the last word, empty after a blank."""
    before, blank, last = text.rpartition(" ")
    return before + blank, last


def _key(word: str) -> str:
    """Return the field of a word whose sign is typed already."""
    for sign in (":", ">", "<", "="):
        key, found, _ = word.partition(sign)
        if found and key in _WORDS:
            return key
    return ""


def _keys() -> list[str]:
    """Return the fields, each with the sign that usually follows."""
    return [name + (word.values[0][0] if word.values else ":") for name, word in _WORDS.items()]


def _values(viewer: models.User, key: str) -> Iterable[str]:
    if key == "queue":
        return [f"queue:{name}" for name in permissions.visible_queues(viewer).values_list("slug", flat=True)]
    if key == "group":
        return [f"group:{name}" for name in permissions.visible_groups(viewer).values_list("slug", flat=True)]
    return [f"{key}{value}" for value in _WORDS[key].values]


def _hint(key: str) -> str:
    if key:
        return f"{key}: {_WORDS[key].text}."
    return f"Words match names and ids; with a colon they narrow: {', '.join(_WORDS)}."


def _fault(viewer: models.User, text: str) -> str:
    """Return what cannot be read of the words that are complete."""
    try:
        session_query.narrow(models.Session.objects.none(), viewer, text)
    except errors.Refusal as refusal:
        return refusal.fields["q"]
    return ""
