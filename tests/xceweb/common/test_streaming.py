"""Parts are made when they are sent, in both kinds of server."""

from __future__ import annotations

from collections.abc import Iterator

from asgiref import sync
from django.core.handlers import asgi
from django.test import RequestFactory

from xceweb.common import streaming


def counting(made: list[int]) -> Iterator[str]:
    """Yield three parts and note each that is made."""
    for number in range(3):
        made.append(number)
        yield f"part {number};"


def test_a_file_is_kept_by_its_name() -> None:
    """A browser asks where, and shows nothing."""
    found = streaming.answer(RequestFactory().get("/"), counting([]), content_type="text/csv", name="a.csv")

    assert (found["Content-Disposition"], found["Content-Type"]) == (
        'attachment; filename="a.csv"',
        "text/csv",
    )
    assert b"".join(found.streaming_content) == b"part 0;part 1;part 2;"


def test_nothing_is_made_before_it_is_sent() -> None:
    """So that a long file takes no memory."""
    made: list[int] = []
    scope = {"type": "http", "method": "GET", "path": "/", "headers": [], "query_string": b""}
    request = asgi.ASGIRequest(scope, None)
    found = streaming.answer(request, counting(made), content_type="text/csv", name="a.csv")

    async def first_two() -> list[bytes]:
        parts = found.streaming_content
        return [await anext(parts), await anext(parts)]

    assert (sync.async_to_sync(first_two)(), made) == ([b"part 0;", b"part 1;"], [0, 1])
