"""Values that are made when they are read."""

from __future__ import annotations

from scheduler.core import lazies


def test_nothing_is_made_before_it_is_read_and_nothing_twice():
    made = []

    def make(place):
        made.append(place)
        return 10 * place

    values = lazies.Lazy(3, make)

    assert (len(values), made) == (3, [])
    assert (values[1], values[-1], values[1:], list(values)) == (10, 20, (10, 20), [0, 10, 20])
    assert made == [0, 1, 2]


def test_it_is_equal_to_the_tuple_of_the_same_values():
    values = lazies.Lazy(2, str)

    assert values == ("0", "1")
    assert values == ("0", "1")
    assert values == lazies.Lazy(2, str)
    assert values != ["0", "1"]
    assert (hash(values), repr(values)) == (hash(("0", "1")), "('0', '1')")
