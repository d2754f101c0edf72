"""What was short on the node of a decision, kind by kind, and what its victims free of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler.core import decisions, explain, rooms
from scheduler.selectors import slot_kinds

Plain = Mapping[str, Any]
Kinds = Mapping[str, slot_kinds.Kind]


def on_node(record: Plain, node_id: int | None) -> Plain | None:
    """Return the view of one node in a stored decision; None when it is not in it."""
    return next((view for view in record["nodes"] if view["node_id"] == node_id), None)


def rows(record: Plain, view: Plain, kinds: Kinds, *, of: int | None = None) -> list[dict[str, Any]]:
    """
    Return a row for each kind that was asked for, and one for session places where they were short.

    Args:
        record: a stored preemption.
        view: the node on which its preemptor starts.
        kinds: the declared kinds, in the order of the rows.
        of: the victim whose share is ``held``; None = all victims together.
    """
    found = [_row(record, view, slot_kinds.of(name, kinds), of) for name in kinds if name in record["slots"]]
    short = explain.short_on(view).get(rooms.PLACES)
    return [*found, places(short, held=_places(record, of))] if short else found


def places(short: int, *, held: int | None = None) -> dict[str, Any]:
    """Return the row of session places of a node that has too few of them."""
    row = {"kind": slot_kinds.PLACES, "asked": 1, "short": short, "held": held}
    return row | dict.fromkeys(("free", "most", "releasing", "after"))


def _row(record: Plain, view: Plain, kind: slot_kinds.Kind, of: int | None) -> dict[str, Any]:
    freed = {one["session_id"]: one["frees"].get(kind.name, 0) for one in record["victims"]}
    free, releasing = view["free"].get(kind.name, 0), view["releasing"].get(kind.name, 0)
    total = sum(freed.values())
    return {
        "kind": kind,
        "asked": record["slots"][kind.name],
        "free": free,
        "releasing": releasing,
        "short": view["short"].get(kind.name, 0),
        "held": total if of is None else freed.get(of, 0),
        "after": free + releasing + total,
    }


def _places(record: Plain, of: int | None) -> int:
    """Return how many session places are freed; a suspended session holds none."""
    return sum(
        one["action"] != decisions.Action.REQUEUE_SUSPENDED and of in (None, one["session_id"])
        for one in record["victims"]
    )
