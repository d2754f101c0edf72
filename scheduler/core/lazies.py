"""
Sequences whose values are made when somebody reads them.

A round records every node and every candidate with each of its decisions; most are compared, stored or shown by
nobody. What a value is made of must not change afterwards. Source: DESIGN 7.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar, overload

T = TypeVar("T")


class Lazy(Sequence[T]):
    """
    Equal to the tuple of the same values.

    Args:
        size: how many values.
        make: returns the value at a place; the same value whenever it is asked.
    """

    __slots__ = ("_made", "_make", "_size")

    def __init__(self, size: int, make: Callable[[int], T]) -> None:
        self._size, self._make = size, make
        self._made: tuple[T, ...] | None = None

    def _all(self) -> tuple[T, ...]:
        if self._made is None:
            self._made = tuple([self._make(place) for place in range(self._size)])
        return self._made

    def __len__(self) -> int:
        return self._size

    @overload
    def __getitem__(self, place: int) -> T: ...

    @overload
    def __getitem__(self, place: slice) -> tuple[T, ...]: ...

    def __getitem__(self, place: int | slice) -> T | tuple[T, ...]:
        return self._all()[place]

    def __iter__(self) -> Iterator[T]:
        return iter(self._all())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, tuple | Lazy):
            return NotImplemented
        return self is other or self._all() == tuple(other)

    def __hash__(self) -> int:
        return hash(self._all())

    def __repr__(self) -> str:
        return repr(self._all())
