"""The feed as JSON: for programs, and for browsers whose sockets are blocked."""

from __future__ import annotations

from django import http
from django.views.decorators import http as methods

from scheduler import errors
from scheduler.selectors import event_log
from xceweb.live import frames

MOST = 500


@methods.require_safe
def event_list(request: http.HttpRequest) -> http.JsonResponse:
    """
    Return the events after a number that the viewer may see, at most 500 numbers on.

    ``prev`` is the number asked from, ``last`` how far the answer reaches: ask again from there.
    """
    after = _number(request.GET.get("after", "0"))
    entries = event_log.after(after, limit=MOST)
    last = entries[-1].number if entries else after
    seen = event_log.seen(event_log.rights_of(request.user), entries)
    return http.JsonResponse(frames.batch("cluster", (after, last), seen))


def _number(text: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 18:
        raise errors.Refusal("after: the last event number seen, a whole number of zero or more.")
    return int(text)
