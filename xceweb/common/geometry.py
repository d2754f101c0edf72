"""
Where the parts of bars, strips and axes lie, in percent.

Widths that depend on data are SVG attributes (``x="12%" width="30%"``), never styles: the content policy
forbids those, and bars stretch while text does not. Pure functions; every result is ready for a template.
"""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Mapping, Sequence

#: Order of the parts of a capacity bar, from what is held to what is not there.
CAPACITY_PARTS = ("allocated", "you", "releasing", "reserved", "free", "drained")
_ROW_CELLS = 40
_ROW_NODES = 8
_NODE_GAP = 1.4
_CELL_FILL = 0.88
_STEPS_S = (1, 2, 5, 10, 30, 60, 300, 600, 900, 1_800, 3_600, 7_200, 14_400, 21_600, 43_200, 86_400, 604_800)


@dataclasses.dataclass(frozen=True, slots=True)
class Rect:
    """One bar piece: class suffix, left edge and width as percent texts."""

    kind: str
    x: str
    width: str


@dataclasses.dataclass(frozen=True, slots=True)
class Label:
    """A text at a place, with the anchor that keeps it inside."""

    text: str
    x: str
    anchor: str = "start"
    at: datetime.datetime | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class StripRow:
    """One line of device cells, grouped by node."""

    cells: tuple[Rect, ...]
    labels: tuple[Label, ...]


def percent(value: float) -> str:
    """Write a share of 100 with at most three decimals: ``12.5%``."""
    return f"{value:.3f}".rstrip("0").rstrip(".") + "%"


def strip_rows(nodes: Sequence[Mapping[str, object]]) -> list[StripRow]:
    """
    Lay out devices as cells grouped by node, in as many rows as keep them countable.

    Args:
        nodes: each with ``name`` and ``cells`` (one or more kinds such as ``allocated``, ``free``), in order.

    Returns:
        Rows of at most 40 cells and 8 nodes; all rows share one cell size, so that they can be compared.
    """
    rows = _packed(nodes)
    widest = max((_units(row) for row in rows), default=1.0)
    return [_strip_row(row, widest) for row in rows]


def _packed(nodes: Sequence[Mapping[str, object]]) -> list[list[Mapping[str, object]]]:
    rows: list[list[Mapping[str, object]]] = []
    for node in nodes:
        row = rows[-1] if rows else None
        if row is None or len(row) == _ROW_NODES or _cells(row) + len(node["cells"]) > _ROW_CELLS:
            rows.append([node])
        else:
            row.append(node)
    return rows


def _cells(row: Sequence[Mapping[str, object]]) -> int:
    return sum(len(node["cells"]) for node in row)


def _units(row: Sequence[Mapping[str, object]]) -> float:
    """Return the width of a row in cells, gaps between nodes counted as a part of a cell."""
    return _cells(row) + _gap(row) * (len(row) - 1)


def _gap(row: Sequence[Mapping[str, object]]) -> float:
    return _NODE_GAP * _cells(row) / 100 + 0.15


def _strip_row(row: Sequence[Mapping[str, object]], widest: float) -> StripRow:
    pitch, gap = 100 / widest, _gap(row)
    cells, labels, at = [], [], 0.0
    for node in row:
        labels.append(Label(str(node["name"]), percent(at * pitch + pitch * (1 - _CELL_FILL) / 2)))
        for kind in node["cells"]:
            cells.append(_cell(kind, at * pitch, pitch))
            at += 1
        at += gap
    return StripRow(tuple(cells), tuple(labels))


def _cell(kind: object, left: float, pitch: float) -> Rect:
    return Rect(str(kind), percent(left + pitch * (1 - _CELL_FILL) / 2), percent(pitch * _CELL_FILL))


def bar(parts: Mapping[str, int]) -> list[Rect]:
    """
    Lay out one bar from amounts by kind.

    Args:
        parts: kind (one of ``CAPACITY_PARTS``) -> amount >= 0 in one unit; zeros are left out.

    Returns:
        The pieces from left to right; together they fill the bar, each wide enough to be seen.
    """
    present = [(kind, parts[kind]) for kind in CAPACITY_PARTS if parts.get(kind)]
    total = sum(amount for _, amount in present)
    widths = [max(0.6, 100 * amount / total) for _, amount in present]
    scale = 100 / sum(widths) if widths else 1
    pieces, left = [], 0.0
    for (kind, _), width in zip(present, widths, strict=True):
        pieces.append(Rect(kind, percent(left + 0.12), percent(width * scale - 0.24)))
        left += width * scale
    return pieces


def place(at: datetime.datetime, start: datetime.datetime, end: datetime.datetime) -> float:
    """Return where a time lies between two others, 0..100, clipped."""
    span = end - start
    return min(100.0, max(0.0, 100 * ((at - start) / span))) if span else 0.0


def span(kind: str, times: tuple[datetime.datetime, datetime.datetime], axis: Axis) -> Rect:
    """Return the piece of a time axis between two times."""
    left, right = (place(at, axis.start, axis.end) for at in times)
    return Rect(kind, percent(left), percent(max(0.4, right - left)))


@dataclasses.dataclass(frozen=True, slots=True)
class Axis:
    """A time axis from ``start`` to ``end``, ``start`` < ``end``."""

    start: datetime.datetime
    end: datetime.datetime

    def at(self, moment: datetime.datetime) -> str:
        """Return the place of a moment as percent text."""
        return percent(place(moment, self.start, self.end))

    def ticks(self, wanted: int = 6) -> list[Label]:
        """Return round times on the axis, at most about ``wanted``, away from its very ends."""
        step = self._step(wanted)
        first = -(-int(self.start.timestamp()) // step) * step
        moments = range(first, int(self.end.timestamp()) + 1, step)
        return [label for label in map(self._tick, moments) if label is not None]

    def _step(self, wanted: int) -> int:
        length = (self.end - self.start).total_seconds()
        return next((step for step in _STEPS_S if length / step <= wanted), _STEPS_S[-1])

    def _tick(self, seconds: int) -> Label | None:
        at = datetime.datetime.fromtimestamp(seconds, self.start.tzinfo)
        where = place(at, self.start, self.end)
        return Label("", percent(where), "middle", at) if 3 <= where <= 97 else None


def line(values: Sequence[float], height: float = 56.0) -> str:
    """Return the path of a line in a box of 100 x ``height``; values are shares 0..1, at least two."""
    last = max(1, len(values) - 1)
    points = [f"{100 * i / last:.2f},{2 + (height - 2) * (1 - value):.2f}" for i, value in enumerate(values)]
    return "M" + " L".join(points)
