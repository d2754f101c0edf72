"""
A peer that speaks the first version of the protocol, from frozen data alone.

It shares no code with the product: its own canonical text, its own signature, and a strict reader of the shapes
that the first version knew. What it accepts, the first agents and controllers accept.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import pathlib
import re
from typing import Any

DATA = pathlib.Path(__file__).resolve().parents[2] / "data" / "protocol" / "first"
ENVELOPES = (DATA / "messages.jsonl").read_text().splitlines()
SHAPES: dict[str, Any] = json.loads((DATA / "shapes.json").read_text())
KEY_ID, SECRET = "k1", b"s" * 32
_JSON = {"integer": int, "text": str, "truth": bool, "null": type(None)}


def bodies(kind: str) -> list[dict[str, Any]]:
    """Return the frozen bodies of one type, each a copy."""
    return [body for body in (json.loads(text)["body"] for text in ENVELOPES) if body["type"] == kind]


def seal(body: dict[str, Any], *, boot: str, seq: int, key_id: str = KEY_ID, secret: bytes = SECRET) -> str:
    """Sign a body as the first version did."""
    way = "up" if body["type"] in UP else "down"
    content = {"v": 1, "key": key_id, "dir": way, "boot": boot, "seq": seq, "body": body}
    return _canonical(content | {"sig": _sign(content, secret)})


def read(text: str, *, secret: bytes = SECRET) -> dict[str, Any]:
    """
    Open an envelope as the first version did; returns its body.

    Raises:
        AssertionError: the first version would refuse it.
    """
    content = json.loads(text)
    assert _canonical(content) == text, "not canonical"
    assert set(content) == {"v", "key", "dir", "boot", "seq", "body", "sig"}
    assert content["v"] == 1, "another version"
    assert hmac.compare_digest(content.pop("sig"), _sign(content, secret)), "bad signature"
    body = content["body"]
    assert content["dir"] == ("up" if body["type"] in UP else "down")
    check(body)
    return body


def check(body: dict[str, Any]) -> None:
    """Refuse a body that the first version's strict decoder would refuse."""
    fields = {name: value for name, value in body.items() if name != "type"}
    _check(fields, SHAPES[body["type"]], body["type"])


UP = {json.loads(text)["body"]["type"] for text in ENVELOPES if json.loads(text)["dir"] == "up"}


def _canonical(content: dict[str, Any]) -> str:
    return json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _sign(content: dict[str, Any], secret: bytes) -> str:
    return hmac.new(secret, _canonical(content).encode(), hashlib.sha256).hexdigest()


def _check(value: Any, shape: dict[str, Any], where: str) -> None:
    if "either" in shape:
        one = next(s for s in shape["either"] if type(value) is _JSON[s["is"]])
        _check(value, one, where)
    elif "object" in shape:
        assert type(value) is dict, where
        assert set(shape["needed"]) <= set(value) <= set(shape["object"]), f"{where}: {sorted(value)}"
        for name, item in value.items():
            _check(item, shape["object"][name], f"{where}.{name}")
    elif "words" in shape:
        assert type(value) in (str, int), where
        assert value in shape["words"], f"{where}: {value}"
    else:
        _check_members(value, shape, where)
        _check_limits(value, shape, where)


def _check_members(value: Any, shape: dict[str, Any], where: str) -> None:
    if "list" in shape or "row" in shape:
        assert type(value) is list, where
        each = shape["row"] if "row" in shape else [shape["list"]] * len(value)
        for item, inner in zip(value, each, strict=True):
            _check(item, inner, where)
    elif "map" in shape:
        assert type(value) is dict, where
        for key, item in value.items():
            _check(key, shape["map"][0], where)
            _check(item, shape["map"][1], where)
    else:
        assert type(value) is _JSON[shape["is"]], f"{where}: {value!r}"


def _check_limits(value: Any, shape: dict[str, Any], where: str) -> None:
    if "from" in shape:
        assert shape["from"] <= value <= shape["to"], where
    if "longest" in shape or "most" in shape:
        assert len(value) <= shape.get("longest", shape.get("most")), where
    if "pattern" in shape:
        assert re.fullmatch(shape["pattern"], value), where
