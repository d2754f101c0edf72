"""Decisions: the history and one of them."""

from __future__ import annotations

import uuid

from django import http, urls
from django.views.decorators import http as methods

from scheduler.selectors import decisions
from xceweb.common import pages
from xceweb.dashboard import forms
from xceweb.dashboard.contexts import decision_list as list_context
from xceweb.dashboard.contexts import decision_page


@methods.require_safe
@pages.page
def decision_list(request: http.HttpRequest) -> http.HttpResponse:
    """List the preemptions of the viewer's groups with what became of them."""
    filters, number = forms.decision_filters(request)
    context = list_context.load(request.user, filters, number=number)
    return pages.render(request, "dashboard/decision_list.html", context, section="decisions")


@methods.require_safe
@pages.page
def decision_detail(request: http.HttpRequest, public_id: uuid.UUID) -> http.HttpResponse:
    """Show one decision, for ever."""
    row = decisions.require(request.user, public_id)
    crumbs = [("Decisions", urls.reverse("dashboard:decision-list")), (f"Decision {row.pk}", "")]
    context = decision_page.load(request.user, row)
    return pages.render(
        request, "dashboard/decision_detail.html", context, section="decisions", crumbs=crumbs
    )
