"""
Celery of the controller side.

Messages are doorbells: they carry at most ids, expire, and may be lost or doubled without harm; PostgreSQL decides
(RELIABILITY section 5). Reports of agents arrive on the queue ``controller`` as one signed text.
"""

from __future__ import annotations

import os
from typing import Any

import kombu
from celery import Celery
from celery.app import amqp

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


app = Celery("xceweb", amqp=Transport)
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["scheduler"])
