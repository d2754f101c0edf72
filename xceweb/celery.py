"""
Celery of the controller side.

Messages are doorbells: they carry at most ids, expire, and may be lost or doubled without harm; PostgreSQL decides
(RELIABILITY section 5). Reports of agents arrive on the queue ``controller`` as one signed text.
"""

from __future__ import annotations

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "xceweb.settings.local")

app = Celery("xceweb")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["scheduler"])
