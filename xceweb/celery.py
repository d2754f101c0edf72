"""
Celery of the controller side.

Messages are doorbells: they carry at most ids, expire, and may be lost or doubled without harm; PostgreSQL decides
(RELIABILITY section 5). Reports of agents arrive on the queue ``controller`` as one signed text.
"""

from __future__ import annotations

import contextlib
import os
from typing import Any

import kombu
from celery import Celery, signals
from celery.app import amqp, task

from scheduler import logs

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "xceweb.settings.local")


class Link(kombu.Connection):
    """A connection that looks for a broker that is away every few seconds; Celery's waits up to half a minute."""

    LONGEST_S = 5

    def ensure_connection(self, *args: Any, **more: Any) -> Any:
        """Connect, with pauses of at most ``LONGEST_S`` between the tries."""
        more["interval_max"] = min(more.get("interval_max", self.LONGEST_S), self.LONGEST_S)
        return super().ensure_connection(*args, **more)


class Transport(amqp.AMQP):
    """Celery's, over such connections."""

    Connection = BrokerConnection = Link


#: What a message says of whom it goes back to; for log lines alone, so that a forged one can do no harm.
IDS = "xce_ids"
_open: dict[str, contextlib.ExitStack] = {}


@signals.setup_logging.connect
def _keep_logging(**_: Any) -> None:
    """Let Django's settings say how processes log: Celery sets nothing up where somebody listens here."""


@signals.before_task_publish.connect
def _send_ids(headers: dict[str, Any], **_: Any) -> None:
    if told := logs.ids():
        headers[IDS] = {name: told[name] for name in ("request_id",) if name in told}


@signals.task_prerun.connect
def _bind_ids(task_id: str, task: task.Task, **_: Any) -> None:
    told = getattr(task.request, IDS, None) or {}
    request_id = told.get("request_id") if isinstance(told, dict) else None
    _open[task_id] = stack = contextlib.ExitStack()
    if isinstance(request_id, str):
        stack.enter_context(logs.bound(request_id=request_id[:64]))


@signals.task_postrun.connect
def _forget_ids(task_id: str, **_: Any) -> None:
    if stack := _open.pop(task_id, None):
        stack.close()


app = Celery("xceweb", amqp=Transport)
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["scheduler"])
