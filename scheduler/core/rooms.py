"""
One node during a round: what is free, releasing and promised, by kind.

Amounts are plain integers by kind; a node with a session limit has the further kind ``PLACES``, so that one
arithmetic serves slots and session places alike. Only the ledger changes a room. Source: DESIGN 5.1, 5.6.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from scheduler.core import entities

#: Kind under which a node counts session places.
PLACES = "#places"

Amounts = dict[str, int]


class Room:
    """One node during a round."""

    __slots__ = ("free", "indices", "leaving", "node", "promised", "releasing", "version")

    def __init__(self, node: entities.Node) -> None:
        self.node = node
        self.free: Amounts = node.capacity.as_dict()
        if node.max_sessions is not None:
            self.free[PLACES] = node.max_sessions
        self.indices: dict[str, tuple[int, ...]] = {k: tuple(sorted(i)) for k, i in node.devices.items()}
        self.releasing: Amounts = {}
        self.promised: Amounts = {}
        self.leaving: dict[int, Amounts] = {}
        self.version = 0  #: differs whenever the room's content may differ

    def wants(self, slots: Iterable[tuple[str, int]]) -> Amounts:
        """Return the request with the session place that it takes here."""
        amounts = dict(slots)
        if self.node.max_sessions is not None:
            amounts[PLACES] = 1
        return amounts

    def fits(self, wanted: Mapping[str, int]) -> bool:
        """Say whether all of ``wanted`` is free now."""
        free = self.free
        return all(free.get(kind, 0) >= amount for kind, amount in wanted.items())

    def lacks(self, wanted: Mapping[str, int]) -> Amounts:
        """Return what is missing of ``wanted`` in what is free now."""
        free = self.free
        return {k: a - free.get(k, 0) for k, a in wanted.items() if a > free.get(k, 0)}

    def net_releasing(self, kind: str) -> int:
        """Return what will be free without anybody else's stop, net of promises."""
        return max(0, self.releasing.get(kind, 0) - self.promised.get(kind, 0))

    def short(self, wanted: Mapping[str, int]) -> Amounts:
        """Return what is missing of ``wanted`` when all that is free and releasing is counted."""
        missing = {}
        for kind, amount in wanted.items():
            have = self.free.get(kind, 0) + self.net_releasing(kind)
            if amount > have:
                missing[kind] = amount - have
        return missing

    def take_indices(self, slots: Iterable[tuple[str, int]]) -> dict[str, tuple[int, ...]]:
        """Return the lowest free device indices for a request; kinds without indices are left out."""
        return {k: self.indices[k][:amount] for k, amount in slots if self.indices.get(k)}
