"""Who changed what, when and why: append-only (P05)."""

from __future__ import annotations

from django.db import models


class ConfigChange(models.Model):
    """One change of configuration by one actor."""

    at = models.DateTimeField()
    actor_id = models.BigIntegerField(null=True)
    actor_name = models.CharField(max_length=150)
    request_id = models.CharField(max_length=64, blank=True)
    object_type = models.CharField(max_length=64)
    object_name = models.CharField(max_length=150)
    before = models.JSONField(default=dict)
    after = models.JSONField(default=dict)
    reason = models.CharField(max_length=500, blank=True)
    group = models.ForeignKey(
        "scheduler.ResourceGroup", null=True, on_delete=models.SET_NULL, related_name="+"
    )

    class Meta:
        ordering = ["-id"]
        indexes = [models.Index(fields=["object_type", "object_name", "-id"], name="change_by_object")]

    def __str__(self) -> str:
        return f"{self.object_type} {self.object_name} by {self.actor_name}"
