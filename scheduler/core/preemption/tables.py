"""
The candidates of all nodes as columns of numbers.

What a policy sees as nodes with candidates, the exact search reads as arrays; both are the same facts. A
table is a sequence of ``policy.Target`` that makes each node's values when somebody asks for them. Sums must
not wrap: columns whose sums could leave 64 bits hold Python integers instead. Source: DESIGN 5.3.
"""

from __future__ import annotations

import abc
import dataclasses
import functools
import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, overload

import numpy as np

from scheduler.core.preemption import policy

if TYPE_CHECKING:
    from scheduler.core.preemption import keeping

Array: TypeAlias = "np.ndarray[Any, Any]"
#: No column with sums beyond this is kept in 64 bits.
SAFE = 1 << 61


@dataclasses.dataclass(frozen=True, slots=True)
class Heads:
    """The nodes of a table, their candidates aside."""

    ids: Array  #: (nodes,)
    line: Array  #: (nodes,) less = earlier by name
    name: Callable[[int], str]  #: of the node at a place
    ranks: Callable[
        [], Sequence[int]
    ]  #: of all nodes in the order of the group's placement; asked when needed
    mosts: Sequence[int | None] | None = None  #: None = no limit on any node


@dataclasses.dataclass(frozen=True, slots=True)
class Columns:
    """The candidates of all nodes, node after node, by session id within one."""

    ids: Array  #: (candidates,)
    value: Array  #: (candidates,)
    gives: Array  #: (candidates, amounts), never more than the node needs
    start: Array  #: (candidates,)
    share: Array  #: (candidates,)
    total_share: Array  #: (candidates,)


class Source(Sequence[policy.Target]):
    """
    Targets of which a table is made when somebody asks for one: of all nodes, or of some alone.
    """

    kept: keeping.Kept | None = None  #: what earlier decisions of this kind have found out

    @property
    @abc.abstractmethod
    def sizes(self) -> Array:
        """Return how many candidates each node of the group has: (nodes,), by name."""

    @abc.abstractmethod
    def whole(self) -> Table:
        """Return all nodes that have a candidate."""

    @abc.abstractmethod
    def part(self, places: Array) -> Table:
        """Return some of the nodes that have a candidate, by name."""

    def __len__(self) -> int:
        return int(np.count_nonzero(self.sizes))

    @overload
    def __getitem__(self, place: int) -> policy.Target: ...

    @overload
    def __getitem__(self, place: slice) -> tuple[policy.Target, ...]: ...

    def __getitem__(self, place: int | slice) -> policy.Target | tuple[policy.Target, ...]:
        return self.whole()[place]


class Table(Sequence[policy.Target]):
    """
    Nodes and candidates as arrays, and as a sequence of targets.

    Args:
        heads: the nodes.
        need: (nodes, amounts); 0 = that amount is not short on that node.
        first: (nodes + 1,) where each node's candidates begin.
        columns: the candidates.
    """

    def __init__(self, heads: Heads, need: Array, first: Array, columns: Columns) -> None:
        self.heads, self.first, self.columns = heads, first, columns
        sizes = np.diff(first)
        most = int(sizes.max(initial=0)) + 1
        self.need = exact(need, times=most)
        self.gives = columns.gives.astype(self.need.dtype, copy=False)
        self.sizes: Array = sizes
        limits = [None] * len(sizes) if heads.mosts is None else heads.mosts
        self.mosts: Array = np.array(
            [
                size if most is None else min(size, most)
                for most, size in zip(limits, sizes.tolist(), strict=True)
            ],
            dtype=np.int64,
        )
        self._made: dict[int, policy.Target] = {}

    @functools.cached_property
    def ranks(self) -> Sequence[int]:
        """Return for each node its place in the order of the group's placement, 0 first."""
        return self.heads.ranks()

    def __len__(self) -> int:
        return len(self.sizes)

    @overload
    def __getitem__(self, place: int) -> policy.Target: ...

    @overload
    def __getitem__(self, place: slice) -> tuple[policy.Target, ...]: ...

    def __getitem__(self, place: int | slice) -> policy.Target | tuple[policy.Target, ...]:
        if isinstance(place, slice):
            return tuple(self[i] for i in range(*place.indices(len(self))))
        if not -len(self) <= place < len(self):
            raise IndexError(place)
        place %= len(self)
        if place not in self._made:
            self._made[place] = self._target(place)
        return self._made[place]

    def _target(self, place: int) -> policy.Target:
        short = [i for i, amount in enumerate(self.need[place]) if amount > 0]
        need = tuple(int(self.need[place, i]) for i in short)
        rows = slice(int(self.first[place]), int(self.first[place + 1]))
        heads, candidates = self.heads, tuple(self._candidates(rows, short))
        most = None if heads.mosts is None else heads.mosts[place]
        node_id, name = int(heads.ids[place]), heads.name(place)
        return policy.Target(node_id, name, self.ranks[place], need, candidates, most)

    def ids_at(self, place: int) -> list[int]:
        """Return the session ids of the candidates of one node."""
        found: list[int] = self.columns.ids[int(self.first[place]) : int(self.first[place + 1])].tolist()
        return found

    def _candidates(self, rows: slice, short: list[int]) -> Iterable[policy.Candidate]:
        own = self.columns
        lists = (own.ids, own.value, own.gives[rows][:, short], own.start, own.share, own.total_share)
        plain = [(column if column is lists[2] else column[rows]).tolist() for column in lists]
        for session_id, value, given, start, share, total in zip(*plain, strict=True):
            yield policy.Candidate(session_id, value, tuple(given), start, share, total)


def exact(amounts: Array, *, times: int) -> Array:
    """Return the amounts so that sums of ``times`` of them are exact: in 64 bits where those suffice."""
    largest = max((abs(int(a)) for a in (amounts.max(initial=0), amounts.min(initial=0))), default=0)
    return amounts.astype(np.int64 if largest * times < SAFE else object, copy=False)


def of(targets: Sequence[policy.Target]) -> Table:
    """Return the targets as a table."""
    if isinstance(targets, Table):
        return targets
    if isinstance(targets, Source):
        return targets.whole()
    width = max((len(target.need) for target in targets), default=0)
    candidates = [c for target in targets for c in sorted(target.candidates, key=_id)]
    sizes = [len(target.candidates) for target in targets]
    by_name = sorted(range(len(targets)), key=lambda place: (targets[place].name, targets[place].node_id))
    line = np.empty(len(targets), dtype=np.int64)
    line[by_name] = np.arange(len(targets))
    heads = Heads(
        integers(target.node_id for target in targets),
        line,
        lambda place: targets[place].name,
        lambda: [target.rank for target in targets],
        [target.most for target in targets],
    )
    columns = Columns(
        integers(c.session_id for c in candidates),
        integers(c.value for c in candidates),
        _padded([c.gives for c in candidates], width),
        integers(c.start for c in candidates),
        integers(c.share for c in candidates),
        integers(c.total_share for c in candidates),
    )
    first = np.array([0, *itertools.accumulate(sizes)], dtype=np.int64)
    return Table(heads, _padded([target.need for target in targets], width), first, columns)


def _id(candidate: policy.Candidate) -> int:
    return candidate.session_id


def integers(values: Iterable[int]) -> Array:
    """Return whole numbers as a column, in 64 bits where they fit."""
    plain = list(values)
    fits = not plain or (max(plain) < SAFE and min(plain) > -SAFE)
    return np.array(plain, dtype=np.int64 if fits else object)


def _padded(rows: Sequence[Sequence[int]], width: int) -> Array:
    flat = integers(itertools.chain.from_iterable((*row, *[0] * (width - len(row))) for row in rows))
    return flat.reshape(len(rows), width)
