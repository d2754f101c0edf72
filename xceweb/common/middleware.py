"""
One id per request: taken from the client where it is well formed, echoed, and bound to every log line.

Each request is one line itself, without its query, which may hold what is nobody's business; health checks are none.
"""

from __future__ import annotations

import contextlib
import logging
import re
import time
import uuid
from collections.abc import Awaitable, Callable, Iterator

from asgiref import sync
from django import http

from scheduler import logs

log = logging.getLogger("xce.request")
_QUIET = ("/livez", "/readyz", "/static/")

HEADER = "X-Request-ID"
_WELL_FORMED = re.compile(r"[A-Za-z0-9._-]{8,64}\Z")

GetResponse = Callable[[http.HttpRequest], http.HttpResponse | Awaitable[http.HttpResponse]]


class RequestIdMiddleware:
    """Sets ``request.request_id`` and the response header; log lines of the request carry it."""

    sync_capable = True
    async_capable = True

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response
        self.is_async = sync.iscoroutinefunction(get_response)
        if self.is_async:
            sync.markcoroutinefunction(self)

    def __call__(self, request: http.HttpRequest) -> http.HttpResponse | Awaitable[http.HttpResponse]:
        """Answer one request, in the way in which the server runs."""
        if self.is_async:
            return self._call_async(request)
        with _bound(request) as begun:
            return _stamped(self.get_response(request), request, begun)

    async def _call_async(self, request: http.HttpRequest) -> http.HttpResponse:
        with _bound(request) as begun:
            return _stamped(await self.get_response(request), request, begun)


@contextlib.contextmanager
def _bound(request: http.HttpRequest) -> Iterator[float]:
    asked = request.headers.get(HEADER, "")
    request.request_id = asked if _WELL_FORMED.match(asked) else uuid.uuid4().hex
    with logs.bound(request_id=request.request_id):
        yield time.monotonic()


def _stamped(response: http.HttpResponse, request: http.HttpRequest, begun: float) -> http.HttpResponse:
    response[HEADER] = request.request_id
    if not request.path.startswith(_QUIET):
        took_ms = (time.monotonic() - begun) * 1000
        log.info("%s %s %s in %.0f ms", request.method, request.path, response.status_code, took_ms)
    return response
