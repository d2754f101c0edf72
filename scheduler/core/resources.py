"""
Exact amounts of slots by kind.

A vector holds integers in the smallest unit of each kind (milli-cores, bytes, devices). Kinds of amount zero
are left out, so that equal vectors are equal values with equal hashes. No floats anywhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from scheduler.core import errors


class ResourceVector:
    """
    An immutable map from slot kind to a non-negative integer amount; kinds that are absent count as zero.
    """

    __slots__ = ("_amounts", "_items")

    def __init__(self, amounts: Mapping[str, int] | None = None) -> None:
        """
        Make a vector.

        Args:
            amounts: kind -> amount in the kind's smallest unit, >= 0. Zeros are dropped.

        Raises:
            BadAmount: an amount is negative or not an integer.
        """
        items = tuple(sorted((kind, amount) for kind, amount in (amounts or {}).items() if amount != 0))
        for kind, amount in items:
            if type(amount) is not int or amount < 0:
                raise errors.BadAmount(f"{kind}: {amount!r} is not a whole amount of zero or more")
        self._items = items
        self._amounts = dict(items)

    def get(self, kind: str) -> int:
        """Return the amount of one kind, 0 when absent."""
        return self._amounts.get(kind, 0)

    def kinds(self) -> tuple[str, ...]:
        """Return the kinds with an amount above zero, sorted."""
        return tuple(kind for kind, _ in self._items)

    def as_dict(self) -> dict[str, int]:
        """Return a new plain dict, sorted by kind, without zeros."""
        return dict(self._items)

    def only(self, kinds: frozenset[str]) -> ResourceVector:
        """Return the part of this vector in the given kinds."""
        return ResourceVector({kind: amount for kind, amount in self._items if kind in kinds})

    def without(self, kinds: frozenset[str]) -> ResourceVector:
        """Return the part of this vector outside the given kinds."""
        return ResourceVector({kind: amount for kind, amount in self._items if kind not in kinds})

    def covers(self, other: ResourceVector) -> bool:
        """Say whether every amount of ``other`` fits into this vector."""
        amounts = self._amounts
        return all(amounts.get(kind, 0) >= amount for kind, amount in other._items)

    def shortfall(self, have: ResourceVector) -> ResourceVector:
        """
        Return what is missing when this vector is wanted and ``have`` is there: max(0, self - have) per kind.
        """
        return ResourceVector({k: a - have.get(k) for k, a in self._items if a > have.get(k)})

    def minus_clamped(self, other: ResourceVector) -> ResourceVector:
        """Return max(0, self - other) per kind."""
        return self.shortfall(other)

    def minimum(self, other: ResourceVector) -> ResourceVector:
        """Return the smaller amount of each kind."""
        return ResourceVector({k: min(a, other.get(k)) for k, a in self._items})

    def __add__(self, other: ResourceVector) -> ResourceVector:
        amounts = dict(self._amounts)
        for kind, amount in other._items:
            amounts[kind] = amounts.get(kind, 0) + amount
        return ResourceVector(amounts)

    def __sub__(self, other: ResourceVector) -> ResourceVector:
        """Subtract exactly; BadAmount when ``other`` is not covered."""
        amounts = dict(self._amounts)
        for kind, amount in other._items:
            amounts[kind] = amounts.get(kind, 0) - amount
        return ResourceVector(amounts)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ResourceVector) and self._items == other._items

    def __hash__(self) -> int:
        return hash(self._items)

    def __bool__(self) -> bool:
        return bool(self._items)

    def __iter__(self) -> Iterator[tuple[str, int]]:
        return iter(self._items)

    def __repr__(self) -> str:
        return f"ResourceVector({self._amounts!r})"


EMPTY = ResourceVector()
