"""The overview, and what an empty installation shows instead."""

from __future__ import annotations

from django import http, shortcuts
from django.views.decorators import http as methods

from scheduler.selectors import overview as selector
from scheduler.selectors import permissions
from xceweb.common import pages
from xceweb.dashboard.contexts import overview as context


@methods.require_safe
@pages.page
def overview(request: http.HttpRequest) -> http.HttpResponse:
    """Show the cluster at a glance; an administrator of an empty installation goes to the first steps."""
    part = pages.part_of(request, tuple(context.PARTS))
    if not part and permissions.is_administrator(request.user) and selector.is_empty():
        return shortcuts.redirect("dashboard:first-steps")
    return pages.render(
        request, "dashboard/overview.html", context.load(request.user, part), section="overview"
    )
