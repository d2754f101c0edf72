"""Decisions: the history and one of them."""

from __future__ import annotations

import uuid
from typing import Any

from django import http, shortcuts, urls
from django.views.decorators import http as methods

from scheduler import models
from scheduler.selectors import decisions
from xceweb.common import pages, refusals
from xceweb.dashboard import forms
from xceweb.dashboard.contexts import decision_list as list_context
from xceweb.dashboard.contexts import decision_page, preemption_rule, rerun


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
    return _shown(request, row, decision_page.load(request.user, row))


@methods.require_POST
@pages.page
def decision_rerun(request: http.HttpRequest, public_id: uuid.UUID) -> http.HttpResponse:
    """Run the round of a decision again and show what came of it beside what was decided; nothing is changed."""
    row = decisions.require(request.user, public_id)
    found = rerun.load(request.user, row)
    if refusals.is_fragment(request):
        is_linked = request.POST.get("is_linked") == "1"
        proof = preemption_rule.proof(row, is_linked=is_linked, rerun=found)
        return shortcuts.render(request, "dashboard/_proof.html", {"proof": proof})
    return _shown(request, row, decision_page.load(request.user, row, rerun=found))


def _shown(request: http.HttpRequest, row: models.Decision, context: dict[str, Any]) -> http.HttpResponse:
    crumbs = [("Decisions", urls.reverse("dashboard:decision-list")), (f"Decision {row.pk}", "")]
    return pages.render(
        request, "dashboard/decision_detail.html", context, section="decisions", crumbs=crumbs
    )
