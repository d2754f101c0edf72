"""The log that browsers read: append-only, one gapless number (DESIGN section 8)."""

from __future__ import annotations

from django.db import models


class EventCounter(models.Model):
    """The one row whose lock orders all events; taken last in a transaction."""

    id = models.PositiveSmallIntegerField(primary_key=True, default=1)
    last = models.BigIntegerField(default=0)

    class Meta:
        constraints = [models.CheckConstraint(condition=models.Q(id=1), name="there_is_one_event_counter")]


class Event(models.Model):
    """One thing that happened. Who may see it follows from its session and group."""

    number = models.BigIntegerField(primary_key=True)
    type = models.CharField(max_length=48)
    at = models.DateTimeField()
    group = models.ForeignKey(
        "scheduler.ResourceGroup", null=True, on_delete=models.PROTECT, related_name="+"
    )
    session = models.ForeignKey(
        "scheduler.Session", null=True, on_delete=models.PROTECT, related_name="events"
    )
    node = models.ForeignKey("scheduler.Node", null=True, on_delete=models.PROTECT, related_name="+")
    decision = models.ForeignKey("scheduler.Decision", null=True, on_delete=models.PROTECT, related_name="+")
    actor_id = models.BigIntegerField(null=True)
    actor_name = models.CharField(max_length=150, blank=True)
    changed = models.JSONField(default=list, help_text="names of the fields that changed")
    data = models.JSONField(default=dict, help_text="facts for the time line; shown by role")

    class Meta:
        ordering = ["number"]
        indexes = [
            models.Index(fields=["session", "number"], name="event_by_session"),
            models.Index(fields=["group", "number"], name="event_by_group"),
        ]

    def __str__(self) -> str:
        return f"{self.number} {self.type}"
