"""
Core values from their plain twins: the way back from ``snapshot.to_plain``, by the fields' own types.

A field that the plain form does not have keeps its default, and one that the class does not have is left out: a
snapshot that an earlier version stored can be read by a later one. Source: DESIGN 7.
"""

from __future__ import annotations

import collections.abc
import dataclasses
import enum
import functools
import types
import typing
from collections.abc import Callable, Mapping
from typing import Any

from scheduler.core import errors, resources, snapshot


class NotPlain(errors.CoreError):
    """A plain value has not the shape of the type that it is read as."""


def to_snapshot(plain: Mapping[str, Any]) -> snapshot.Snapshot:
    """
    Return the snapshot of a canonical form, as JSON reads it back.

    Raises:
        NotPlain: it has another shape, or a word that this version does not know.
    """
    try:
        value = _reader(snapshot.Snapshot)(plain)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise NotPlain(f"this is no stored snapshot of a version that can be read: {error}") from None
    assert isinstance(value, snapshot.Snapshot)
    return value


@functools.cache
def _reader(kind: Any) -> Callable[[Any], Any]:
    """Return the function that reads one type."""
    if kind is resources.ResourceVector:
        return resources.ResourceVector
    if dataclasses.is_dataclass(kind):
        return functools.partial(_read_dataclass, kind)
    origin, inside = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        return _optional([each for each in inside if each is not type(None)])
    if origin is tuple or origin is frozenset:
        return _many(origin, _reader(inside[0]))
    if origin in (dict, collections.abc.Mapping):
        return _mapping(_reader(inside[0]), _reader(inside[1]))
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return kind
    return int if kind is int else _same


def _read_dataclass(kind: Any, plain: Mapping[str, Any]) -> Any:
    return kind(**{name: read(plain[name]) for name, read in _fields(kind).items() if name in plain})


@functools.cache
def _fields(kind: Any) -> dict[str, Callable[[Any], Any]]:
    hints = typing.get_type_hints(kind)
    return {field.name: _reader(hints[field.name]) for field in dataclasses.fields(kind)}


def _optional(kinds: list[Any]) -> Callable[[Any], Any]:
    (kind,) = kinds
    read = _reader(kind)
    return lambda value: None if value is None else read(value)


def _many(container: Callable[[Any], Any], read: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda values: container(read(value) for value in values)


def _mapping(read_key: Callable[[Any], Any], read: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda values: {read_key(key): read(value) for key, value in values.items()}


def _same(value: Any) -> Any:
    return value
