"""
Take the fields of one table of a scenario: checked, with defaults, every fault named with its line.

A key that nobody takes is either a slip of the pen (it is close to a known one: an error) or something that this
version does not have (the case is skipped, with the reason).
"""

from __future__ import annotations

import decimal
import difflib
from collections.abc import Collection, Iterable
from typing import Any

from scheduler.core import errors as core_errors
from scheduler.core import units
from scheduler.scenarios import errors, located

#: Keys of other systems' rules that the specification leaves out on purpose.
BEYOND = frozenset({"deserved", "reclaim", "kernels", "tags", "suspendable", "enforce_resume"})
_LONGEST_SHOWN = 200
_NAMES = (str, int, decimal.Decimal)
#: The largest whole number of a case: that of a column.
MOST = 2**31 - 1
#: Those of them that false switches off; of the others, false says something, too.
_SWITCHES = frozenset({"reclaim", "enforce_resume"})


class Fields:
    """The fields of one table; each ``take`` marks its key as known."""

    def __init__(self, value: Any, what: str, *, line: int, beyond: list[str]) -> None:
        """
        Args:
            value: must be a table.
            what: how messages call it: ``running v``.
            line: where it stands.
            beyond: gets a reason for each key that this version cannot express.
        """
        self.what = what
        self.beyond = beyond
        if not isinstance(value, located.Table):
            raise errors.BadScenario(f"line {line}: {what} must be a table of keys and values")
        self._table = value
        self._known: set[str] = set()

    @property
    def line(self) -> int:
        """Return where the table begins."""
        return self._table.line

    def line_of(self, key: str) -> int:
        """Return the line of a key; without it, of the table."""
        return self._table.lines.get(key, self._table.line)

    def fault(self, key: str, text: str) -> errors.BadScenario:
        """Return the error about one key."""
        return errors.BadScenario(f"line {self.line_of(key)}: {key} of {self.what} {text}")

    def take(self, key: str, default: Any = None) -> Any:
        """Return a value as it stands; a missing one and null are the default."""
        self._known.add(key)
        value = self._table.get(key)
        return default if value is None else value

    def has(self, key: str) -> bool:
        """Say whether a key stands there."""
        return key in self._table

    def text(self, key: str, default: str | None = None) -> str:
        """Return a name or a word; without a default it is required."""
        value = self.take(key, default)
        if value is None:
            raise self.fault(key, "is missing")
        if isinstance(value, bool) or not isinstance(value, str | int):
            raise self.fault(key, f"must be text, not {shown(value)}")
        return str(value)

    def number(
        self, key: str, default: int | None = None, *, least: int = -(2**31), most: int = MOST
    ) -> int | None:
        """Return a whole number from ``least`` to ``most``."""
        value = self.take(key, default)
        if value is None:
            return None
        if type(value) is not int or value < least:
            raise self.fault(key, f"must be a whole number of at least {least}, not {shown(value)}")
        if value > most:
            raise self.fault(key, f"is {value}; it is at most {most}")
        return value

    def seconds(self, key: str) -> int | decimal.Decimal | None:
        """Return seconds, exact to the microsecond; they may be below zero."""
        value = self.take(key)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | decimal.Decimal):
            raise self.fault(key, f"must be seconds, not {shown(value)}")
        if not -MOST <= value <= MOST or value * 10**6 % 1:
            raise self.fault(key, f"must be seconds, exact to the microsecond and below 2^31, not {value}")
        return value

    def count(self, key: str, default: int, *, least: int = 0, most: int = MOST) -> int:
        """Return a whole number that is always there."""
        value = self.number(key, default, least=least, most=most)
        return default if value is None else value

    def flag(self, key: str, default: bool = False) -> bool:
        """Return true or false."""
        value = self.take(key, default)
        if not isinstance(value, bool):
            raise self.fault(key, f"must be true or false, not {shown(value)}")
        return value

    def word(self, key: str, default: str, allowed: Collection[str]) -> str:
        """Return one of the allowed words."""
        value = self.text(key, default)
        if value not in allowed:
            raise self.fault(key, f"must be one of {', '.join(sorted(allowed))}, not {value!r}")
        return value

    def words(self, key: str) -> list[str] | None:
        """Return a list of names, one name alone as a list of one, None when it is missing."""
        value = self.take(key)
        if value is None:
            return None
        names = value if isinstance(value, list) else [value]
        if not all(isinstance(each, _NAMES) for each in names):
            raise self.fault(key, f"must be a list of names, not {shown(value)}")
        return [_word(each) for each in names]

    def label(self, key: str) -> str:
        """Return the value of a label: any single value, as it is written."""
        value = self.take(key, "")
        if not isinstance(value, _NAMES):
            raise self.fault(key, f"must be a word, not {shown(value)}")
        return _word(value)

    def tables(self, key: str, what: str) -> list[Fields]:
        """Return a list of tables, empty when it is missing."""
        value = self.take(key, located.Items())
        if not isinstance(value, located.Items):
            raise self.fault(key, "must be a list")
        return [
            Fields(each, what, line=line, beyond=self.beyond)
            for each, line in zip(value, value.lines, strict=True)
        ]

    def table(self, key: str, what: str = "") -> Fields:
        """Return a table, an empty one when it is missing."""
        value = self.take(key, located.Table(self.line))
        return Fields(value, what or f"{key} of {self.what}", line=self.line_of(key), beyond=self.beyond)

    def amounts(self, key: str) -> dict[str, int]:
        """Return kind -> amount in the smallest unit, empty when it is missing."""
        return self.table(key).all_amounts()

    def all_amounts(self) -> dict[str, int]:
        """Return every key of the table as a kind with its amount."""
        return {key: self._amount(key) for key in self.names()}

    def _amount(self, key: str) -> int:
        value = self.take(key, 0)
        if isinstance(value, bool):
            raise self.fault(key, "must be an amount")
        try:
            return units.parse_amount(kind(key), str(value))
        except core_errors.BadAmount as error:
            raise self.fault(key, f"is no amount: {error}") from None

    def indices(self, key: str) -> dict[str, tuple[int, ...]]:
        """Return kind -> device numbers, empty when it is missing."""
        found = self.table(key)
        return {kind: found.numbers(kind) for kind in found.names()}

    def numbers(self, key: str) -> tuple[int, ...]:
        """Return a list of different whole numbers from 0."""
        value = self.take(key, [])
        if (
            not isinstance(value, list)
            or not all(type(each) is int and 0 <= each <= MOST for each in value)
            or len(set(value)) < len(value)
        ):
            raise self.fault(key, f"must be a list of different whole numbers from 0, not {shown(value)}")
        return tuple(sorted(value))

    def names(self) -> Iterable[str]:
        """Return every key that stands there."""
        return list(self._table)

    def close(self) -> None:
        """
        Look for keys that nobody took.

        Raises:
            BadScenario: one is close to a known key, so it is a slip of the pen.
        """
        for key in self._table:
            if key in self._known or self._says_nothing(key):
                continue
            line = self.line_of(key)
            if key in BEYOND:
                self.beyond.append(f"line {line}: {key} of {self.what} is beyond what this scheduler has")
                continue
            if close := difflib.get_close_matches(key, self._known, n=1, cutoff=0.8):
                raise errors.BadScenario(
                    f"line {line}: {self.what} has no key {key!r}; did you mean {close[0]!r}?"
                )
            self.beyond.append(f"line {line}: {self.what} has a key {key!r} that this version does not know")

    def _says_nothing(self, key: str) -> bool:
        value = self._table[key]
        is_empty = value is None or value == [] or value == {}
        return key in BEYOND and (is_empty or (value is False and key in _SWITCHES))


def _word(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def shown(value: Any) -> str:
    """Return a value as a file has it, shortened where it is long."""
    text = _word(plain(value))
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}..."


def plain(value: Any) -> Any:
    """Return a value of plain tables and lists, exact decimals as text."""
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, list):
        return [plain(each) for each in value]
    return str(value) if isinstance(value, decimal.Decimal) else value


def kind(name: str) -> units.SlotKind:
    """Return the kind of a name: those that are built in, else a named kind whose fractions scale by 1000."""
    return units.BUILT_IN.get(name) or units.SlotKind(name, 1000)
