"""Changes that can be undone."""

from __future__ import annotations

from scheduler.core import journal, rooms
from tests import factories


class _Book(journal.Journal):
    def put(self, mapping, key, value):
        self._set(mapping, key, value)

    def add(self, mapping, **amounts):
        self._add(mapping, amounts)

    def touch(self, room):
        self._touch(room)


def test_a_rollback_leads_back_to_the_mark_and_no_further():
    book, values = _Book(), {"a": 1}
    book.put(values, "a", 2)
    mark = book.savepoint()
    book.put(values, "a", 3)
    book.add(values, a=4, b=5, c=0)
    assert values == {"a": 7, "b": 5}

    book.rollback(mark)

    assert values == {"a": 2}


def test_every_change_and_every_rollback_has_a_version_of_its_own():
    book, room = _Book(), rooms.Room(factories.a_node())
    mark = book.savepoint()
    book.touch(room)
    first, seen = room.version, book.version
    book.rollback(mark)

    assert room.version > first
    assert book.version > seen
