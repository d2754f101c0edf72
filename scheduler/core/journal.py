"""
Changes that can be undone: every one is noted with its inverse, and ``rollback`` leads back to a mark.

A version names a content: what was computed at one version is true whenever that version is back.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping

from scheduler.core import rooms


@dataclasses.dataclass(frozen=True, slots=True)
class Mark:
    """Where ``rollback`` leads back to."""

    length: int
    version: int


class Journal:
    """What changed since the round began, in order."""

    def __init__(self) -> None:
        self._journal: list[Callable[[], object]] = []
        self._changes = 0  #: of all time: no version is given twice
        self.version = 0  #: another one after every change; a rollback brings the mark's back
        self.touched: list[rooms.Room] = []  #: whose version changed, one after the other, rollbacks included

    def savepoint(self) -> Mark:
        """Return a mark to which ``rollback`` leads back."""
        return Mark(len(self._journal), self.version)

    def rollback(self, mark: Mark) -> None:
        """Undo everything since ``mark``."""
        while len(self._journal) > mark.length:
            self._journal.pop()()
        self.version = mark.version

    def _changed(self) -> int:
        self._changes += 1
        self.version = self._changes
        return self.version

    def _touch(self, room: rooms.Room) -> None:
        """Give the room a version of its own; a rollback brings the one before back."""
        self._journal.append(functools.partial(self._name, room, room.version))
        self._name(room, self._changed())

    def _name(self, room: rooms.Room, version: int) -> None:
        room.version = version
        self.touched.append(room)

    def _set(self, mapping: dict, key: object, value: object) -> None:  # type: ignore[type-arg]
        if key in mapping:
            self._journal.append(functools.partial(mapping.__setitem__, key, mapping[key]))
        else:
            self._journal.append(functools.partial(mapping.pop, key))
        mapping[key] = value
        self._changed()

    def _add(self, mapping: rooms.Amounts, amounts: Mapping[str, int]) -> None:
        for kind, amount in amounts.items():
            if amount:
                self._set(mapping, kind, mapping.get(kind, 0) + amount)
