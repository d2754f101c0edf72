"""A person's own keypairs: make one, whose secret is shown once, see when each was used last, revoke one."""

from __future__ import annotations

import datetime
from typing import Any

from django import http, shortcuts, urls
from django.contrib import messages
from django.views.decorators import http as methods

from scheduler import clock, errors, models
from scheduler.selectors import keypairs as visible
from scheduler.selectors import permissions
from scheduler.services import actors, keypairs
from xceweb.accounts import keypair_form
from xceweb.common import pages

_MOST_ROWS = 100


@methods.require_http_methods(["GET", "HEAD", "POST"])
@pages.page
def keypair_list(request: http.HttpRequest) -> http.HttpResponse:
    """Show one's keypairs; a POST makes one, and shows its secret in the answer and nowhere else."""
    if request.method != "POST":
        return _page(request, keypair_form.KeypairForm())
    permissions.require(permissions.can_have_keypairs(request.user), "have keypairs")
    form = keypair_form.KeypairForm(request.POST)
    if not form.is_valid():
        return pages.with_status(_page(request, form), 422)
    try:
        row, secret = keypairs.issue(_actor(request), request.user, _wish(form))
    except errors.Refusal as refusal:
        for name, text in (refusal.fields or {"": str(refusal)}).items():
            form.add_error(name if name in form.fields else None, text)
        return pages.with_status(_page(request, form), 422)
    return _page(request, keypair_form.KeypairForm(), made={"access_key": row.access_key, "secret": secret})


@methods.require_POST
def keypair_revoke(request: http.HttpRequest, access_key: str) -> http.HttpResponse:
    """End a keypair at once, and go back to the list."""
    row = visible.require(request.user, access_key)
    keypairs.revoke(_actor(request), row, reason=request.POST.get("reason", "")[:500])
    messages.success(request, f"{row.name or row.access_key} opens nothing any more.")
    return shortcuts.redirect("accounts:keypair-list")


def _wish(form: keypair_form.KeypairForm) -> keypairs.Wish:
    values, lasts = form.cleaned_data, form.length()
    ends = clock.now() + lasts if lasts else None
    return keypairs.Wish(name=values["name"], scope=values["scope"], expires_at=ends)


def _actor(request: http.HttpRequest) -> actors.Actor:
    return actors.of_user(request.user, request_id=request.request_id)


def _page(
    request: http.HttpRequest, form: keypair_form.KeypairForm, *, made: dict[str, str] | None = None
) -> http.HttpResponse:
    rows, now = models.Keypair.objects.filter(user=request.user)[:_MOST_ROWS], clock.now()
    context = {
        "form": form if permissions.can_have_keypairs(request.user) else None,
        "made": made,
        "keypairs": [_row(row, now) for row in rows],
        "most": keypairs.MOST_OF_ONE,
    }
    return pages.render(request, "accounts/keypairs.html", context, crumbs=[("Keypairs", "")])


def _row(row: models.Keypair, now: datetime.datetime) -> dict[str, Any]:
    kept = ("name", "access_key", "scope", "created_at", "expires_at", "last_used_at")
    state = visible.state(row, now)
    return {
        **{name: getattr(row, name) for name in kept},
        "state": state,
        "revocation": _revocation(row) if state == "in force" else None,
    }


def _revocation(row: models.Keypair) -> dict[str, Any]:
    reason = {"name": "reason", "label": "Reason", "type": "text", "value": "", "required": False}
    return {
        "key": f"revoke-{row.access_key}",
        "label": "Revoke",
        "url": urls.reverse("accounts:keypair-revoke", args=[row.access_key]),
        "title": f"Revoke {row.name or row.access_key}?",
        "text": "Whatever uses it is refused from then on. That cannot be undone; a new keypair can be made.",
        "button": "Revoke",
        "tone": "danger",
        "fields": [reason],
    }
