"""ETag and If-Match of what has versions: rules of groups, and queues."""

from __future__ import annotations

from rest_framework import request as drf_request

from scheduler import errors
from xceweb.api import docs

HEADER = docs.header("If-Match", "the ETag that this was read with", is_required=True)


class Changed(errors.Refusal):
    """Somebody changed it since this ETag was given."""

    code = "precondition-failed"
    status = 412


class NoMatch(errors.Refusal):
    """Send If-Match with the ETag that this was read with, so that nobody's change is overwritten."""

    code = "precondition-required"
    status = 428


def etag(version: int) -> str:
    """Return the ETag of a version."""
    return f'"{version}"'


def version(request: drf_request.Request, current: int) -> int:
    """
    Return the version that If-Match names; ``*`` is the current one.

    Raises:
        NoMatch: there is no such header.
        Refusal: it is no ETag of ours.
    """
    asked = request.headers.get("If-Match", "").strip()
    if not asked:
        raise NoMatch
    text = asked.removeprefix("W/").strip('"')
    if asked == "*":
        return current
    if not text.isascii() or not text.isdigit() or len(text) > 9:
        raise errors.Refusal(
            code="invalid", fields={"If-Match": "is no ETag that was given out here: read it anew"}
        )
    return int(text)
