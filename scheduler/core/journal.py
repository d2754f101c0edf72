"""Changes that can be undone: every one is noted with its inverse, and ``rollback`` leads back to a mark."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping

from scheduler.core import rooms


class Journal:
    """What changed since the round began, in order."""

    def __init__(self) -> None:
        self._journal: list[Callable[[], object]] = []
        self.version = 0  #: grows with every change, a rollback included

    def savepoint(self) -> int:
        """Return a mark to which ``rollback`` leads back."""
        return len(self._journal)

    def rollback(self, mark: int) -> None:
        """Undo everything since ``mark``."""
        while len(self._journal) > mark:
            self._journal.pop()()
        self.version += 1

    def _touch(self, room: rooms.Room) -> None:
        """Give the room a version of its own, and another one when this is rolled back."""
        self.version += 1
        room.version = self.version
        self._journal.append(functools.partial(self._retouch, room))

    def _retouch(self, room: rooms.Room) -> None:
        self.version += 1
        room.version = self.version

    def _set(self, mapping: dict, key: object, value: object) -> None:  # type: ignore[type-arg]
        if key in mapping:
            self._journal.append(functools.partial(mapping.__setitem__, key, mapping[key]))
        else:
            self._journal.append(functools.partial(mapping.pop, key))
        mapping[key] = value
        self.version += 1

    def _add(self, mapping: rooms.Amounts, amounts: Mapping[str, int]) -> None:
        for kind, amount in amounts.items():
            if amount:
                self._set(mapping, kind, mapping.get(kind, 0) + amount)
