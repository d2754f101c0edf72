"""What became of one expectation of a story."""

from __future__ import annotations

import dataclasses
from typing import Any

from scheduler.scenarios import fields


@dataclasses.dataclass(frozen=True)
class Finding:
    """One expectation, judged."""

    what: str
    holds: bool | None  #: None = it cannot be judged
    text: str = ""  #: how it is, where it is not as expected
    is_sentence: bool = False  #: an explanation for people; never judged


def unknown(key: str, value: Any) -> Finding:
    """Return the finding of what cannot be judged."""
    return Finding(f"expect.{key}", None, f"this version cannot judge {text_of(value)!r}")


def text_of(value: Any) -> str:
    """Return a value as a case has it."""
    return value if isinstance(value, str) else fields.shown(value)


def found(key: str, value: Any, holds: bool | None, got: Any) -> Finding:
    """Return a finding about one key: what was expected, whether it is so, and how it is."""
    if holds is None:
        return unknown(key, value)
    return Finding(f"expect.{key}", holds, f"it is {text_of(got)}, expected {text_of(value)}")


def names(value: Any) -> list[str] | None:
    """Return a list of names, sorted; None when it is none."""
    each_is_name = isinstance(value, list) and all(isinstance(each, str | int) for each in value)
    return sorted(str(each) for each in value) if each_is_name else None
