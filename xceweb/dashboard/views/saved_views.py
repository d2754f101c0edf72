"""Queries kept by name on the page of sessions."""

from __future__ import annotations

import uuid

from django import http, shortcuts
from django.contrib import messages
from django.views.decorators import http as methods

from scheduler import errors
from scheduler.selectors import saved_views as own
from scheduler.selectors import sessions
from scheduler.services import saved_views
from xceweb.dashboard.contexts import session_list


@methods.require_POST
def view_keep(request: http.HttpRequest) -> http.HttpResponse:
    """Keep a query by a name, and show what it finds; what cannot be kept is said there."""
    query = request.POST.get("q", "")
    try:
        row = saved_views.keep(request.user, name=request.POST.get("name", ""), query=query)
        messages.success(request, f"This view is kept as {row.name}.")
    except errors.Refusal as refusal:
        messages.error(request, "; ".join(refusal.fields.values()) or str(refusal))
    return shortcuts.redirect(session_list.url(sessions.Filters(q=query[:500])))


@methods.require_POST
def view_remove(request: http.HttpRequest, public_id: uuid.UUID) -> http.HttpResponse:
    """Remove one of one's own views, and go on to the list."""
    row = own.require(request.user, public_id)
    saved_views.remove(row)
    messages.success(request, f"The view {row.name} is removed.")
    return shortcuts.redirect("dashboard:session-list")
