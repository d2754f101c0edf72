"""One action on the sessions that are ticked in the list: asked first, then an outcome for each."""

from __future__ import annotations

import itertools
import uuid

from django import http, shortcuts, urls
from django.contrib import messages
from django.db.models import QuerySet
from django.views.decorators import http as methods

from scheduler import models
from scheduler.selectors import permissions, sessions
from scheduler.services import actors, many
from xceweb.common import pages
from xceweb.dashboard import forms
from xceweb.dashboard.contexts import session_bulk as bulk

_TEMPLATE = "dashboard/session_bulk.html"


@methods.require_POST
@pages.page
def session_bulk(request: http.HttpRequest, action: str) -> http.HttpResponse:
    """Ask whether to act on the sessions of ``id``, or on all that the filters of ``back`` show; act when confirmed."""
    if action not in bulk.WORDS:
        raise http.Http404("no such action")
    back = request.POST.get("back", "")[:2000]
    crumbs = [("Sessions", urls.reverse("dashboard:session-list")), (bulk.WORDS[action].verb, "")]
    found = _chosen(request, back)
    if fault := _fault(found.count()):
        messages.error(request, fault)
        address = urls.reverse("dashboard:session-list")
        return shortcuts.redirect(f"{address}?{back}" if back else address)
    if request.POST.get("confirmed") == "yes":
        reason = request.POST.get("reason", "")[:500]
        actor = actors.of_user(request.user, request_id=request.request_id)
        outcomes = many.act(
            actor, found.select_related("owner", "queue", "group__policy"), action, reason=reason
        )
        context = bulk.answer(action, sessions.rows(request.user, found), outcomes, back=back)
    else:
        context = bulk.question(action, sessions.rows(request.user, found), back=back)
    return pages.render(request, _TEMPLATE, context, section="sessions", crumbs=crumbs)


def _chosen(request: http.HttpRequest, back: str) -> QuerySet[models.Session]:
    visible = permissions.visible_sessions(request.user).order_by("-id")
    if request.POST.get("everything") == "yes":
        filters, _ = forms.session_filters(http.QueryDict(back))
        batches = itertools.islice(sessions.every(request.user, filters), many.MOST // sessions.BATCH + 1)
        ids = [row.id for batch in batches for row in batch]
    else:
        ids = [_uuid(text) for text in request.POST.getlist("id")]
    return visible.filter(public_id__in=ids)


def _uuid(text: str) -> uuid.UUID:
    try:
        return uuid.UUID(text)
    except ValueError:
        return uuid.UUID(int=0)


def _fault(number: int) -> str:
    if number == 0:
        return "Nothing was done: tick the sessions first."
    if number > many.MOST:
        return (
            f"Nothing was done: more than {many.MOST} sessions at once are too many. Narrow the list first."
        )
    return ""
