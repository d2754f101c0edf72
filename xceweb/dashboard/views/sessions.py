"""One session with its tabs, and what may be done to it."""

from __future__ import annotations

import dataclasses
import uuid
from collections.abc import Callable

from django import http, shortcuts, urls
from django.contrib import messages
from django.views.decorators import http as methods

from scheduler import errors, models
from scheduler.selectors import permissions
from scheduler.services import actors, control
from xceweb.common import pages
from xceweb.dashboard import forms
from xceweb.dashboard.contexts import counterfactuals, session_page, session_seen, weighed

TABS = (*session_page.TABS, *session_page.EXPLANATIONS)


@methods.require_safe
@pages.page
def session_detail(request: http.HttpRequest, public_id: uuid.UUID, tab: str = "") -> http.HttpResponse:
    """Show one session: why it is as it is, or another tab."""
    if tab and tab not in TABS:
        raise http.Http404("no such tab")
    part = pages.part_of(request, ("live", "output", "counterfactuals", "weighed"))
    session = permissions.require_session(request.user, public_id)
    seen = session_seen.look(request.user, session)
    if tab == "output":
        offset, rank = forms.output_place(request)
        seen = dataclasses.replace(seen, offset=offset, rank=rank)
    if part == "counterfactuals":
        context = counterfactuals.load(seen, session_page.shown(seen, tab))
        return shortcuts.render(request, "dashboard/_counterfactuals.html", context)
    if part == "weighed":
        if session_page.shown(seen, tab) != "pending":
            raise http.Http404("nothing to weigh")
        return shortcuts.render(request, "dashboard/_weighed.html", {"weighed": weighed.again(seen)})
    context = session_page.load(seen, tab)
    if part == "live":
        return shortcuts.render(request, "dashboard/_session_refresh.html", context)
    crumbs = [("Sessions", urls.reverse("dashboard:session-list")), (context["session"]["name"], "")]
    return pages.render(request, "dashboard/session_detail.html", context, section="sessions", crumbs=crumbs)


@methods.require_POST
def session_act(request: http.HttpRequest, public_id: uuid.UUID, action: str) -> http.HttpResponse:
    """Do one thing to a session and go back to it; what cannot be done is said there."""
    if action not in _ACTIONS:
        raise http.Http404("no such action")
    session = permissions.require_session(request.user, public_id)
    actor = actors.of_user(request.user, request_id=request.request_id)
    try:
        _ACTIONS[action](actor, session, request)
        messages.success(request, _DONE[action].format(name=session.name))
    except errors.Refusal as refusal:
        if refusal.status in (403, 404):
            raise
        messages.error(request, str(refusal))
    return shortcuts.redirect("dashboard:session-detail", session.public_id)


Act = Callable[[actors.Actor, models.Session, http.HttpRequest], None]


def _change(actor: actors.Actor, session: models.Session, request: http.HttpRequest) -> None:
    form = forms.ChangeForm(request.POST)
    if not form.is_valid():
        raise errors.Refusal(" ".join(f"{name}: {' '.join(found)}" for name, found in form.errors.items()))
    control.change_session(actor, session, **form.changes())


_ACTIONS: dict[str, Act] = {
    "cancel": lambda actor, session, request: control.cancel_session(
        actor, session, reason=request.POST.get("reason", "")[:500]
    ),
    "hold": lambda actor, session, request: control.hold_session(actor, session),
    "release": lambda actor, session, request: control.release_session(actor, session),
    "suspend": lambda actor, session, request: control.suspend_session(actor, session),
    "resume": lambda actor, session, request: control.resume_session(actor, session),
    "requeue": lambda actor, session, request: control.requeue_session(actor, session),
    "change": _change,
}
_DONE = {
    "cancel": "{name} is being cancelled.",
    "hold": "{name} is held.",
    "release": "{name} is released.",
    "suspend": "{name} is being suspended.",
    "resume": "{name} may go on.",
    "requeue": "{name} is going back to the queue.",
    "change": "{name} is changed.",
}
