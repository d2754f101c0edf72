"""What an administrator of an empty installation does next."""

from __future__ import annotations

from django import http
from django.views.decorators import http as methods

from scheduler import errors
from scheduler.selectors import permissions
from xceweb.common import pages
from xceweb.dashboard.contexts import first_steps as context


@methods.require_safe
@pages.page
def first_steps(request: http.HttpRequest) -> http.HttpResponse:
    """Show the steps from an empty installation to the first session, done ones ticked."""
    if not permissions.is_administrator(request.user):
        raise errors.NotVisible("There is no such page, or you may not see it.")
    return pages.render(request, "dashboard/first_steps.html", context.load(), section="overview")
