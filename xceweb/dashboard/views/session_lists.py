"""The list of sessions: the page, and all of it as a file."""

from __future__ import annotations

from django import http, shortcuts
from django.views.decorators import http as methods

from scheduler import errors
from scheduler.selectors import sessions
from xceweb.common import pages, streaming
from xceweb.dashboard import forms, session_files
from xceweb.dashboard.contexts import query_help, session_bulk, session_looks
from xceweb.dashboard.contexts import session_list as list_context


@methods.require_safe
@pages.page
def session_list(request: http.HttpRequest) -> http.HttpResponse:
    """List the sessions that the viewer may see."""
    part = pages.part_of(request, ("session_again", "session_facets"))
    filters, number = forms.session_filters(request.GET)
    look = session_looks.of(request.GET)
    if part == "session_again":
        ids = forms.shown_sessions(request.GET)
        context = list_context.again(request.user, filters, look, number=number, ids=ids)
        return shortcuts.render(request, "dashboard/_session_again.html", context)
    context = {
        **list_context.load(request.user, filters, look, number=number),
        "bulk": session_bulk.menu(),
    }
    section = "mine" if filters.owner == "me" else "sessions"
    return pages.render(request, "dashboard/session_list.html", context, section=section)


@methods.require_safe
@pages.page
def session_query_help(request: http.HttpRequest) -> http.HttpResponse:
    """Say how the query that is being typed may go on."""
    context = query_help.load(request.user, request.GET.get("q", "")[:500])
    return shortcuts.render(request, "dashboard/_query_help.html", context)


@methods.require_safe
@pages.page
def session_export(request: http.HttpRequest, kind: str) -> http.HttpResponseBase:
    """Send every session of a filtered list as a file; a query that cannot be read leads back to the list."""
    if kind not in session_files.KINDS:
        raise http.Http404("no such kind of file")
    filters, _ = forms.session_filters(request.GET)
    try:
        batches = sessions.every(request.user, filters)
    except errors.Refusal:
        return shortcuts.redirect(list_context.url(filters))
    made = session_files.KINDS[kind]
    return streaming.answer(
        request, made.parts(batches), content_type=made.media_type, name=f"sessions.{kind}"
    )
