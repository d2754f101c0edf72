"""Keys of agents and what was last heard of them."""

from __future__ import annotations

from django.db import models


class AgentKey(models.Model):
    """A node's signing key. Two may be active during a rotation; a revoked one opens nothing from then on."""

    key_id = models.CharField(max_length=32, unique=True)
    node = models.ForeignKey("scheduler.Node", on_delete=models.CASCADE, related_name="keys")
    secret = models.BinaryField()
    created_at = models.DateTimeField(auto_now_add=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return self.key_id


class AgentStatus(models.Model):
    """What the controller knows of one agent: its boot, its last sequence, when it last spoke."""

    node = models.OneToOneField("scheduler.Node", on_delete=models.CASCADE, related_name="agent")
    boot = models.CharField(max_length=64, blank=True)
    sequence = models.BigIntegerField(default=0)
    version = models.CharField(max_length=32, blank=True)
    facts = models.JSONField(default=dict)
    last_report_at = models.DateTimeField(null=True)
    hello_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name_plural = "agent statuses"

    def __str__(self) -> str:
        return f"agent of {self.node_id}"


class Listening(models.Model):
    """The one row that tells since when the controller listens to agents without a break (RELIABILITY 4.7)."""

    since = models.DateTimeField()
    last_at = models.DateTimeField()

    class Meta:
        verbose_name_plural = "listening"

    def __str__(self) -> str:
        return f"listening since {self.since}"
