"""Texts of agents as the database can hold them: PostgreSQL has no NUL character, and an agent may send one."""

from __future__ import annotations

import dataclasses
from typing import Any

from scheduler.protocol import messages

_NUL, _REPLACEMENT = "\x00", "\ufffd"


def storable(report: messages.Message) -> messages.Message:
    """Return a message with every NUL in its texts replaced, however deep they lie."""
    clean: messages.Message = _clean(report)
    return clean


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return value.replace(_NUL, _REPLACEMENT) if _NUL in value else value
    if isinstance(value, tuple):
        return tuple(_clean(item) for item in value)
    if isinstance(value, dict):
        return {_clean(key): _clean(item) for key, item in value.items()}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [field.name for field in dataclasses.fields(value)]
        return dataclasses.replace(value, **{name: _clean(getattr(value, name)) for name in names})
    return value
