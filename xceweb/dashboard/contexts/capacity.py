"""Capacity by kind, as ``common/_capacity.html`` draws it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from scheduler.selectors import capacity, slot_kinds
from xceweb.common import wording


def kinds(
    uses: Iterable[capacity.NodeUse], known: Mapping[str, slot_kinds.Kind], *, with_most: bool = True
) -> list[dict[str, Any]]:
    """Return one row a kind, devices first; ``most`` (free on one node) only where there are several nodes."""
    uses = list(uses)
    rows = {row.name: row for row in capacity.by_kind(uses)}
    order = [name for name in known if name in rows] + [name for name in rows if name not in known]
    return [_row(rows[name], slot_kinds.of(name, known), with_most and len(uses) > 1) for name in order]


def _row(use: capacity.KindUse, kind: slot_kinds.Kind, has_most: bool) -> dict[str, Any]:
    return {
        "kind": kind,
        "label": label(use.total, kind),
        "free": use.total.free,
        "total": use.total.capacity,
        "most": use.most if has_most else None,
        "cells": use.cells,
        "parts": use.total.parts(),
    }


def label(use: capacity.SlotUse, kind: slot_kinds.Kind) -> str:
    """Return a bar in words, for those who do not see it."""
    parts = [f"{wording.amount(amount, kind)} {name}" for name, amount in use.parts().items() if amount]
    return f"{kind}: {', '.join(parts) or 'nothing'} of {wording.quantity(use.capacity, kind)}"


def summary(uses: Iterable[capacity.NodeUse]) -> str:
    """Return the nodes in a few words: ``2 nodes, 4 GPUs each``."""
    uses = list(uses)
    count = f"{len(uses)} {'node' if len(uses) == 1 else 'nodes'}"
    devices = {use.slots["cuda.device"].capacity if "cuda.device" in use.slots else 0 for use in uses}
    if len(devices) != 1 or devices == {0}:
        return count
    each = wording.quantity(devices.pop(), "cuda.device")
    return f"{count}, {each} each" if len(uses) > 1 else f"{count}, {each}"
