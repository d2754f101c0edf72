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


def test_a_rollback_brings_the_versions_of_the_mark_back():
    book, room = _Book(), rooms.Room(factories.a_node())
    book.touch(room)
    mark, before = book.savepoint(), (book.version, room.version)
    book.touch(room)
    assert (book.version, room.version) != before

    book.rollback(mark)

    assert (book.version, room.version) == before


def test_no_version_names_two_contents():
    book, room, values = _Book(), rooms.Room(factories.a_node()), {"a": 1}
    seen = [book.version]
    mark = book.savepoint()
    for value in (2, 3):
        book.put(values, "a", value)
        seen.append(book.version)
        book.touch(room)
        seen += [book.version]
        book.rollback(mark)

    assert len(set(seen)) == len(seen)
