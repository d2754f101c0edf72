"""Who is not logged in: people are led to the log-in page, also by fragments; programs get 401 as problem+json."""

from __future__ import annotations

import urllib.parse
from collections.abc import Callable

from django import http, shortcuts
from django.conf import settings
from django.contrib import auth
from django.contrib.auth import middleware

from scheduler import errors
from xceweb.common import refusals


class NotLoggedIn(errors.Refusal):
    """Log in first: this needs the session cookie of somebody who is logged in."""

    code = "not-logged-in"
    status = 401


def challenge() -> str:
    """Return what a 401 demands of a program: the cookie that the log-in page gives."""
    page = shortcuts.resolve_url(settings.LOGIN_URL)
    return f'Cookie realm="xce", form-action="{page}", cookie-name={settings.SESSION_COOKIE_NAME}'


class LogInMiddleware(middleware.LoginRequiredMiddleware):
    """Django's demand for a log-in, except that a program is not sent to a page that it cannot read."""

    def handle_no_permission(
        self, request: http.HttpRequest, view_func: Callable[..., http.HttpResponse]
    ) -> http.HttpResponse:
        """Answer somebody who is not logged in."""
        if refusals.is_fragment(request):
            return self._lead_page(request, self.get_login_url(view_func))
        if not refusals.wants_json(request):
            return super().handle_no_permission(request, view_func)
        response = refusals.problem(request, NotLoggedIn())
        response["WWW-Authenticate"] = challenge()
        return response

    def _lead_page(self, request: http.HttpRequest, login_url: str) -> http.HttpResponse:
        """Send the page that asked for a fragment to the log-in, and back to itself: a fragment never holds it."""
        page = urllib.parse.urlsplit(request.headers.get("HX-Current-URL", ""))
        back = urllib.parse.urlunsplit(("", "", page.path or "/", page.query, ""))
        query = urllib.parse.urlencode({auth.REDIRECT_FIELD_NAME: back}, safe="/")
        address = f"{shortcuts.resolve_url(login_url)}?{query}"
        return http.HttpResponse(status=401, headers={"HX-Redirect": address})
