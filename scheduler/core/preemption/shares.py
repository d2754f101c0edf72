"""
Shares of nodes as exact integers: what a stop frees, summed over kinds of slots / capacity.

All shares of one problem have one common denominator, so that sums compare exactly. Kinds of zero capacity
are skipped. Source: DESIGN 5.3.
"""

from __future__ import annotations

import fractions
import math
from collections.abc import Iterable, Mapping

from scheduler.core import entities, resources

Frees = Iterable[tuple[int, resources.ResourceVector]]


def share(nodes: Mapping[int, entities.Node], frees: Frees) -> fractions.Fraction:
    """Return the sum over nodes and kinds of slots / capacity; nodes of other groups are skipped."""
    total = fractions.Fraction(0)
    for node_id, slots in frees:
        node = nodes.get(node_id)
        for kind, amount in slots if node is not None else ():
            capacity = node.capacity.get(kind) if node is not None else 0
            if capacity:
                total += fractions.Fraction(amount, capacity)
    return total


def common(values: Iterable[fractions.Fraction]) -> int:
    """Return the least number whose product with every value is whole."""
    return math.lcm(1, *{value.denominator for value in values})
