"""Who may do what in a group."""

from __future__ import annotations

from django import http, urls
from django.views.decorators import http as methods

from scheduler.selectors import permissions
from xceweb.common import pages
from xceweb.console.contexts import roles as context


@methods.require_safe
@pages.page
def group_roles(request: http.HttpRequest, slug: str) -> http.HttpResponse:
    """Say who may flip the switch of a group, and why; managers read every role."""
    group = permissions.require_group(request.user, slug)
    crumbs = [(slug, urls.reverse("dashboard:group-detail", args=[slug])), ("Roles", "")]
    shown = context.load(request.user, group)
    return pages.render(request, "console/group_roles.html", shown, section=f"group:{slug}", crumbs=crumbs)
