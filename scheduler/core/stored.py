"""
A stored snapshot read back: the inverse of ``snapshot.canonical``.

Read by the types of the fields alone, so that a field that is added later needs no line here; one that an old
snapshot lacks has its default. Source: DESIGN 7.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import types
import typing
from collections.abc import Mapping
from typing import Any

from scheduler.core import resources, snapshot


def from_plain(plain: Mapping[str, Any]) -> snapshot.Snapshot:
    """
    Return the snapshot of its plain form, as JSON gives it back.

    Raises:
        KeyError, TypeError, ValueError: it is no snapshot of this or an earlier core.
    """
    view = _value(snapshot.Snapshot, plain)
    assert isinstance(view, snapshot.Snapshot)
    return view


@functools.cache
def _fields(kind: type) -> dict[str, Any]:
    hints = typing.get_type_hints(kind)
    return {field.name: hints[field.name] for field in dataclasses.fields(kind)}


def _value(kind: Any, plain: Any) -> Any:
    if kind is resources.ResourceVector:
        return resources.ResourceVector(plain)
    if dataclasses.is_dataclass(kind):
        hints = _fields(typing.cast(type, kind))
        return kind(**{name: _value(hints[name], each) for name, each in plain.items() if name in hints})  # type: ignore[operator]
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return kind(plain)
    return _of_generic(kind, plain)


def _of_generic(kind: Any, plain: Any) -> Any:
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in (types.UnionType, typing.Union):
        rest = [each for each in arguments if each is not type(None)]
        return None if plain is None else _value(rest[0], plain)
    if origin is tuple:
        return tuple(_value(arguments[0], each) for each in plain)
    if origin is frozenset:
        return frozenset(_value(arguments[0], each) for each in plain)
    if origin is not None and issubclass(origin, Mapping):
        key, value = arguments
        return {key(name): _value(value, each) for name, each in plain.items()}
    return plain
