"""
How far all stops together would get on each node: what is said of the legal ones when nobody was chosen.

Bounds over the columns of one table, no search: who cannot help even all together does not free enough, whatever a
policy answers; where they would, but a limit of owner, queue or suspended sessions could not hold, it is the limit.
Source: DESIGN 5.1, 7.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping

import numpy as np

from scheduler.core.preemption import tables

Array = tables.Array


class Outlook(enum.IntEnum):
    """What the stop of all who may be stopped on one node would come to; the best is said of a session."""

    TOO_LITTLE = 1  #: they do not free enough there
    LIMITED = 2  #: they do, but a limit of owner or queue, or of the stops themselves, would not hold
    ENOUGH = 3  #: nothing that is counted here stands in the way


def of_sessions(table: tables.Table, slots: int) -> Mapping[Outlook, frozenset[int]]:
    """
    Return the sessions of a table by the best outlook of the nodes on which they help.

    Args:
        table: the nodes, and who helps there.
        slots: how many of its amounts are slots and places of a node; limits of owner and queue come after them.

    Cost: O(candidates x amounts), in columns; one by one on nodes where the stops are limited.
    """
    each = np.repeat(of_nodes(table, slots), table.sizes)
    found: dict[Outlook, frozenset[int]] = {}
    better: frozenset[int] = frozenset()
    for outlook in reversed(Outlook):
        found[outlook] = frozenset(table.columns.ids[each == outlook].tolist()) - better
        better |= found[outlook]
    return found


def of_nodes(table: tables.Table, slots: int) -> Array:
    """Return the outlook of each node of a table: (nodes,)."""
    is_enough = np.add.reduceat(table.gives, table.first[:-1], axis=0) >= table.need
    of_slots: Array = np.asarray(is_enough[:, :slots].all(axis=1))
    of_limits: Array = np.asarray(is_enough[:, slots:].all(axis=1))
    for place in np.flatnonzero(of_slots & of_limits & (table.mosts < table.sizes)).tolist():
        of_limits[place] = _is_within(table, place)
    found: Array = np.where(
        of_slots, np.where(of_limits, Outlook.ENOUGH, Outlook.LIMITED), Outlook.TOO_LITTLE
    )
    return found


def _is_within(table: tables.Table, place: int) -> bool:
    """Say whether as many as may be stopped on a node could free enough: of each amount those that give most."""
    gives = table.gives[table.first[place] : table.first[place + 1]]
    most = np.sort(gives, axis=0)[::-1][: int(table.mosts[place])]
    return bool((most.sum(axis=0) >= table.need[place]).all())
