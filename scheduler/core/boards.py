"""
The rooms of all nodes as rows of numbers, so that one request is held against every node at once.

A board follows the ledger: a row is read again when its room's version says so. Amounts are exact: a group with
more than 64 bits can add holds Python integers. Source: DESIGN 4 (step 2), 5.1; PERFORMANCE 6.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np

from scheduler.core import entities, resources, rooms

Array: TypeAlias = "np.ndarray[Any, Any]"
#: What is free and what is releasing on one node, by kind; below zero where more is held than there is.
State = tuple[rooms.Amounts, rooms.Amounts]
#: Rows whose states stand in one block, which is copied when one of them changes.
_BLOCK = 64
#: More than any node has; what a node does not limit is this much free.
PLENTY = 1 << 61


class States:
    """The state of every row at one time; what comes later changes other blocks."""

    __slots__ = ("_blocks",)

    def __init__(self, blocks: tuple[list[State], ...]) -> None:
        self._blocks = blocks

    def __getitem__(self, place: int) -> State:
        return self._blocks[place // _BLOCK][place % _BLOCK]


class _Changing:
    """The state of every row now; a copy costs no more than the blocks that change after it."""

    def __init__(self, rows: int) -> None:
        nothing: State = ({}, {})
        self._blocks = [[nothing] * _BLOCK for _ in range(-(-rows // _BLOCK))]
        self._own: set[int] = set()

    def put(self, place: int, state: State) -> None:
        block = place // _BLOCK
        if block not in self._own:
            self._own.add(block)
            self._blocks[block] = self._blocks[block].copy()
        self._blocks[block][place % _BLOCK] = state

    def copy(self) -> States:
        self._own.clear()
        return States(tuple(self._blocks))


class Board:
    """
    Free and releasing amounts of every node, by name.

    Args:
        nodes: in the order of the rows.
        own: their rooms, in the same order.
        touched: the rooms whose version changes, to which the ledger adds.
    """

    def __init__(
        self, nodes: Sequence[entities.Node], own: Sequence[rooms.Room], touched: Sequence[rooms.Room]
    ) -> None:
        self.nodes, self.rooms, self.touched = nodes, own, touched
        self.place_of = {node.id: place for place, node in enumerate(nodes)}
        self.ids: Array = _integers([node.id for node in nodes])
        kinds = sorted({kind for node in nodes for kind in node.capacity.kinds()})
        self.kinds: tuple[str, ...] = (rooms.PLACES, *kinds)
        self._column = {kind: column for column, kind in enumerate(self.kinds)}
        largest = max((amount for node in nodes for _, amount in node.capacity), default=0)
        shape, dtype = (len(nodes), len(self.kinds)), np.int64 if largest < PLENTY else object
        self.capacity: Array = np.zeros(shape, dtype=dtype)
        self.free: Array = np.zeros(shape, dtype=dtype)
        self.drawn: Array = np.zeros(shape, dtype=dtype)  #: by reservations
        self.have: Array = np.zeros(shape, dtype=dtype)  #: free and releasing, net of promises
        self.is_ready: Array = np.array(
            [node.state is entities.NodeState.READY for node in nodes], dtype=bool
        )
        self._seen = len(touched)
        self._versions: Array = _integers([room.version for room in own])
        self._states = _Changing(len(nodes))
        self._shares: list[int | None] = [None] * len(nodes)
        for place, node in enumerate(nodes):
            self.capacity[place] = self._row({rooms.PLACES: _places(node), **node.capacity.as_dict()})
        for place, room in enumerate(own):
            self._read(place, room)

    def _row(self, amounts: dict[str, int]) -> list[int]:
        return [amounts.get(kind, 0) for kind in self.kinds]

    def follow(self) -> None:
        """Read again what has changed since the last time."""
        touched, self._seen = self.touched[self._seen :], len(self.touched)
        for room in dict.fromkeys(touched):
            place = self.place_of[room.node.id]
            if self._versions[place] != room.version:
                self._versions[place] = room.version
                self._read(place, room)

    def versions(self) -> Array:
        """Return what names the content of each row: (nodes,)."""
        return self._versions.copy()

    def _read(self, place: int, room: rooms.Room) -> None:
        free = [room.free.get(kind, 0) for kind in self.kinds]
        have = list(free)
        for kind in room.releasing:
            if (column := self._column.get(kind)) is not None:
                have[column] += room.net_releasing(kind)
        if room.node.max_sessions is None:
            free[0] = have[0] = PLENTY
        self.free[place], self.have[place] = free, have
        self.drawn[place] = self._row(room.drawn)
        releasing = {kind: room.net_releasing(kind) for kind in room.releasing}
        self._states.put(place, (dict(room.free), releasing))
        self._shares[place] = None

    def states(self) -> States:
        """Return what is free and releasing on every node now; nobody changes it afterwards."""
        return self._states.copy()

    def free_share(self, node_id: int) -> int:
        """Return the sum over kinds of free / capacity on one node, in parts of 2^32."""
        place = self.place_of[node_id]
        share = self._shares[place]
        if share is None:
            free, capacity = self.rooms[place].free, self.nodes[place].capacity
            share = self._shares[place] = sum((free.get(k, 0) << 32) // amount for k, amount in capacity)
        return share

    def wanted(self, slots: resources.ResourceVector) -> Array | None:
        """Return a request with its session place as a row; None when no node has one of its kinds at all."""
        row = np.zeros(len(self.kinds), dtype=self.free.dtype)
        row[0] = 1
        for kind, amount in slots:
            if kind not in self._column or (amount > PLENTY and row.dtype != object):
                return None
            row[self._column[kind]] = amount
        return row

    def fitting(self, slots: resources.ResourceVector) -> Array:
        """Say on which nodes a request fits on what is free now: (nodes,)."""
        return self._covers(self.free, slots)

    def fitting_unreserved(self, slots: resources.ResourceVector) -> Array:
        """Say on which nodes a request would fit if nothing were reserved there, and does not now: (nodes,)."""
        found: Array = self._covers(self.free + self.drawn, slots) & ~self._covers(self.free, slots)
        return found

    def holding(self, slots: resources.ResourceVector) -> Array:
        """Say which nodes, empty and ready, would hold a request: (nodes,)."""
        return self._covers(self.capacity, slots)

    def _covers(self, amounts: Array, slots: resources.ResourceVector) -> Array:
        wanted = self.wanted(slots)
        if wanted is None:
            return np.zeros(len(self.nodes), dtype=bool)
        asked = np.flatnonzero(wanted)  # of what is not asked less than nothing may be free
        covered: Array = np.asarray((amounts[:, asked] >= wanted[asked]).all(axis=1))
        return covered

    def short(self, slots: resources.ResourceVector, places: Array) -> Array:
        """
        Return what is missing of a request on some nodes when free and releasing are counted: (places, kinds).

        Args:
            slots: what is asked, of kinds that the nodes have.
            places: rows of the nodes.
        """
        wanted = self.wanted(slots)
        assert wanted is not None
        missing: Array = np.asarray(np.maximum(wanted - self.have[places], 0))
        missing[:, wanted <= 0] = 0
        return missing

    def columns(self, kinds: Iterable[str]) -> list[int]:
        """Return the columns of the kinds that some node has."""
        return [self._column[kind] for kind in kinds if kind in self._column]


def _integers(numbers: list[int]) -> Array:
    return np.array(numbers, dtype=np.int64 if all(abs(n) < PLENTY for n in numbers) else object)


def _places(node: entities.Node) -> int:
    return PLENTY if node.max_sessions is None else node.max_sessions
