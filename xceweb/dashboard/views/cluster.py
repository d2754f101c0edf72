"""Groups and nodes."""

from __future__ import annotations

from collections.abc import Callable

from django import http, shortcuts, urls
from django.contrib import messages
from django.views.decorators import http as methods

from scheduler import errors
from scheduler.selectors import nodes, permissions
from scheduler.services import actors, emergency, lost_nodes
from scheduler.services import nodes as node_service
from xceweb.common import pages
from xceweb.dashboard.contexts import group_page, node_pages


@methods.require_safe
@pages.page
def group_detail(request: http.HttpRequest, slug: str) -> http.HttpResponse:
    """Show one group: capacity, switch, sessions, nodes, queues, last preemptions."""
    pages.part_of(request, ("group_live",))
    group = permissions.require_group(request.user, slug)
    context = group_page.load(request.user, group)
    crumbs = [("Groups", ""), (group.slug, "")]
    return pages.render(
        request, "dashboard/group_detail.html", context, section=f"group:{slug}", crumbs=crumbs
    )


@methods.require_POST
def group_act(request: http.HttpRequest, slug: str, verb: str) -> http.HttpResponse:
    """Stop starting, start again, or take back all preemptions under way, and go back to the group."""
    if verb not in _GROUP_ACTS:
        raise http.Http404("no such action")
    group = permissions.require_group(request.user, slug)
    actor = actors.of_user(request.user, request_id=request.request_id)
    act, done = _GROUP_ACTS[verb]
    try:
        answer = act(actor, group, reason=request.POST.get("reason", ""))
        messages.success(request, done.format(group.slug, answer))
    except errors.Refusal as refusal:
        if refusal.status in (403, 404):
            raise
        messages.error(request, str(refusal))
    return shortcuts.redirect("dashboard:group-detail", group.slug)


#: verb -> (service, what is said afterwards about the group and the service's answer)
_GROUP_ACTS: dict[str, tuple[Callable[..., object], str]] = {
    "stop-starting": (emergency.stop_starting, "{0} starts nothing new."),
    "start-again": (emergency.start_again, "{0} starts sessions again."),
    "withdraw-all": (emergency.withdraw_all, "{0}: {1} taken back, of preemptions and waits under way."),
}


@methods.require_safe
@pages.page
def node_list(request: http.HttpRequest) -> http.HttpResponse:
    """Show the nodes by group, as a grid."""
    pages.part_of(request, ("node_cards",))
    return pages.render(
        request, "dashboard/node_list.html", node_pages.by_group(request.user), section="nodes"
    )


@methods.require_safe
@pages.page
def node_detail(request: http.HttpRequest, name: str) -> http.HttpResponse:
    """Show one node: what is free, which session holds what, what happened."""
    pages.part_of(request, ("node_live",))
    node = nodes.require(request.user, name)
    crumbs = [("Nodes", urls.reverse("dashboard:node-list")), (node.name, "")]
    context = node_pages.one(request.user, node)
    return pages.render(request, "dashboard/node_detail.html", context, section="nodes", crumbs=crumbs)


def _require_name(request: http.HttpRequest, name: str) -> None:
    """Let nobody declare a node lost who has not written its name, so that none is mistaken for another."""
    if request.POST.get("confirm", "").strip() != name:
        raise errors.Refusal(code="confirm", fields={"confirm": f"write {name} to declare it lost"})


@methods.require_POST
def node_act(request: http.HttpRequest, name: str) -> http.HttpResponse:
    """Drain a node, make it ready again or declare it lost, and go back to it."""
    node = nodes.require(request.user, name)
    actor = actors.of_user(request.user, request_id=request.request_id)
    state, reason = request.POST.get("state", ""), request.POST.get("reason", "")
    try:
        if state == "lost":
            _require_name(request, node.name)
            lost_nodes.declare_lost(actor, node, reason=reason)
        else:
            node_service.set_node_state(actor, node, state=state, reason=reason)
        messages.success(request, f"{node.name} is {state}.")
    except errors.Refusal as refusal:
        if refusal.status in (403, 404):
            raise
        messages.error(request, str(refusal))
    return shortcuts.redirect("dashboard:node-detail", node.name)
