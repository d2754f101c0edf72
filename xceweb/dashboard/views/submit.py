"""Submit a session, and ask beforehand what would happen."""

from __future__ import annotations

import secrets

from django import http, shortcuts
from django.contrib import messages
from django.views.decorators import http as methods

from scheduler import errors
from scheduler.selectors import dry_run
from scheduler.services import actors, submission
from xceweb.common import pages
from xceweb.dashboard import submit_form
from xceweb.dashboard.contexts import submit as context

_KEPT = 20
_TOKENS = "submitted"


@methods.require_http_methods(["GET", "HEAD", "POST"])
@pages.page
def session_submit(request: http.HttpRequest) -> http.HttpResponse:
    """Show the form, or submit it; a form that comes twice leads to the session that it made."""
    if request.method != "POST":
        return _form_page(request, submit_form.SubmitForm(request.user))
    form = submit_form.SubmitForm(request.user, request.POST)
    token = request.POST.get("token", "")
    made = request.session.get(_TOKENS, {})
    if token in made:
        return shortcuts.redirect("dashboard:session-detail", made[token])
    public_id = _submit(request, form) if form.is_valid() else None
    if public_id is None:
        return _form_page(request, form, status=422)
    request.session[_TOKENS] = dict([*made.items(), (token, public_id)][-_KEPT:])
    return shortcuts.redirect("dashboard:session-detail", public_id)


def _submit(request: http.HttpRequest, form: submit_form.SubmitForm) -> str | None:
    actor = actors.of_user(request.user, request_id=request.request_id)
    try:
        session = submission.submit_session(actor, form.to_request())
    except errors.Refusal as refusal:
        form.add_refusal(refusal)
        return None
    messages.success(request, f"{session.name} was submitted.")
    return str(session.public_id)


def _form_page(
    request: http.HttpRequest, form: submit_form.SubmitForm, *, status: int = 200
) -> http.HttpResponse:
    values = context.load(request.user, form, token=secrets.token_urlsafe(16))
    response = pages.render(request, "dashboard/session_submit.html", values, section="submit")
    return pages.with_status(response, status)


@methods.require_POST
def session_dry_run(request: http.HttpRequest) -> http.HttpResponse:
    """Say what would happen if the form were submitted now; nothing is written."""
    form = submit_form.SubmitForm(request.user, request.POST)
    return shortcuts.render(request, "dashboard/_dry_run.html", {"dry_run": _answer(request, form)})


def _answer(request: http.HttpRequest, form: submit_form.SubmitForm) -> dict[str, object]:
    if not form.has_program():
        return context.incomplete()
    if not form.is_valid():
        return context.refused(form)
    try:
        return context.answer(dry_run.dry_run(actors.of_user(request.user), form.to_request()), form.kinds)
    except errors.Refusal as refusal:
        form.add_refusal(refusal)
        return context.refused(form)
