"""Who is not logged in: people are led to the log-in page, programs get 401 as problem+json."""

from __future__ import annotations

from collections.abc import Callable

from django import http, shortcuts
from django.conf import settings
from django.contrib.auth import middleware

from scheduler import errors
from xceweb.common import refusals


class NotLoggedIn(errors.Refusal):
    """Log in first: this needs the session cookie of somebody who is logged in."""

    code = "not-logged-in"
    status = 401


class LogInMiddleware(middleware.LoginRequiredMiddleware):
    """Django's demand for a log-in, except that a program is not sent to a page that it cannot read."""

    def handle_no_permission(
        self, request: http.HttpRequest, view_func: Callable[..., http.HttpResponse]
    ) -> http.HttpResponse:
        """Answer somebody who is not logged in."""
        if not refusals.wants_json(request):
            return super().handle_no_permission(request, view_func)
        response = refusals.problem(request, NotLoggedIn())
        page = shortcuts.resolve_url(self.get_login_url(view_func))
        response["WWW-Authenticate"] = (
            f'Cookie realm="xce", form-action="{page}", cookie-name={settings.SESSION_COOKIE_NAME}'
        )
        return response
