"""
Messages to and from plain JSON values, strictly.

An unknown type or field, a missing field, a wrong type or a value out of range is a `ProtocolError`. The
shapes come from the annotations of the messages; nothing is written down twice. Serves P08: what does not
decode changes nothing.
"""

from __future__ import annotations

import collections.abc
import dataclasses
import enum
import functools
import types
import typing
from typing import Any

from scheduler.protocol import errors, fields, messages

Reader = collections.abc.Callable[[Any, str], Any]

_CLASSES: dict[str, type[Any]] = {cls.TYPE: cls for cls in (*messages.COMMANDS, *messages.REPORTS)}


def encode(message: messages.Message) -> dict[str, Any]:
    """
    Turn a message into plain JSON values.

    Args:
        message: one of `messages.COMMANDS` or `messages.REPORTS`.

    Returns:
        A new dict with `type` and every field; tuples are lists.

    Raises:
        ProtocolError: a field of the message breaks its own bounds.
    """
    plain: dict[str, Any] = {"type": message.TYPE, **_plain(message)}
    decode(plain)
    return plain


def decode(plain: object) -> messages.Message:
    """
    Build the message of plain JSON values.

    Args:
        plain: what `encode` made, as parsed from JSON.

    Returns:
        The frozen message.

    Raises:
        ProtocolError: `malformed`, `unknown-type`, `unknown-field`, `missing-field`, `wrong-type`,
            `out-of-range`, `invalid-value`.
    """
    if not isinstance(plain, dict):
        raise errors.ProtocolError("malformed", "the body is no object")
    kind = plain.get("type")
    cls = _CLASSES.get(kind) if isinstance(kind, str) else None
    if cls is None:
        raise errors.ProtocolError("unknown-type", "the body names no message of this version")
    message: messages.Message = _read_object(cls, {k: v for k, v in plain.items() if k != "type"}, cls.TYPE)
    _check_start(message)
    return message


def _check_start(message: messages.Message) -> None:
    if isinstance(message, messages.StartCommand) and bool(message.argv) == bool(message.script):
        raise errors.ProtocolError("invalid-value", "start: exactly one of argv and script must be filled")


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value):
        return {f.name: _plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    return value


def _read_object(cls: Any, value: Any, where: str) -> Any:
    if not isinstance(value, dict):
        raise errors.ProtocolError("wrong-type", f"{where}: an object is needed")
    readers, needed = _shape(cls)
    if not value.keys() <= readers.keys():
        raise errors.ProtocolError("unknown-field", f"{where}: a field that this version does not know")
    if not needed <= value.keys():
        raise errors.ProtocolError("missing-field", f"{where}: {', '.join(sorted(needed - value.keys()))}")
    return cls(**{name: readers[name](item, f"{where}.{name}") for name, item in value.items()})


@functools.cache
def _shape(cls: Any) -> tuple[dict[str, Reader], frozenset[str]]:
    hints = typing.get_type_hints(cls, include_extras=True)
    own = dataclasses.fields(cls)
    needed = (f.name for f in own if f.default is f.default_factory is dataclasses.MISSING)
    return {f.name: _reader(hints[f.name]) for f in own}, frozenset(needed)


def _reader(hint: Any) -> Reader:
    """Return the function that reads one value of this annotation."""
    if typing.get_origin(hint) is typing.Annotated:
        base, *limits = typing.get_args(hint)
        return _limited(_reader(base), limits)
    origin = typing.get_origin(hint) or hint
    if origin in _CONTAINERS:
        return _CONTAINERS[origin](typing.get_args(hint))
    if issubclass(origin, enum.Enum):
        return functools.partial(_read_enum, origin)
    if dataclasses.is_dataclass(origin):
        return functools.partial(_read_object, origin)
    return functools.partial(_read_scalar, origin)


def _limited(read: Reader, limits: list[Any]) -> Reader:
    def limited(value: Any, where: str) -> Any:
        result = read(value, where)
        for limit in limits:
            _check(limit, result, where)
        return result

    return limited


def _check(limit: Any, value: Any, where: str) -> None:
    match limit:
        case fields.Bounds(low=low, high=high) if not low <= value <= high:
            raise errors.ProtocolError("out-of-range", f"{where}: not between {low} and {high}")
        case fields.Text(longest=longest) if len(value) > longest:
            raise errors.ProtocolError("out-of-range", f"{where}: longer than {longest} characters")
        case fields.Text(pattern=pattern) if pattern is not None and not pattern.fullmatch(value):
            raise errors.ProtocolError("invalid-value", f"{where}: not of the form that this field has")
        case fields.Size(most=most) if len(value) > most:
            raise errors.ProtocolError("out-of-range", f"{where}: more than {most} members")


def _read_scalar(kind: type[Any], value: Any, where: str) -> Any:
    if type(value) is not kind:
        raise errors.ProtocolError("wrong-type", f"{where}: {kind.__name__} is needed")
    if kind is str and not _is_unicode(value):
        raise errors.ProtocolError("invalid-value", f"{where}: not valid Unicode")
    return value


def _is_unicode(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text) if not text.isascii() else True


def _read_enum(kind: type[enum.Enum], value: Any, where: str) -> Any:
    try:
        if type(value) in (str, int):
            return kind(value)
    except ValueError:
        pass
    raise errors.ProtocolError("invalid-value", f"{where}: none of the words that this field has")


def _tuple_reader(args: tuple[Any, ...]) -> Reader:
    repeated = args[-1] is Ellipsis
    readers = [_reader(arg) for arg in args if arg is not Ellipsis]

    def read(value: Any, where: str) -> tuple[Any, ...]:
        if type(value) is not list or not (repeated or len(value) == len(readers)):
            raise errors.ProtocolError("wrong-type", f"{where}: a list is needed")
        each = readers * len(value) if repeated else readers
        return tuple(one(item, where) for one, item in zip(each, value, strict=True))

    return read


def _dict_reader(args: tuple[Any, ...]) -> Reader:
    read_key, read_value = (_reader(arg) for arg in args)

    def read(value: Any, where: str) -> dict[str, Any]:
        if type(value) is not dict:
            raise errors.ProtocolError("wrong-type", f"{where}: an object is needed")
        return {read_key(key, where): read_value(item, where) for key, item in value.items()}

    return read


def _union_reader(args: tuple[Any, ...]) -> Reader:
    by_type = {_json_type(arg): _reader(arg) for arg in args if arg is not types.NoneType}
    optional = types.NoneType in args

    def read(value: Any, where: str) -> Any:
        if value is None and optional:
            return None
        if type(value) not in by_type:
            raise errors.ProtocolError("wrong-type", f"{where}: another type is needed")
        return by_type[type(value)](value, where)

    return read


def _json_type(hint: Any) -> type[Any]:
    return typing.get_args(hint)[0] if typing.get_origin(hint) is typing.Annotated else hint  # type: ignore[no-any-return]


_CONTAINERS: dict[Any, collections.abc.Callable[[tuple[Any, ...]], Reader]] = {
    tuple: _tuple_reader,
    dict: _dict_reader,
    types.UnionType: _union_reader,
    typing.Union: _union_reader,
}
