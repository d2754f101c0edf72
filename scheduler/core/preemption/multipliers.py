"""
Multipliers of the amounts: the one weighted sum of all amounts that bounds the number of victims best.

Whatever the multipliers, a sufficient set must reach the weighted sum of the needs; how many of the largest that takes
is a bound. The best ones are those of the linear relaxation, where candidates may be stopped in part; ascent along
its subgradient comes within a hundredth in some sixty steps. All integers, so that every machine finds the same.
Source: DESIGN 5.3; PERFORMANCE 5 (theory, a).
"""

from __future__ import annotations

import numpy as np

from scheduler.core.preemption import bounds, tables

Array = tables.Array
STEPS = 60
#: A multiplier of one; and one victim's worth, as parts of the need times multipliers.
_ONE = 1 << 12
_VICTIM = bounds.UNIT * _ONE
#: Steps without a better bound after which the aim is set closer.
_STALE = 5
#: So that products of the two stay within 64 bits.
_LARGEST_GAP, _LARGEST_SLOPE = 1 << 36, 1 << 26


def of(field: bounds.Field, few: int) -> Array:
    """
    Return the multipliers of each node's amounts, whole numbers from 0: (nodes, amounts).

    Args:
        field: the nodes.
        few: a number of victims that is not to be beaten: the ascent aims below it.
    """
    nodes, amounts = field.need.shape
    whole = bounds.wholes(field.need)
    found = np.full((nodes, amounts), max(1, _ONE * few // (2 * max(1, amounts))), dtype=np.int64)
    found, best, most = found * (whole > 0), found, np.full(nodes, -1, dtype=np.int64)
    stale, closer = np.zeros(nodes, dtype=np.int64), np.full(nodes, 2, dtype=np.int64)
    for _ in range(STEPS):
        bound, slope = _bound(field, whole, found)
        is_better = bound > most
        best, most = np.where(is_better[:, None], found, best), np.where(is_better, bound, most)
        stale = np.where(is_better, 0, stale + 1)
        closer = np.where(stale >= _STALE, np.minimum(closer * 2, 1 << 20), closer)
        stale = np.where(stale >= _STALE, 0, stale)
        slope = np.where((found <= 0) & (slope < 0), 0, slope)
        steep = np.maximum((slope * slope).sum(axis=1), 1)
        aim = most + np.maximum(_VICTIM // 64, (few * _VICTIM - most) // closer)
        gap = np.minimum(aim - bound, _LARGEST_GAP)
        found = np.maximum(0, found + gap[:, None] * slope // steep[:, None])
    return best


def _bound(field: bounds.Field, whole: Array, found: Array) -> tuple[Array, Array]:
    """Return how many victims the relaxation needs at least, in parts, and the slope by each multiplier."""
    worth = (field.parts * found[:, :, None]).sum(axis=1)
    is_taken = worth > _VICTIM
    bound = (whole * found).sum(axis=1) - np.where(is_taken, worth - _VICTIM, 0).sum(axis=1)
    slope = whole - (field.parts * is_taken[:, None, :]).sum(axis=2)
    return bound, np.clip(slope, -_LARGEST_SLOPE, _LARGEST_SLOPE) * (whole > 0)
