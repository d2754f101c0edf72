"""Signing out."""

from __future__ import annotations

from typing import Any

from django import http
from django.contrib.auth import views

from xceweb.live import rights


class LogoutView(views.LogoutView):
    """Django's, and the person's open sockets are looked at again as soon as the log-in is gone."""

    def post(self, request: http.HttpRequest, *args: Any, **kwargs: Any) -> http.HttpResponse:
        """End the log-in."""
        user_id = request.user.pk
        response = super().post(request, *args, **kwargs)
        if user_id is not None:
            rights.changed([user_id])
        return response
