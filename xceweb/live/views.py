"""The feed as JSON: for programs, and for browsers whose sockets are blocked."""

from __future__ import annotations

from django import http
from django.views.decorators import http as methods

from scheduler import errors
from xceweb.live import frames


@methods.require_safe
def event_list(request: http.HttpRequest) -> http.JsonResponse:
    """
    Return the events after a number that the viewer may see, at most 500 numbers on.

    ``prev`` is the number asked from, ``last`` how far the answer reaches: ask again from there.
    """
    return http.JsonResponse(frames.since(request.user, _number(request.GET.get("after", "0"))))


def _number(text: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 18:
        raise errors.Refusal("after: the last event number seen, a whole number of zero or more.")
    return int(text)
