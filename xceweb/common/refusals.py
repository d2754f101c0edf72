"""
The one place where the scheduler's refusals become answers: a page, or problem+json for programs.

The error says the text and the status; a view only lets it pass. What somebody may not see and what is not
there give the same 404.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable

from asgiref import sync
from django import http, shortcuts

from scheduler import errors

log = logging.getLogger(__name__)
_TEMPLATES = {403: "403.html", 404: "404.html"}


class RefusalMiddleware:
    """Turns ``XceError`` into a page or JSON; everything else goes on as it is."""

    sync_capable = True
    async_capable = True

    def __init__(self, get_response: Callable[[http.HttpRequest], http.HttpResponse | Awaitable]) -> None:
        self.get_response = get_response
        if sync.iscoroutinefunction(get_response):
            sync.markcoroutinefunction(self)

    def __call__(self, request: http.HttpRequest) -> http.HttpResponse | Awaitable[http.HttpResponse]:
        """Pass the request on."""
        return self.get_response(request)

    def process_exception(self, request: http.HttpRequest, error: Exception) -> http.HttpResponse | None:
        """Answer an XceError; a bug (status 500) stays an exception, so that it is logged with its trace."""
        if not isinstance(error, errors.XceError) or (error.status >= 500 and error.status != 503):
            return None
        if wants_json(request):
            return problem(request, error)
        if is_fragment(request) and error.status in _TEMPLATES:
            return reload_page(error.status)
        context = {"detail": str(error), "code": error.code, "status": error.status}
        return shortcuts.render(
            request, _TEMPLATES.get(error.status, "403.html"), context, status=error.status
        )


def is_fragment(request: http.HttpRequest) -> bool:
    """Say whether an open page asks for a part of itself."""
    return request.headers.get("HX-Request") == "true"


def reload_page(status: int) -> http.HttpResponse:
    """
    Answer a fragment that is refused: the page that asked is no longer what its reader may see, and loads anew.

    No page asks for a fragment that its reader may not have, so it does not load again and again.
    """
    return http.HttpResponse(status=status, headers={"HX-Refresh": "true"})


def wants_json(request: http.HttpRequest) -> bool:
    """Say whether a program asks: under /api/, for /events, or accepting JSON but not HTML."""
    return (
        request.path.startswith("/api/")
        or request.path == "/events"
        or (request.accepts("application/json") and not request.accepts("text/html"))
    )


def problem(request: http.HttpRequest, error: errors.XceError) -> http.JsonResponse:
    """Return an error as problem+json (RFC 9457) with its stable code."""
    body = {
        "type": "about:blank",
        "title": error.code.replace("-", " ").capitalize(),
        "status": error.status,
        "code": error.code,
        "detail": str(error),
        "fields": getattr(error, "fields", {}),
        "request_id": getattr(request, "request_id", ""),
    }
    return http.JsonResponse(body, status=error.status, content_type="application/problem+json")
