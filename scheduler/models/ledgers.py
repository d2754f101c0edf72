"""What owners and queues use, counted in the transaction that changes it."""

from __future__ import annotations

from django.conf import settings
from django.db import models

#: the pseudo kind under which concurrent sessions are counted
SESSIONS = "sessions"


class OwnerUsage(models.Model):
    """One kind (or ``sessions``) that an owner uses over the whole cluster."""

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="usage")
    kind = models.CharField(max_length=64)
    used = models.BigIntegerField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["owner", "kind"], name="owner_usage_is_unique"),
            models.CheckConstraint(condition=models.Q(used__gte=0), name="owner_usage_is_never_negative"),
        ]


class QueueUsage(models.Model):
    """One kind (or ``sessions``) that a queue uses over the whole cluster."""

    queue = models.ForeignKey("scheduler.Queue", on_delete=models.CASCADE, related_name="usage")
    kind = models.CharField(max_length=64)
    used = models.BigIntegerField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["queue", "kind"], name="queue_usage_is_unique"),
            models.CheckConstraint(condition=models.Q(used__gte=0), name="queue_usage_is_never_negative"),
        ]
