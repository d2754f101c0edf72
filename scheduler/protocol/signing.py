"""
Signed envelopes: who sent a message, in which direction, and in which order.

HMAC-SHA-256 by the node's secret over the canonical bytes (sorted keys, compact, UTF-8) of everything but the
signature. The direction is signed, so that a message cannot be sent back to its sender. A text that is not
canonical is refused, which leaves no room for doubled keys or a second spelling. No clock takes part. Whether
a sequence is new is the caller's knowledge. Serves P08.
"""

from __future__ import annotations

import dataclasses
import hashlib
import hmac
import json
import re
from collections.abc import Mapping
from typing import Any, Literal, NoReturn

from scheduler.protocol import codec, errors, fields, messages

#: Largest envelope in bytes of UTF-8; checked before anything is parsed.
SIZE_LIMIT = 256 * 1024

Direction = Literal["down", "up"]

_FIELDS = {"v": int, "key": str, "dir": str, "boot": str, "seq": int, "body": dict, "sig": str}
_BOOT = re.compile(r"[0-9A-Za-z._-]{1,64}")


@dataclasses.dataclass(frozen=True)
class NodeKey:
    """
    A key that controller and one node share.

    Attributes:
        key_id: public name of the key, sent with each message.
        node: the node that it is bound to; the only source of a report's node.
        secret: at least 32 bytes.
    """

    key_id: str
    node: str
    secret: bytes = dataclasses.field(repr=False)


@dataclasses.dataclass(frozen=True)
class Envelope:
    """
    An opened envelope: the signature fitted and the body decoded.

    Attributes:
        key_id: the key that signed it.
        node: the node of that key.
        boot: the sender's boot id.
        seq: the sender's sequence within that boot.
        body: the message.
        version: of the protocol, in which it was said.
    """

    key_id: str
    node: str
    boot: str
    seq: int
    body: messages.Message
    version: int = messages.FIRST


def seal(body: messages.Message, *, key: NodeKey, boot: str, seq: int, version: int = messages.FIRST) -> str:
    """
    Sign a message. A command goes down from controller to agent, a report the other way.

    Args:
        body: the message.
        key: the node's key.
        boot: the sender's boot id, 1 to 64 letters, digits, dots, dashes.
        seq: the sender's sequence, 0 to 2**63 - 1.
        version: of the protocol that the receiver speaks; the first is spoken by all.

    Returns:
        The canonical JSON text.

    Raises:
        ProtocolError: the body breaks its bounds, `needs-version`, or the envelope is too large.
    """
    content: dict[str, Any] = {"v": version, "key": key.key_id, "dir": _direction_of(body), "boot": boot}
    content |= {"seq": seq, "body": codec.encode(body, version=version)}
    _check_header(content | {"sig": ""})
    text = _canonical(content | {"sig": _signature(content, key)})
    _check_size(text)
    return text


def open_envelope(text: str, *, keys: Mapping[str, NodeKey], direction: Direction) -> Envelope:
    """
    Verify and decode an envelope.

    Args:
        text: what arrived; may be anything.
        keys: the keys accepted now, by key id; two of a node during a rotation.
        direction: the only direction accepted.

    Returns:
        The envelope. Its sequence has not been judged.

    Raises:
        ProtocolError: `too-large`, `malformed`, `not-canonical`, `unknown-version`, `unknown-key`,
            `bad-signature`, `wrong-direction`, or one of `codec.decode`.
    """
    content = _parse(text)
    _check_header(content)
    signature = content.pop("sig")
    key = keys.get(content["key"])
    if key is None:
        raise errors.ProtocolError("unknown-key", "no accepted key has this id")
    if not hmac.compare_digest(signature.encode(), _signature(content, key).encode()):
        raise errors.ProtocolError("bad-signature", "the signature does not fit the content")
    if content["dir"] != direction:
        raise errors.ProtocolError("wrong-direction", "the message was made for the other side")
    body = codec.decode(content["body"], version=content["v"])
    if _direction_of(body) != direction:
        raise errors.ProtocolError("wrong-direction", "the message does not travel this way")
    return Envelope(key.key_id, key.node, content["boot"], content["seq"], body, content["v"])


def _direction_of(body: messages.Message) -> Direction:
    return "up" if isinstance(body, messages.Report) else "down"


def _canonical(content: Mapping[str, Any]) -> str:
    return json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def _signature(content: Mapping[str, Any], key: NodeKey) -> str:
    signed = _encoded(_canonical(content))
    return hmac.new(key.secret, signed, hashlib.sha256).hexdigest()


def _parse(text: str) -> dict[str, Any]:
    _check_size(text)
    try:
        content = json.loads(text, object_pairs_hook=_unique, parse_float=_refuse, parse_constant=_refuse)
        canonical = isinstance(content, dict) and _canonical(content) == text
    except (ValueError, RecursionError):
        raise errors.ProtocolError("malformed", "not a JSON text of this protocol") from None
    if not canonical:
        raise errors.ProtocolError("not-canonical", "the text is not in its one canonical form")
    assert isinstance(content, dict)
    return content


def _check_size(text: str) -> None:
    if not isinstance(text, str):
        raise errors.ProtocolError("malformed", "the envelope is no text")
    if len(text) > SIZE_LIMIT or len(_encoded(text)) > SIZE_LIMIT:
        raise errors.ProtocolError("too-large", f"more than {SIZE_LIMIT} bytes")


def _encoded(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise errors.ProtocolError("malformed", "not valid Unicode") from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise errors.ProtocolError("duplicate-key", "a key stands twice in one object")
    return result


def _refuse(_: str) -> NoReturn:
    raise errors.ProtocolError("malformed", "numbers are integers in this protocol")


def _check_header(content: Mapping[str, Any]) -> None:
    if content.keys() != _FIELDS.keys():
        raise errors.ProtocolError("malformed", "the envelope lacks a field or has one too many")
    if any(type(value) is not _FIELDS[name] for name, value in content.items()):
        raise errors.ProtocolError("malformed", "a field of the envelope has a wrong type")
    if not messages.FIRST <= content["v"] <= messages.VERSION:
        raise errors.ProtocolError("unknown-version", f"versions to {messages.VERSION} are spoken here")
    if not 0 <= content["seq"] <= fields.INT64_MAX:
        raise errors.ProtocolError("out-of-range", "the sequence is no 63-bit number")
    if not _BOOT.fullmatch(content["boot"]):
        raise errors.ProtocolError("invalid-value", "the boot id has another form")
