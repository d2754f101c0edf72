"""What stands above every page: administrators write it, and end it."""

from __future__ import annotations

import datetime
from typing import Any

from django import forms, http, shortcuts, urls
from django.contrib import messages
from django.views.decorators import http as methods

from scheduler import errors, models
from scheduler.selectors import announcements as shown
from scheduler.selectors import permissions
from scheduler.services import actors, announcements
from xceweb.common import pages

_LASTS = [("", "until it is ended"), ("1", "an hour"), ("24", "a day"), ("168", "a week")]
_TONES = [("info", "Information"), ("warning", "Warning")]
_MOST_ROWS = 50


class AnnouncementForm(forms.Form):
    """A wish for an announcement; what the service refuses of it is told at the field."""

    text = forms.CharField(
        max_length=500, label="What everybody reads", widget=forms.Textarea({"class": "textarea", "rows": 3})
    )
    tone = forms.ChoiceField(choices=_TONES, initial="info", widget=forms.Select({"class": "select"}))
    lasts = forms.ChoiceField(
        choices=_LASTS, required=False, label="It stands for", widget=forms.Select({"class": "select"})
    )

    def length(self) -> datetime.timedelta | None:
        """Return for how long it is to stand, None = until it is ended; once the form is valid."""
        hours = self.cleaned_data["lasts"]
        return datetime.timedelta(hours=int(hours)) if hours else None


@methods.require_http_methods(["GET", "HEAD", "POST"])
@pages.page
def announcement_list(request: http.HttpRequest) -> http.HttpResponse:
    """Show all announcements; a POST makes one."""
    _require(request)
    form = AnnouncementForm(request.POST if request.method == "POST" else None)
    if not form.is_bound:
        return _page(request, form)
    if not form.is_valid():
        return pages.with_status(_page(request, form), 422)
    values = form.cleaned_data
    try:
        announcements.make(_actor(request), values["text"], tone=values["tone"], lasts=form.length())
    except errors.Refusal as refusal:
        for name, text in (refusal.fields or {"": str(refusal)}).items():
            form.add_error(name if name in form.fields else None, text)
        return pages.with_status(_page(request, form), 422)
    messages.success(request, "Everybody reads it from their next page on.")
    return shortcuts.redirect("console:announcement-list")


@methods.require_POST
def announcement_end(request: http.HttpRequest, number: int) -> http.HttpResponse:
    """Take an announcement off every page, and go back to the list."""
    _require(request)
    row = shown.require(number)
    try:
        announcements.end(_actor(request), row, reason=request.POST.get("reason", ""))
        messages.success(request, "Nobody reads it any more.")
    except errors.Refusal as refusal:
        messages.error(request, str(refusal))
    return shortcuts.redirect("console:announcement-list")


def _require(request: http.HttpRequest) -> None:
    """Let administrators pass; for anybody else there is no such page."""
    if not permissions.is_administrator(request.user):
        raise errors.NotVisible()


def _actor(request: http.HttpRequest) -> actors.Actor:
    return actors.of_user(request.user, request_id=request.request_id)


def _page(request: http.HttpRequest, form: AnnouncementForm) -> http.HttpResponse:
    standing = {row.pk for row in shown.in_force()}
    rows = [_row(row, is_shown=row.pk in standing) for row in models.Announcement.objects.all()[:_MOST_ROWS]]
    context = {"form": form, "rows": rows, "most": announcements.MOST_IN_FORCE}
    return pages.render(request, "console/announcements.html", context, crumbs=[("Announcements", "")])


def _row(row: models.Announcement, *, is_shown: bool) -> dict[str, Any]:
    kept = ("pk", "text", "tone", "made_at", "made_by_name", "until")
    return {**{name: getattr(row, name) for name in kept}, "ending": _ending(row) if is_shown else None}


def _ending(row: models.Announcement) -> dict[str, Any]:
    reason = {"name": "reason", "label": "Reason", "type": "text", "value": "", "required": False}
    return {
        "key": f"end-{row.pk}",
        "label": "End",
        "url": urls.reverse("console:announcement-end", args=[row.pk]),
        "title": "End this announcement?",
        "text": "Nobody reads it any more. It stays in the audit.",
        "button": "End it",
        "tone": "primary",
        "fields": [reason],
    }
