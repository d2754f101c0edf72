"""Error pages and health: the views that belong to no family."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Say that the form was too old to be accepted, and how to go on."""
    context = {"detail": "The form was too old or came from another site. Go back, reload the page and send it again."}
    return render(request, "403.html", context, status=403)
