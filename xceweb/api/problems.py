"""The one exception handler of the API: every error is problem+json (RFC 9457) with a stable code."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from django import http
from django.core import exceptions as django_exceptions
from rest_framework import exceptions, views

from scheduler import errors
from xceweb.common import refusals

#: Codes by status, where the framework itself refuses.
_CODES = {
    400: "unreadable",
    401: "not-logged-in",
    403: "not-allowed",
    404: "not-found",
    405: "method-not-allowed",
    406: "not-acceptable",
    415: "unsupported-media-type",
    429: "too-often",
}
#: Framework's words for a field -> ours.
_WORDS = {"This field is required.": "is required", "This field may not be null.": "may not be null"}


def handle(error: Exception, context: Mapping[str, Any]) -> http.HttpResponse | None:
    """Return the answer to an error; None for a bug, which is logged with its trace and answered with 500."""
    found = _as_xce(error)
    if found is None:
        return None
    views.set_rollback()
    request = context["request"]._request
    answer = refusals.problem(request, found)
    for name, value in _headers(error).items():
        answer[name] = value
    return answer


def _as_xce(error: Exception) -> errors.XceError | None:
    if isinstance(error, errors.XceError):
        return error if error.status < 500 or error.status == 503 else None
    if isinstance(error, exceptions.ValidationError):
        return errors.Refusal(code="invalid", fields=_fields(error.detail))
    if isinstance(error, http.Http404):
        return errors.NotVisible()
    if isinstance(error, django_exceptions.PermissionDenied):
        error = exceptions.PermissionDenied()
    if not isinstance(error, exceptions.APIException):
        return None
    found = errors.Refusal(str(error.detail), code=_CODES.get(error.status_code, "refused"))
    found.status = error.status_code
    return found


def _fields(detail: Any, name: str = "") -> dict[str, str]:
    """Return field -> what is wrong with it; fields of inner objects with dots."""
    if isinstance(detail, Mapping):
        found: dict[str, str] = {}
        for inner, what in detail.items():
            path = "" if inner == "non_field_errors" else str(inner)
            found |= _fields(what, ".".join(filter(None, (name, path))))
        return found
    if isinstance(detail, list) and any(isinstance(each, Mapping) for each in detail):
        rows = [_fields(each, f"{name}[{place}]") for place, each in enumerate(detail) if each]
        return {path: text for row in rows for path, text in row.items()}
    texts = detail if isinstance(detail, list) else [detail]
    return {name: " ".join(_WORDS.get(str(text), str(text)) for text in texts)}


def _headers(error: Exception) -> dict[str, str]:
    found = {}
    if header := getattr(error, "auth_header", None):
        found["WWW-Authenticate"] = header
    if (wait := getattr(error, "wait", None)) is not None:
        found["Retry-After"] = str(math.ceil(wait))
    return found
