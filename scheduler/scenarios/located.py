"""
YAML as plain values that remember their lines, so that every fault can be named with its place.

The safe subset alone: mappings, lists, text, whole numbers, exact decimals, true, false and null. ``yes``, ``on`` and
dates are text. JSON is YAML, so JSON files are read, too.
"""

from __future__ import annotations

import decimal
import pathlib
from typing import Any

import yaml

from scheduler.scenarios import errors

_LARGEST = 16 << 20
_DEEPEST = 50
_WORDS = {"true": True, "false": False}


class Table(dict[str, Any]):
    """A mapping with the line that it begins at, and the line of each key."""

    def __init__(self, line: int) -> None:
        super().__init__()
        self.line = line
        self.lines: dict[str, int] = {}


class Items(list[Any]):
    """A list with the line of each item."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[int] = []


def read(path: pathlib.Path) -> Any:
    """
    Return the one document of a file.

    Raises:
        BadScenario: it cannot be read, or is no YAML of the safe subset; the text names the line.
    """
    try:
        if path.stat().st_size > _LARGEST:
            raise errors.BadScenario(f"{path}: larger than {_LARGEST >> 20} MiB")
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise errors.BadScenario(f"{path} cannot be read: {reason}") from None
    return parse(text, name=str(path))


def parse(text: str, *, name: str = "scenario") -> Any:
    """Return the one document of a text; see ``read``."""
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise errors.BadScenario(f"{name}, line {line}: {error.problem}") from None
    except (yaml.YAMLError, RecursionError) as error:
        raise errors.BadScenario(f"{name}: not YAML: {error}") from None
    if node is None:
        raise errors.BadScenario(f"{name}: it is empty")
    return _value(node, name, 0)


def _value(node: yaml.Node, name: str, depth: int) -> Any:
    if depth > _DEEPEST:
        raise errors.BadScenario(f"{name}, line {_line(node)}: nested too deeply")
    if isinstance(node, yaml.MappingNode):
        return _table(node, name, depth)
    if isinstance(node, yaml.SequenceNode):
        items = Items()
        for each in node.value:
            items.append(_value(each, name, depth + 1))
            items.lines.append(_line(each))
        return items
    return _scalar(node)


def _table(node: yaml.MappingNode, name: str, depth: int) -> Table:
    table = Table(_line(node))
    for key_node, value_node in node.value:
        if not isinstance(key_node, yaml.ScalarNode):
            raise errors.BadScenario(f"{name}, line {_line(key_node)}: a key must be a word")
        key = key_node.value
        if key in table:
            raise errors.BadScenario(f"{name}, line {_line(key_node)}: key {key!r} is there twice")
        table[key] = _value(value_node, name, depth + 1)
        table.lines[key] = _line(key_node)
    return table


def _scalar(node: yaml.Node) -> Any:
    text, tag = node.value, node.tag.rpartition(":")[2]
    if tag == "null":
        return None
    if tag == "bool":
        return _WORDS.get(text.lower(), text)
    if tag in ("int", "float"):
        return _number(text)
    return text


def _number(text: str) -> Any:
    """Return a whole number or an exact decimal; what is neither (0x10, 1:30, .inf) stays text."""
    try:
        value = decimal.Decimal(text)
    except decimal.InvalidOperation:
        return text
    if not value.is_finite():
        return text
    return int(text) if text.lstrip("+-").isdigit() else value


def _line(node: yaml.Node) -> int:
    return int(node.start_mark.line) + 1
