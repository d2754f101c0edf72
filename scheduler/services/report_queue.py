"""
More reports that wait in the queue, for whoever has just been given one: together they cost less.

They are taken without a receipt, as the first one was: an agent says again what is not acknowledged.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

import kombu
from celery import Celery
from django.utils import dateparse

from scheduler import clock

log = logging.getLogger(__name__)

TASK, QUEUE = "xce.report", "controller"
#: Most reports of one go, the first included: what one transaction may hold locked.
MOST = 25


def waiting(app: Celery, *, most: int = MOST - 1) -> list[str]:
    """Take reports that wait now, oldest first; none where the broker does not answer."""
    found: list[str] = []
    try:
        with app.connection_or_acquire() as connection:
            queue = kombu.Queue(QUEUE, kombu.Exchange(QUEUE), QUEUE).bind(connection.default_channel)
            while len(found) < most and (message := queue.get(no_ack=True, accept=["json"])) is not None:
                found += _texts(message.headers, message.decode())
    except Exception as error:  # noqa: BLE001 - whatever a broker client raises: what waits is taken later
        log.warning("no more reports were taken: %s", error)
    return found


def _texts(headers: Mapping[str, Any], body: Any) -> list[str]:
    """Return the text of one message, if it is a report and not too late."""
    match headers, body:
        case {"task": task}, [[str() as text], *_] if task == TASK:
            expires = dateparse.parse_datetime(headers.get("expires") or "")
            return [] if expires is not None and expires < clock.now() else [text]
    log.warning("what is no report was found among the reports, and is left out")
    return []
