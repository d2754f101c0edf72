"""
Messages to and from plain JSON values, strictly.

An unknown type or field, a missing field, a wrong type or a value out of range is a `ProtocolError`. The
shapes come from the annotations of the messages; nothing is written down twice. Each version of the protocol
has a strict codec of its own. Serves P08 (what does not decode changes nothing) and P18 (old and new run side
by side).
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


def encode(message: messages.Message, *, version: int | None = None) -> dict[str, Any]:
    """
    Turn a message into plain JSON values.

    A report says less in an older version than the one that it was made for: fields are left out, and a word is
    replaced by the one before. A command is never weakened: where it would be, it cannot be said.

    Args:
        message: one of `messages.COMMANDS` or `messages.REPORTS`.
        version: of the protocol, 1 to `messages.VERSION`; None = that.

    Returns:
        A new dict with `type` and every field of that version; tuples are lists.

    Raises:
        ProtocolError: a field of the message breaks its own bounds; `needs-version`.
    """
    spoken = version or messages.VERSION
    if spoken < message.SINCE:
        raise _needs_version(message.TYPE, message.SINCE)
    say = _Say(spoken, may_lose=isinstance(message, messages.Report))
    plain: dict[str, Any] = {"type": message.TYPE, **say.plain(message)}
    decode(plain, version=spoken)
    return plain


def decode(plain: object, *, version: int | None = None) -> messages.Message:
    """
    Build the message of plain JSON values.

    Args:
        plain: what `encode` made, as parsed from JSON.
        version: of the protocol that the sender spoke; None = the highest.

    Returns:
        The frozen message.

    Raises:
        ProtocolError: `malformed`, `unknown-type`, `unknown-field`, `missing-field`, `wrong-type`,
            `out-of-range`, `invalid-value`.
    """
    spoken = version or messages.VERSION
    if not isinstance(plain, dict):
        raise errors.ProtocolError("malformed", "the body is no object")
    kind = plain.get("type")
    cls = _CLASSES.get(kind) if isinstance(kind, str) else None
    if cls is None or spoken < cls.SINCE:
        raise errors.ProtocolError("unknown-type", "the body names no message of this version")
    content = {k: v for k, v in plain.items() if k != "type"}
    message: messages.Message = _read_object(cls, spoken, content, cls.TYPE)
    _check_start(message)
    return message


def _needs_version(what: str, version: int) -> errors.ProtocolError:
    return errors.ProtocolError("needs-version", f"{what}: cannot be said before version {version}")


def _check_start(message: messages.Message) -> None:
    if isinstance(message, messages.StartCommand) and bool(message.argv) == bool(message.script):
        raise errors.ProtocolError("invalid-value", "start: exactly one of argv and script must be filled")


@dataclasses.dataclass(frozen=True)
class _Say:
    """How values are written in one version."""

    version: int
    may_lose: bool

    def plain(self, value: Any) -> Any:
        if dataclasses.is_dataclass(value):
            kind: Any = type(value)
            told, newer = _split(kind, self.version)
            if newer and not self.may_lose:
                _check_defaults(value, newer)
            return {name: self.plain(getattr(value, name)) for name in told}
        if isinstance(value, enum.Enum):
            return self._word(value).value
        if isinstance(value, dict):
            return {key: self.plain(item) for key, item in value.items()}
        if isinstance(value, tuple | list):
            return [self.plain(item) for item in value]
        return value

    def _word(self, word: enum.Enum) -> enum.Enum:
        newer = fields.NEWER_WORDS.get(word)
        if newer is None or newer.since <= self.version:
            return word
        if not self.may_lose:
            raise _needs_version(type(word).__name__, newer.since)
        return self._word(newer.before)


@functools.cache
def _split(cls: Any, version: int) -> tuple[tuple[str, ...], tuple[dataclasses.Field[Any], ...]]:
    """Return the names of the fields that a version has, and the fields that came later."""
    since, own = _since(cls), dataclasses.fields(cls)
    told = tuple(f.name for f in own if since[f.name] <= version)
    return told, tuple(f for f in own if since[f.name] > version)


def _check_defaults(value: Any, newer: tuple[dataclasses.Field[Any], ...]) -> None:
    since = _since(value.__class__)
    for field in newer:
        made = field.default_factory
        default = field.default if made is dataclasses.MISSING else made()
        if getattr(value, field.name) != default:
            raise _needs_version(field.name, since[field.name])


@functools.cache
def _since(cls: Any) -> dict[str, int]:
    """Return the version that brought each field of a class."""
    hints = typing.get_type_hints(cls, include_extras=True)
    return {f.name: _version_of(hints[f.name]) for f in dataclasses.fields(cls)}


def _version_of(hint: Any) -> int:
    marks = (mark for mark in typing.get_args(hint)[1:] if isinstance(mark, fields.Since))
    return max((mark.version for mark in marks), default=messages.FIRST)


def _read_object(cls: Any, version: int, value: Any, where: str) -> Any:
    if not isinstance(value, dict):
        raise errors.ProtocolError("wrong-type", f"{where}: an object is needed")
    readers, needed = _shape(cls, version)
    if not value.keys() <= readers.keys():
        raise errors.ProtocolError("unknown-field", f"{where}: a field that this version does not know")
    if not needed <= value.keys():
        raise errors.ProtocolError("missing-field", f"{where}: {', '.join(sorted(needed - value.keys()))}")
    return cls(**{name: readers[name](item, f"{where}.{name}") for name, item in value.items()})


@functools.cache
def _shape(cls: Any, version: int) -> tuple[dict[str, Reader], frozenset[str]]:
    hints = typing.get_type_hints(cls, include_extras=True)
    told, _ = _split(cls, version)
    own = (f for f in dataclasses.fields(cls) if f.name in told)
    needed = (f.name for f in own if f.default is f.default_factory is dataclasses.MISSING)
    return {name: _reader(hints[name], version) for name in told}, frozenset(needed)


def _reader(hint: Any, version: int) -> Reader:
    """Return the function that reads one value of this annotation in one version."""
    if typing.get_origin(hint) is typing.Annotated:
        base, *limits = typing.get_args(hint)
        return _limited(_reader(base, version), limits)
    origin = typing.get_origin(hint) or hint
    if origin in _CONTAINERS:
        return _CONTAINERS[origin](typing.get_args(hint), version)
    if issubclass(origin, enum.Enum):
        return functools.partial(_read_enum, origin, version)
    if dataclasses.is_dataclass(origin):
        return functools.partial(_read_object, origin, version)
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


def _read_enum(kind: type[enum.Enum], version: int, value: Any, where: str) -> Any:
    words = _words(kind, version)
    if type(value) in (str, int) and value in words:
        return words[value]
    raise errors.ProtocolError("invalid-value", f"{where}: none of the words that this field has")


@functools.cache
def _words(kind: type[enum.Enum], version: int) -> dict[Any, enum.Enum]:
    newer = fields.NEWER_WORDS
    return {word.value: word for word in kind if word not in newer or newer[word].since <= version}


def _tuple_reader(args: tuple[Any, ...], version: int) -> Reader:
    repeated = args[-1] is Ellipsis
    readers = [_reader(arg, version) for arg in args if arg is not Ellipsis]

    def read(value: Any, where: str) -> tuple[Any, ...]:
        if type(value) is not list or not (repeated or len(value) == len(readers)):
            raise errors.ProtocolError("wrong-type", f"{where}: a list is needed")
        each = readers * len(value) if repeated else readers
        return tuple(one(item, where) for one, item in zip(each, value, strict=True))

    return read


def _dict_reader(args: tuple[Any, ...], version: int) -> Reader:
    read_key, read_value = (_reader(arg, version) for arg in args)

    def read(value: Any, where: str) -> dict[str, Any]:
        if type(value) is not dict:
            raise errors.ProtocolError("wrong-type", f"{where}: an object is needed")
        return {read_key(key, where): read_value(item, where) for key, item in value.items()}

    return read


def _union_reader(args: tuple[Any, ...], version: int) -> Reader:
    by_type = {_json_type(arg): _reader(arg, version) for arg in args if arg is not types.NoneType}
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


_CONTAINERS: dict[Any, collections.abc.Callable[[tuple[Any, ...], int], Reader]] = {
    tuple: _tuple_reader,
    dict: _dict_reader,
    types.UnionType: _union_reader,
    typing.Union: _union_reader,
}
