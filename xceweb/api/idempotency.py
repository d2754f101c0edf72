"""
``Idempotency-Key``: the same request once more gets the first answer, and is carried out once.

The key is kept with the answer in one transaction with what the request did, so that neither can be without the
other; who asks while the first is under way waits for it. A request that was refused leaves no key. Kept for a day.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

from django.db import transaction
from rest_framework import request as drf_request
from rest_framework import response
from rest_framework.utils import encoders

from scheduler import clock, errors, models

HEADER = "Idempotency-Key"
_LONGEST = 255


class KeyReused(errors.Refusal):
    """This Idempotency-Key came with another request before: use a new key for a new request."""

    code = "idempotency-key-reused"
    status = 422


def once(request: drf_request.Request, answer: Callable[[], tuple[int, dict[str, Any]]]) -> response.Response:
    """
    Return an answer that is made once for each key; without the header it is made each time.

    Args:
        answer: does what is asked, and returns status and body.

    Raises:
        Refusal: the key is no text of 1 to 255 printable characters.
        KeyReused: it came with another request.
    """
    key = request.headers.get(HEADER)
    if key is None:
        status, body = answer()
        return response.Response(body, status=status)
    key = key.strip().strip('"')
    if not key or len(key) > _LONGEST or not key.isprintable():
        text = f"must be 1 to {_LONGEST} printable characters"
        raise errors.Refusal(code="invalid", fields={HEADER: text})
    with transaction.atomic():
        row, is_new = _row(request, key)
        if is_new:
            row.status, body = answer()
            row.body = _plain(body)
            row.save(update_fields=["status", "body"])
    headers = {} if is_new else {"Idempotency-Replayed": "true"}
    return response.Response(row.body, status=row.status, headers=headers)


def _row(request: drf_request.Request, key: str) -> tuple[models.IdempotentAnswer, bool]:
    now = clock.now()
    rows = models.IdempotentAnswer.objects
    rows.filter(user=request.user, key=key, created_at__lt=now - models.IdempotentAnswer.KEPT).delete()
    fingerprint = _fingerprint(request)
    row, is_new = rows.get_or_create(
        user=request.user, key=key, defaults={"fingerprint": fingerprint, "created_at": now}
    )
    if not is_new and row.fingerprint != fingerprint:
        raise KeyReused
    return row, is_new


def _fingerprint(request: drf_request.Request) -> str:
    parts = (
        request.method or "",
        request.path,
        encoders.json.dumps(request.data, sort_keys=True, default=str),
    )
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def _plain(body: dict[str, Any]) -> Any:
    return encoders.json.loads(encoders.json.dumps(body, cls=encoders.JSONEncoder))
