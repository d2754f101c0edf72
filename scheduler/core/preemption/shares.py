"""
Shares of nodes as exact fractions: what a stop frees, summed over kinds of slots / capacity.

All shares of one problem have one common denominator, so that sums compare exactly. Kinds of zero capacity
are skipped. Source: DESIGN 5.3.
"""

from __future__ import annotations

import fractions
import math
from collections.abc import Iterable, Mapping

from scheduler.core import entities, resources

Frees = Iterable[tuple[int, resources.ResourceVector]]


def by_node(nodes: Mapping[int, entities.Node], frees: Frees) -> dict[int, fractions.Fraction]:
    """Return, per node, the sum over kinds of slots / capacity; nodes of other groups are skipped."""
    found: dict[int, fractions.Fraction] = {}
    for node_id, slots in frees:
        if node_id in nodes:
            found[node_id] = found.get(node_id, fractions.Fraction(0)) + of_node(nodes[node_id], slots)
    return found


def of_node(node: entities.Node, slots: resources.ResourceVector) -> fractions.Fraction:
    """Return the sum over kinds of slots / capacity of one node."""
    parts = (fractions.Fraction(a, node.capacity.get(kind)) for kind, a in slots if node.capacity.get(kind))
    return sum(parts, fractions.Fraction(0))


def common(values: Iterable[fractions.Fraction]) -> int:
    """Return the least number whose product with every value is whole."""
    return math.lcm(1, *{value.denominator for value in values})
