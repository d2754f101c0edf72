"""The keys of a node's agent: make one, which is shown once with the command that starts the agent, and revoke one."""

from __future__ import annotations

from typing import Any

from django import http, shortcuts, urls
from django.conf import settings
from django.contrib import messages
from django.views.decorators import http as methods

from scheduler import errors, models
from scheduler.management import key_files
from scheduler.selectors import nodes, permissions
from scheduler.services import actors
from scheduler.services import nodes as node_service
from xceweb.accounts import freshness
from xceweb.common import pages
from xceweb.console import assent_form


@methods.require_http_methods(["GET", "HEAD", "POST"])
@pages.page
def node_keys(request: http.HttpRequest, name: str) -> http.HttpResponse:
    """Show the keys of a node; a POST makes one, and shows it in the answer and nowhere else."""
    node = _require(request, name)
    if request.method != "POST":
        return _page(request, node, assent_form.AssentForm())
    form = assent_form.AssentForm(request.POST)
    if not form.is_valid() or not _is_fresh(request, form):
        return pages.with_status(_page(request, node, form), 422)
    text = key_files.text_of(actors.of_user(request.user, request_id=request.request_id), node)
    made = {"file": text, "command": key_files.start_command(node.name, "key.json")}
    return _page(request, node, assent_form.AssentForm(), made=made)


@methods.require_POST
def node_key_revoke(request: http.HttpRequest, name: str, key_id: str) -> http.HttpResponse:
    """Let a key open nothing any more, and go back to the list."""
    node = _require(request, name)
    actor = actors.of_user(request.user, request_id=request.request_id)
    try:
        node_service.revoke_key(actor, node, key_id, reason=request.POST.get("reason", "")[:500])
        messages.success(request, f"{key_id} opens nothing any more.")
    except errors.Refusal as refusal:
        messages.error(request, str(refusal))
    return shortcuts.redirect("console:node-keys", node.name)


def _require(request: http.HttpRequest, name: str) -> models.Node:
    """Return the node for an administrator; to anybody else there is no such page."""
    node = nodes.require(request.user, name)
    if not permissions.is_administrator(request.user):
        raise errors.NotVisible()
    return node


def _is_fresh(request: http.HttpRequest, form: assent_form.AssentForm) -> bool:
    if form.assent(request).is_fresh:
        return True
    if not form.errors:
        minutes = settings.FRESH_LOG_IN_MINUTES
        form.add_error("password", f"Your log-in is older than {minutes} minutes: write your password.")
    return False


def _page(
    request: http.HttpRequest,
    node: models.Node,
    form: assent_form.AssentForm,
    *,
    made: dict[str, str] | None = None,
) -> http.HttpResponse:
    context = {
        "node": node.name,
        "form": form,
        "needs_password": not freshness.is_fresh(request),
        "made": made,
        "keys": [_row(node, key) for key in node.keys.order_by("-id")],
    }
    crumbs = [
        ("Nodes", urls.reverse("dashboard:node-list")),
        (node.name, urls.reverse("dashboard:node-detail", args=[node.name])),
        ("Keys", ""),
    ]
    return pages.render(request, "console/node_keys.html", context, section="nodes", crumbs=crumbs)


def _row(node: models.Node, key: models.AgentKey) -> dict[str, Any]:
    revocation = None if key.revoked_at else _revocation(node, key)
    return {
        "key_id": key.key_id,
        "created_at": key.created_at,
        "revoked_at": key.revoked_at,
        "revocation": revocation,
    }


def _revocation(node: models.Node, key: models.AgentKey) -> dict[str, Any]:
    reason = {"name": "reason", "label": "Reason", "type": "text", "value": "", "required": False}
    return {
        "key": f"revoke-{key.key_id}",
        "label": "Revoke",
        "url": urls.reverse("console:node-key-revoke", args=[node.name, key.key_id]),
        "title": f"Revoke {key.key_id}?",
        "text": "An agent that signs with it is not heard from the next report on, and gets no command. Its sessions go"
        " on and keep their slots. That cannot be undone; a new key can be made.",
        "button": "Revoke the key",
        "tone": "danger",
        "fields": [reason],
    }
