"""What programs do to nodes."""

from __future__ import annotations

import json

from django import http
from django.views.decorators import http as methods

from scheduler import errors
from scheduler.selectors import nodes
from scheduler.services import actors, checks, lost_nodes


@methods.require_POST
def node_lost(request: http.HttpRequest, name: str) -> http.JsonResponse:
    """
    Declare a silent node lost; administrators only. The body is a JSON object with ``reason``.

    Its sessions end or wait anew, its slots are free, and it is down until it is made ready. Refused as problem+json:
    without a reason, and while the node's agent speaks (400); to others (403); where the node may not be seen (404).
    """
    node = nodes.require(request.user, name)
    actor = actors.of_user(request.user, request_id=request.request_id)
    checks.require_administrator(actor, f"declare node {node.name} lost")
    lost_nodes.declare_lost(actor, node, reason=_reason(request.body))
    node.refresh_from_db()
    return http.JsonResponse(
        {"node": node.name, "group": node.group.slug, "state": node.state, "reason": node.state_reason}
    )


def _reason(body: bytes) -> str:
    try:
        told = json.loads(body)
    except ValueError:
        told = None
    if not isinstance(told, dict) or not isinstance(told.get("reason", ""), str) or set(told) - {"reason"}:
        raise errors.Refusal(
            'The body must be a JSON object like {"reason": "its disk died"}.', code="invalid"
        )
    return str(told.get("reason", ""))
