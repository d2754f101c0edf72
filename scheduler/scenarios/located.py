"""
YAML as plain values that remember their lines, so that every fault can be named with its place.

The safe subset alone: mappings, lists, text, whole numbers, exact decimals, true, false and null. ``yes``, ``on`` and
dates are text. JSON is YAML, so JSON files are read, too. An alias counts as often as it is used, so that a small file
cannot become a large one.
"""

from __future__ import annotations

import decimal
import pathlib
from typing import Any

import yaml

from scheduler.scenarios import errors

_LARGEST = 16 << 20
_DEEPEST = 50
#: Values of one file, those of aliases each time that they are used.
_MOST_VALUES = 1_000_000
#: No number of a case has more digits.
_LONGEST_NUMBER = 40
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
        text = path.read_text(encoding="utf-8-sig")
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
        problem = str(error.problem).replace(*_SECOND_DOCUMENT)
        raise errors.BadScenario(f"{name}, line {line}: {problem}") from None
    except (yaml.YAMLError, RecursionError) as error:
        raise errors.BadScenario(f"{name}: not YAML: {error}") from None
    if node is None:
        raise errors.BadScenario(f"{name}: it is empty")
    return _Maker(name).value(node, 0)


#: What the parser says of a second document, and what people understand.
_SECOND_DOCUMENT = ("but found another document", "a second document begins; a file has one")


class _Maker:
    """Makes the values of one file."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._made = 0

    def value(self, node: yaml.Node, depth: int) -> Any:
        """Return the value of a node."""
        self._made += 1
        if depth > _DEEPEST:
            raise self._fault(node, "nested too deeply")
        if self._made > _MOST_VALUES:
            raise self._fault(node, f"more than {_MOST_VALUES:,} values, aliases counted each time")
        if isinstance(node, yaml.MappingNode):
            return self._table(node, depth)
        if isinstance(node, yaml.SequenceNode):
            items = Items()
            for each in node.value:
                items.append(self.value(each, depth + 1))
                items.lines.append(_line(each))
            return items
        return _scalar(node)

    def _table(self, node: yaml.MappingNode, depth: int) -> Table:
        table = Table(_line(node))
        for key_node, value_node in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                raise self._fault(key_node, "a key must be a word")
            key = key_node.value
            if key in table:
                raise self._fault(key_node, f"key {key!r} is there twice")
            table[key] = self.value(value_node, depth + 1)
            table.lines[key] = _line(key_node)
        return table

    def _fault(self, node: yaml.Node, text: str) -> errors.BadScenario:
        return errors.BadScenario(f"{self._name}, line {_line(node)}: {text}")


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
    if not value.is_finite() or len(text) > _LONGEST_NUMBER:
        return text
    is_whole = text.replace("_", "").lstrip("+-").isdigit()
    return int(value) if is_whole else value


def _line(node: yaml.Node) -> int:
    return int(node.start_mark.line) + 1
