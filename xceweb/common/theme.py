"""The theme cookie: read for every page, written by one small form."""

from __future__ import annotations

from django import http, shortcuts
from django.contrib.auth import decorators
from django.utils import http as http_tools
from django.views.decorators import http as methods

COOKIE = "xce_theme"
THEMES = ("auto", "light", "dark")
_YEAR_S = 365 * 24 * 3600


def chosen(request: http.HttpRequest) -> str:
    """Return the reader's theme, ``auto`` when none or an unknown one is set."""
    theme = request.COOKIES.get(COOKIE, "auto")
    return theme if theme in THEMES else "auto"


@decorators.login_not_required
@methods.require_POST
def set_theme(request: http.HttpRequest) -> http.HttpResponse:
    """Keep the theme in a cookie and go back to the page; a script gets an empty answer instead."""
    theme = request.POST.get("theme", "")
    if theme not in THEMES:
        return http.HttpResponseBadRequest(f"theme: one of {', '.join(THEMES)}")
    response = http.HttpResponse(status=204) if _by_script(request) else shortcuts.redirect(_back(request))
    response.set_cookie(
        COOKIE, theme, max_age=_YEAR_S, samesite="Lax", secure=request.is_secure(), httponly=True
    )
    return response


def _by_script(request: http.HttpRequest) -> bool:
    return request.headers.get("X-Requested-With") == "fetch"


def _back(request: http.HttpRequest) -> str:
    target = request.POST.get("next", "")
    safe = http_tools.url_has_allowed_host_and_scheme(target, {request.get_host()}, request.is_secure())
    return target if safe else "/"
