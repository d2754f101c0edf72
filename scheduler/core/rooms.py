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
Indices = dict[str, tuple[int, ...]]


def total(several: Iterable[Mapping[str, int]]) -> Amounts:
    """Return the sums by kind."""
    found: Amounts = {}
    for amounts in several:
        for kind, amount in amounts.items():
            found[kind] = found.get(kind, 0) + amount
    return found


class Room:
    """One node during a round."""

    __slots__ = ("drawn", "free", "indices", "kept", "leaving", "node", "promised", "releasing", "version")

    def __init__(self, node: entities.Node) -> None:
        self.node = node
        self.free: Amounts = node.capacity.as_dict()
        if node.max_sessions is not None:
            self.free[PLACES] = node.max_sessions
        self.indices: dict[str, tuple[int, ...]] = {k: tuple(sorted(i)) for k, i in node.devices.items()}
        self.drawn: Amounts = {}  #: by reservations, and held by nobody yet
        self.releasing: Amounts = {}
        self.promised: Amounts = {}
        self.leaving: dict[int, Amounts] = {}
        self.kept: dict[int, Indices] = {}  #: claim's holder -> devices that are kept free for it
        self.version = 0  #: differs whenever the room's content may differ

    def hold(
        self, slots: Iterable[tuple[str, int]], indices: Mapping[str, tuple[int, ...]], *, place: bool
    ) -> None:
        """Take what a session of the snapshot holds here; for good, before the round begins."""
        free = self.free
        for kind, amount in slots:
            free[kind] = free.get(kind, 0) - amount
        if place and self.node.max_sessions is not None:
            free[PLACES] -= 1
        for kind, numbers in indices.items():
            self.indices[kind] = tuple(i for i in self.indices.get(kind, ()) if i not in numbers)

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

    # Claims

    def keep(self, holder_id: int, indices: Mapping[str, tuple[int, ...]]) -> Indices:
        """Note and return which of a claim's devices are free now; whoever calls it takes them."""
        free = {
            k: tuple(i for i in numbers if i in self.indices.get(k, ())) for k, numbers in indices.items()
        }
        self.kept[holder_id] = free
        return free

    def lift(self, holder_id: int, slots: Iterable[tuple[str, int]]) -> None:
        """Give back, for one look, what a claim keeps here; ``lay`` takes it again."""
        for kind, amount in self.wants(slots).items():
            self.free[kind] = self.free.get(kind, 0) + amount
        for kind, numbers in self.kept[holder_id].items():
            self.indices[kind] = tuple(sorted({*self.indices.get(kind, ()), *numbers}))

    def lay(
        self, holder_id: int, slots: Iterable[tuple[str, int]], indices: Mapping[str, tuple[int, ...]]
    ) -> None:
        """Keep a claim's room again after ``lift``, as far as its devices are still free."""
        for kind, amount in self.wants(slots).items():
            self.free[kind] = self.free.get(kind, 0) - amount
        for kind, numbers in self.keep(holder_id, indices).items():
            self.indices[kind] = tuple(i for i in self.indices.get(kind, ()) if i not in numbers)
