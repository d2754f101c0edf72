"""Nodes as one viewer may see them: by group, and one with its devices and sessions."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Mapping

from django.conf import settings
from django.db.models import Count, QuerySet

from scheduler import clock, errors, models
from scheduler.selectors import capacity, permissions

#: Seconds of silence after which a node takes no new sessions (RELIABILITY 4.7).
SUSPECT_AFTER_S = 15


@dataclasses.dataclass(frozen=True, slots=True)
class Device:
    """One indexed device: its part of the capacity, and which session holds it or is promised it."""

    kind: str
    index: int
    state: str
    session_id: int | None


@dataclasses.dataclass(frozen=True, slots=True)
class Holding:
    """What one session holds on a node."""

    session: models.Session
    slots: Mapping[str, int]
    indices: Mapping[str, list[int]]


def uses(viewer: models.User, *, group: models.ResourceGroup | None = None) -> list[capacity.NodeUse]:
    """Return the use of the visible nodes (of one visible group), by name. Six queries at most."""
    found = models.Node.objects.filter(group=group) if group else permissions.visible_nodes(viewer)
    return capacity.of_nodes(found, viewer=viewer)


def running(viewer: models.User, nodes: QuerySet[models.Node] | list[models.Node]) -> dict[int, int]:
    """Return node id -> number of sessions, of those the viewer may see, that hold something there. Two queries."""
    visible = permissions.visible_sessions(viewer)
    rows = models.Allocation.objects.filter(node__in=nodes, session__in=visible).order_by()
    return dict(rows.values_list("node_id").annotate(count=Count("pk")))


def require(viewer: models.User, name: str) -> models.Node:
    """
    Return a node by name.

    Raises:
        NotVisible: there is none in the groups that the viewer may see.
    """
    rows = permissions.visible_nodes(viewer).select_related("group", "group__policy", "agent")
    node = rows.filter(name=name).first()
    if node is None:
        raise errors.NotVisible("There is no such node, or you may not see it.")
    return node


def last_report(node: models.Node) -> datetime.datetime | None:
    """Return when the node's agent last spoke, None before its first report."""
    agent = getattr(node, "agent", None)
    return agent.last_report_at if agent else None


def is_silent(node: models.Node, *, seconds: int) -> bool:
    """Say whether nothing was heard of a node's agent for so many seconds of the controller's clock."""
    heard = last_report(node)
    return heard is None or heard < clock.now() - datetime.timedelta(seconds=seconds * settings.TIME_SCALE)


def devices(node: models.Node) -> list[Device]:
    """Return the node's devices by kind and index. One query."""
    rows = node.devices.select_related("session", "reservation").order_by("kind", "index")
    return [_device(row, node.state) for row in rows]


def _device(row: models.NodeDevice, node_state: str) -> Device:
    if row.session is not None:
        is_leaving = row.session.state in capacity.BEING_STOPPED
        return Device(row.kind, row.index, "releasing" if is_leaving else "allocated", row.session_id)
    if row.reservation is not None:
        return Device(row.kind, row.index, "reserved", row.reservation.session_id)
    return Device(row.kind, row.index, "free" if node_state == "ready" else "drained", None)


def holdings(node: models.Node) -> list[Holding]:
    """Return what each session holds on the node, oldest first. One query."""
    rows = node.allocations.select_related("session__queue", "session__owner", "session__group").order_by(
        "since"
    )
    return [Holding(row.session, row.slots, row.indices) for row in rows]


def claims(node: models.Node) -> list[models.Claim]:
    """Return the claims of sessions that have waited too long for room on the node, oldest first. One query."""
    rows = node.claims.select_related("session__queue", "session__owner", "session__group")
    return list(rows.order_by("since", "session_id"))
