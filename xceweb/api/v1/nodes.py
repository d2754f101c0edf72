"""Nodes: what they hold; drain, make ready, declare lost."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from rest_framework import request as drf_request
from rest_framework import response

from scheduler import errors, models
from scheduler.selectors import capacity, nodes, permissions
from scheduler.services import actors, lost_nodes
from scheduler.services import nodes as changes_of
from xceweb.api import docs, resource
from xceweb.api.v1 import cluster_samples, cluster_shapes, session_shapes, shown


class Nodes(resource.Resource):
    """The nodes of the reader's groups."""

    @docs.operation(
        summary="List nodes",
        answer=cluster_shapes.Node,
        name="node_list",
        example=cluster_samples.NODE,
        errors=(400,),
        is_paged=True,
        parameters=(docs.parameter("group", "of this group alone"), docs.parameter("state", "in this state")),
    )
    def get(self, request: drf_request.Request) -> response.Response:
        """Return one page of nodes by name."""
        rows = permissions.visible_nodes(self.viewer)
        if group := request.query_params.get("group", "").replace("\0", ""):
            rows = rows.filter(group__slug=group)
        if state := request.query_params.get("state", "").replace("\0", ""):
            rows = rows.filter(state=state)
        return self.page(rows, lambda page: _nodes(self.viewer, page), ordering="name")


class Node(resource.Resource):
    """One node."""

    @docs.operation(
        summary="Read a node",
        answer=cluster_shapes.Node,
        name="node_read",
        example=cluster_samples.NODE,
        errors=(404,),
    )
    def get(self, request: drf_request.Request, name: str) -> response.Response:
        """Return one node with what it holds."""
        return response.Response(*_nodes(self.viewer, [nodes.require(self.viewer, name)]))


Act = Callable[[actors.Actor, models.Node, str], None]
ACTIONS: Mapping[str, Act] = {
    "drain": lambda actor, node, reason: changes_of.set_node_state(
        actor, node, state="draining", reason=reason
    ),
    "make-ready": lambda actor, node, reason: changes_of.set_node_state(
        actor, node, state="ready", reason=reason
    ),
    "declare-lost": lambda actor, node, reason: lost_nodes.declare_lost(actor, node, reason=reason),
}


class NodeAction(resource.Resource):
    """What may be done to a node."""

    @docs.operation(
        summary="Drain a node, make it ready, or declare it lost",
        answer=cluster_shapes.Node,
        name="node_act",
        body=session_shapes.Reason,
        body_example={"reason": "new memory comes at noon"},
        example=cluster_samples.NODE,
        errors=(400, 403, 404),
        parameters=(docs.choice("action", ACTIONS),),
    )
    def post(self, request: drf_request.Request, name: str, action: str) -> response.Response:
        """Do it, and return the node; what runs there goes on, but for a node that is declared lost."""
        if action not in ACTIONS:
            raise errors.NotVisible(f"There is no such action; there are: {', '.join(ACTIONS)}.")
        node = nodes.require(self.viewer, name)
        ACTIONS[action](self.actor, node, self.read(session_shapes.Reason).get("reason", ""))
        return response.Response(*_nodes(self.viewer, [nodes.require(self.viewer, name)]))


def _nodes(viewer: models.User, rows: list[models.Node]) -> list[dict[str, Any]]:
    found = models.Node.objects.filter(pk__in=[row.pk for row in rows]).select_related("agent")
    return [_node(use) for use in capacity.of_nodes(found, viewer=viewer)]


def _node(use: capacity.NodeUse) -> dict[str, Any]:
    node = use.node
    return {
        "name": node.name,
        "group": node.group.slug,
        "state": node.state,
        "state_reason": node.state_reason,
        "labels": node.labels,
        "max_sessions": node.max_sessions,
        "last_report_at": nodes.last_report(node),
        "slots": shown.uses(use.slots),
        "devices": {kind: list(cells) for kind, cells in use.cells.items()},
    }
