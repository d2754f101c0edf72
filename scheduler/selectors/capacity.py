"""
What nodes hold now, by kind: allocated, releasing, reserved, free, drained; devices one by one.

*Releasing* are slots of sessions that are being stopped, as far as their stop frees them. A node that is not
ready has nothing free: what nobody holds there counts as drained. Public functions are internal to pages:
their callers choose nodes of groups that the viewer may see.
"""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Iterable, Mapping

from django.db.models import QuerySet

from scheduler import models
from scheduler.core import entities, states

BEING_STOPPED = [state.value for state in states.BEING_STOPPED]


@dataclasses.dataclass(slots=True)
class SlotUse:
    """One kind on one node, or summed over nodes; amounts in the smallest unit, adding up to ``capacity``."""

    capacity: int = 0
    allocated: int = 0  #: held by sessions that are not being stopped
    releasing: int = 0
    reserved: int = 0
    free: int = 0
    drained: int = 0

    def add(self, other: SlotUse) -> None:
        """Add another use of the same kind."""
        for field in dataclasses.fields(self):
            setattr(self, field.name, getattr(self, field.name) + getattr(other, field.name))

    def parts(self) -> dict[str, int]:
        """Return the amounts by part, as a capacity bar takes them."""
        names = ("allocated", "releasing", "reserved", "free", "drained")
        return {name: getattr(self, name) for name in names}


@dataclasses.dataclass(frozen=True, slots=True)
class NodeUse:
    """One node: its use by kind, and for indexed kinds each device as one word, in the order of indices."""

    node: models.Node
    slots: Mapping[str, SlotUse]
    cells: Mapping[str, list[str]]


@dataclasses.dataclass(frozen=True, slots=True)
class KindUse:
    """One kind over several nodes."""

    name: str
    total: SlotUse
    most: int  #: largest free amount on one node
    cells: list[dict[str, object]]  #: indexed kinds: {name of the node, cells}


def of_nodes(nodes: QuerySet[models.Node], *, viewer: models.User) -> list[NodeUse]:
    """Return the use of each node, by name; the viewer's own devices are marked. Four queries."""
    found = list(nodes.select_related("group").prefetch_related("slots").order_by("name"))
    releasing = _releasing(found)
    cells = _cells(found, viewer)
    return [_node_use(node, releasing[node.pk], cells[node.pk]) for node in found]


def by_kind(uses: Iterable[NodeUse]) -> list[KindUse]:
    """Return the use of several nodes by kind, names sorted."""
    uses = list(uses)
    names = sorted({name for use in uses for name in use.slots})
    return [_kind_use(name, [use for use in uses if name in use.slots]) for name in names]


def _kind_use(name: str, uses: list[NodeUse]) -> KindUse:
    total = SlotUse()
    for use in uses:
        total.add(use.slots[name])
    cells = [{"name": use.node.name, "cells": use.cells[name]} for use in uses if use.cells.get(name)]
    return KindUse(name, total, max(use.slots[name].free for use in uses), cells)


def _node_use(node: models.Node, releasing: Mapping[str, int], cells: Mapping[str, list[str]]) -> NodeUse:
    is_ready = node.state == entities.NodeState.READY.value
    return NodeUse(node, {row.kind: _slot_use(row, releasing, is_ready) for row in node.slots.all()}, cells)


def _slot_use(row: models.NodeSlot, releasing: Mapping[str, int], is_ready: bool) -> SlotUse:
    leaving = min(releasing.get(row.kind, 0), row.allocated)
    left = row.capacity - row.allocated - row.reserved
    return SlotUse(
        capacity=row.capacity,
        allocated=row.allocated - leaving,
        releasing=leaving,
        reserved=row.reserved,
        free=left if is_ready else 0,
        drained=0 if is_ready else left,
    )


def _releasing(nodes: list[models.Node]) -> dict[int, dict[str, int]]:
    """Return node id -> kind -> amount that stops under way will free."""
    rows = models.Allocation.objects.filter(node__in=nodes, session__state__in=BEING_STOPPED)
    totals: dict[int, dict[str, int]] = collections.defaultdict(lambda: collections.defaultdict(int))
    for node_id, slots, goal, kinds in rows.values_list(
        "node_id", "slots", "session__stop_goal", "session__stop_releases"
    ):
        for kind, amount in slots.items():
            if goal != "suspend" or kinds is None or kind in kinds:
                totals[node_id][kind] += amount
    return totals


def _cells(nodes: list[models.Node], viewer: models.User) -> dict[int, dict[str, list[str]]]:
    states_by_id = {node.pk: node.state for node in nodes}
    rows = models.NodeDevice.objects.filter(node__in=nodes).order_by("node_id", "kind", "index")
    cells: dict[int, dict[str, list[str]]] = collections.defaultdict(lambda: collections.defaultdict(list))
    for node_id, kind, reservation_id, state, owner_id in rows.values_list(
        "node_id", "kind", "reservation_id", "session__state", "session__owner_id"
    ):
        holder = _holder(state, is_own=owner_id == viewer.pk)
        fallback = "free" if states_by_id[node_id] == entities.NodeState.READY.value else "drained"
        cells[node_id][kind].append(holder or ("reserved" if reservation_id else fallback))
    return cells


def _holder(state: str | None, *, is_own: bool) -> str:
    if state is None:
        return ""
    if state in BEING_STOPPED:
        return "releasing"
    return "you" if is_own else "allocated"
