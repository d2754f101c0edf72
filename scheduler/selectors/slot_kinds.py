"""The kinds of slots that this installation knows, as values that pages can print and measure with."""

from __future__ import annotations

from collections.abc import Mapping

from scheduler import models
from scheduler.core import rooms, units

_ORDER = {"cuda.device": 0, "cpu": 1, "mem": 2}


class Kind(units.SlotKind):
    """A slot kind that prints as its name; ``amount`` and ``quantity`` filters take it as it is."""

    __slots__ = ()

    def __str__(self) -> str:
        return self.name


def load() -> dict[str, Kind]:
    """Return name -> kind, devices first, then cores and memory, then the others by name. One query."""
    rows = models.SlotKind.objects.all()
    kinds = [Kind(row.name, row.scale, row.is_bytes, row.is_indexed, row.unit) for row in rows]
    return {kind.name: kind for kind in sorted(kinds, key=lambda kind: (_ORDER.get(kind.name, 3), kind.name))}


#: The room for one more session on a node whose number of sessions is limited.
PLACES = Kind("session places", 1, unit="session places")


def of(name: str, known: Mapping[str, Kind]) -> Kind:
    """Return a kind by name, ``rooms.PLACES`` included; one that is not declared (any more) counts whole units."""
    return PLACES if name == rooms.PLACES else known.get(name) or Kind(name, 1)


def amounts(slots: Mapping[str, int], known: Mapping[str, Kind]) -> dict[Kind, int]:
    """Return amounts by kind instead of by name, so that they print in the right unit."""
    return {of(name, known): amount for name, amount in slots.items()}
