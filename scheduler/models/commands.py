"""The outbox: commands to agents, written in the transaction of the decision that needs them."""

from __future__ import annotations

from django.db import models

from scheduler import ids


class AgentCommand(models.Model):
    """One command to one node; sent after commit, and again until it is settled (DESIGN section 6)."""

    class Kind(models.TextChoices):
        START = "start"
        STOP = "stop"
        RESUME = "resume"
        KILL = "kill"
        WITHDRAW = "withdraw"
        CANCEL_START = "cancel-start"

    id = models.BigAutoField(primary_key=True)
    command_id = models.UUIDField(default=ids.new_id, unique=True, editable=False)
    node = models.ForeignKey("scheduler.Node", on_delete=models.PROTECT, related_name="commands")
    session = models.ForeignKey("scheduler.Session", on_delete=models.PROTECT, related_name="commands")
    epoch = models.PositiveIntegerField()
    kind = models.CharField(max_length=16, choices=Kind.choices)
    body = models.JSONField()
    decision = models.ForeignKey(
        "scheduler.Decision", null=True, on_delete=models.PROTECT, related_name="commands"
    )
    created_at = models.DateTimeField()
    deadline = models.DateTimeField(null=True)
    sent_at = models.DateTimeField(null=True)
    send_again_at = models.DateTimeField()
    times_sent = models.PositiveIntegerField(default=0)
    settled_at = models.DateTimeField(null=True)
    settled_how = models.CharField(max_length=32, blank=True)
    answered_ms = models.BigIntegerField(
        null=True, help_text="the answer's moment, by the agent's monotonic clock"
    )

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["session", "node"],
                condition=models.Q(settled_at__isnull=True),
                name="one_open_command_per_session_and_node",
            )
        ]
        indexes = [
            models.Index(
                fields=["send_again_at"], condition=models.Q(settled_at__isnull=True), name="command_open"
            )
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.command_id}"
