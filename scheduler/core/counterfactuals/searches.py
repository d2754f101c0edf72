"""
Finding the value at which a result turns, with few trials.

Bisection is used only where the result is proved to turn once; elsewhere every value at which it can turn is
tried. Whatever is returned was tried itself, and so was the value one step below it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence

from scheduler.core import units

Trial = Callable[[int], bool]
_GIB, _MIB = 1 << 30, 1 << 20


def step_of(kind: str, amount: int, kinds: Mapping[str, units.SlotKind]) -> int:
    """Return the step in which an amount is lowered: such that people read every value exactly."""
    known = kinds.get(kind) or units.SlotKind(kind, 1)
    if known.is_bytes:
        steps = [(16 * _GIB, _GIB), (_GIB, _GIB // 2), (2 * _MIB, _MIB)]
        return next((step for least, step in steps if amount >= least), 1)
    step = max(1, known.scale // 10)
    return step if amount >= 2 * step else 1


def largest(low: int, high: int, holds: Trial) -> int | None:
    """
    Return the largest value of ``low..high`` that holds, None when none does.

    Args:
        holds: once false, false for every larger value.
    """
    if high < low or not holds(low):
        return None
    while low < high:
        middle = (low + high + 1) // 2
        if holds(middle):
            low = middle
        else:
            high = middle - 1
    return low


def first(values: Iterable[int], holds: Trial) -> int | None:
    """Return the first of some values that holds, None when none does."""
    return next((value for value in values if holds(value)), None)


@dataclasses.dataclass(frozen=True, slots=True)
class Range:
    """The least value that holds, and the last one in a row that does; ``most`` None: all above hold too."""

    least: int
    most: int | None


def least_range(turns: Sequence[int], holds: Trial) -> Range | None:
    """
    Return where a result begins to hold.

    Args:
        turns: at least one value, ascending: from one (included) to the next (excluded) the result turns at
            most once, from false to true; from the last on it does not turn at all.
        holds: tries one value.

    Returns:
        The least value of all from ``turns[0]`` on that holds, None when none does.
    """
    for place, start in enumerate(turns[:-1]):
        last = turns[place + 1] - 1
        if holds(last):
            failing = largest(start, last - 1, lambda value: not holds(value))
            least = start if failing is None else failing + 1
            return Range(least, _most(turns[place + 1 :], holds))
    return Range(turns[-1], None) if holds(turns[-1]) else None


def _most(turns: Sequence[int], holds: Trial) -> int | None:
    """Return the last value before the first turn that does not hold, None when all hold."""
    stop = first(turns, lambda value: not holds(value))
    return None if stop is None else stop - 1


def turns_above(own: int, values: Iterable[int], *, most: int) -> list[int]:
    """Return the distinct values of ``own + 1 .. most``, ascending, with ``own + 1`` among them."""
    found = {value for value in values if own < value <= most}
    return sorted(found | {own + 1}) if own < most else []
