"""Answers that are sent while they are made, so that a long one takes no memory."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

from asgiref import sync
from django import http
from django.core.handlers import asgi


def answer(
    request: http.HttpRequest, parts: Iterator[str], *, content_type: str, name: str
) -> http.StreamingHttpResponse:
    """Return a file that a browser keeps by a name; its parts are made one by one as they are sent."""
    sent = asynchronously(parts) if isinstance(request, asgi.ASGIRequest) else parts
    found = http.StreamingHttpResponse(sent, content_type=content_type)
    found["Content-Disposition"] = f'attachment; filename="{name}"'
    found["X-Accel-Buffering"] = "no"
    return found


async def asynchronously(parts: Iterator[str]) -> AsyncIterator[str]:
    """Yield parts that ask the database, each made in the thread of its request: else all would be made first."""
    following = sync.sync_to_async(next)
    while (part := await following(parts, None)) is not None:
        yield part
