"""One sample of every message, and strategies that make any valid one from the annotations of its fields."""

from __future__ import annotations

import dataclasses
import enum
import functools
import types
import typing
from typing import Any

from hypothesis import strategies as st

from scheduler.protocol import commands, fields, messages, signing

KEY = signing.NodeKey("k1", "n1", bytes(range(32)))
KEYS = {KEY.key_id: KEY}
ALL = (*messages.COMMANDS, *messages.REPORTS)
UUID = "0197b2c4-8d1e-7a3b-9c4d-5e6f7a8b9c0d"


def a_start(**more: Any) -> commands.StartCommand:
    """Return a start of `true`."""
    return messages.StartCommand(
        **{"command_id": UUID, "session": UUID, "epoch": 1, "attempt": 1, "argv": ("true",)} | more
    )


@functools.cache
def any_message(cls: type[Any]) -> st.SearchStrategy[Any]:
    """Return a strategy for valid messages of a class."""
    if cls is messages.StartCommand:
        return st.builds(_one_of_both, _build(cls), st.booleans())
    return _build(cls)


def _one_of_both(start: commands.StartCommand, is_script: bool) -> commands.StartCommand:
    text = {"argv": (), "script": "echo"} if is_script else {"argv": ("echo",), "script": ""}
    return dataclasses.replace(start, **text)


def _build(cls: type[Any]) -> st.SearchStrategy[Any]:
    hints = typing.get_type_hints(cls, include_extras=True)
    return st.builds(cls, **{f.name: _values(hints[f.name]) for f in dataclasses.fields(cls)})


def _values(hint: Any) -> st.SearchStrategy[Any]:
    if typing.get_origin(hint) is typing.Annotated:
        base, limit = typing.get_args(hint)[:2]
        return _limited(base, limit)
    origin, args = typing.get_origin(hint) or hint, typing.get_args(hint)
    if origin in (types.UnionType, typing.Union):
        return st.one_of(*map(_values, args))
    if origin is tuple:
        one = args[-1] is Ellipsis
        return st.lists(_values(args[0]), max_size=3).map(tuple) if one else st.tuples(*map(_values, args))
    if origin is dict:
        return st.dictionaries(*map(_values, args), max_size=3)
    return _plain(origin)


def _limited(base: Any, limit: Any) -> st.SearchStrategy[Any]:
    match limit:
        case fields.Bounds(low=low, high=high):
            return st.integers(low, high)
        case fields.Text(longest=longest, pattern=pattern):
            return _texts(pattern).filter(lambda value: len(value) <= longest)
    return _values(base)


def _texts(pattern: Any) -> st.SearchStrategy[str]:
    """Return texts that a field's pattern allows, if it has one."""
    if pattern is None:
        return st.text(max_size=30)
    samples = {UUID: st.uuids().map(str), "": st.just(""), "a0": st.text("aZ0", min_size=1, max_size=8)}
    return st.one_of(*(texts for sample, texts in samples.items() if pattern.fullmatch(sample)))


def _plain(kind: Any) -> st.SearchStrategy[Any]:
    if kind is types.NoneType:
        return st.none()
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return st.sampled_from(kind)
    if dataclasses.is_dataclass(kind):
        return _build(kind)
    return {bool: st.booleans(), str: st.text(max_size=30), int: st.integers(0, 9)}[kind]
