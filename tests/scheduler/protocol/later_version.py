"""
The next version of the protocol for tests: what a later release might add.

A vital field and a message for agents; a field, a word and a message for controllers.
"""

from __future__ import annotations

import dataclasses
import enum
from typing import Annotated, ClassVar

import pytest

from scheduler.protocol import codec, fields, messages

LATER = messages.VERSION + 1


class Sky(enum.StrEnum):
    """Words of a field; the second one came later."""

    CLEAR = "clear"
    HAZE = "haze"


fields.NEWER_WORDS[Sky.HAZE] = fields.NewerWord(LATER, Sky.CLEAR)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Start(messages.StartCommand):
    """A start with a field more."""

    account: Annotated[fields.Word, fields.Since(LATER)] = ""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Look(messages.Command):
    """A command of the first version whose word may be a later one."""

    TYPE: ClassVar[str] = "look"
    sky: Sky = Sky.CLEAR


@dataclasses.dataclass(frozen=True, kw_only=True)
class Pause(messages.Command):
    """A command that came later."""

    TYPE: ClassVar[str] = "pause"
    SINCE: ClassVar[int] = LATER


@dataclasses.dataclass(frozen=True, kw_only=True)
class Gone(messages.Gone):
    """A report with more fields, one of them within a list."""

    why: Annotated[fields.Reason | None, fields.Since(LATER)] = None
    sky: Sky = Sky.CLEAR


@dataclasses.dataclass(frozen=True, kw_only=True)
class Paused(messages.Report):
    """A report that came later."""

    TYPE: ClassVar[str] = "paused"
    SINCE: ClassVar[int] = LATER


def speak(patch: pytest.MonkeyPatch) -> None:
    """Make this process speak the later version."""
    patch.setattr(messages, "VERSION", LATER)
    for cls in (Start, Look, Pause, Gone, Paused):
        patch.setitem(codec._CLASSES, cls.TYPE, cls)
