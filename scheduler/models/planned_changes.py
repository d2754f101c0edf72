"""Changes of a group's rules that are planned: at a time, or the way back after a while."""

from __future__ import annotations

from django.conf import settings
from django.db import models


class PlannedChange(models.Model):
    """
    One change that the reconciler carries out when its moment has come, exactly once.

    A group has at most one that is open, so that two never fight over the same rule.
    """

    class Kind(models.TextChoices):
        CHANGE = "change"
        RETURN = "return"

    class End(models.TextChoices):
        DONE = "done"
        CANCELLED = "cancelled"
        OVERTAKEN = "overtaken"  # somebody changed one of its rules before
        FAILED = "failed"

    group = models.ForeignKey(
        "scheduler.ResourceGroup", on_delete=models.CASCADE, related_name="planned_changes"
    )
    kind = models.CharField(max_length=8, choices=Kind.choices)
    at = models.DateTimeField(help_text="when it is due")
    changes = models.JSONField(help_text="rule -> value")
    duration_s = models.PositiveIntegerField(
        null=True, help_text="seconds from the change to its way back; null = it stays"
    )
    version = models.ForeignKey(
        "scheduler.PolicyVersion",
        on_delete=models.CASCADE,
        related_name="planned",
        help_text="of a return: what it returns from; of a change: what was in force when it was planned",
    )
    reason = models.CharField(max_length=500)
    request_id = models.CharField(max_length=64, blank=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_by_name = models.CharField(max_length=150)
    created_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, help_text="null = it is still to come")
    end = models.CharField(max_length=12, choices=End.choices, blank=True)
    end_text = models.CharField(max_length=500, blank=True, help_text="why it was not carried out")

    class Meta:
        ordering = ["-id"]
        indexes = [
            models.Index(
                fields=["at"], condition=models.Q(ended_at__isnull=True), name="planned_change_by_moment"
            )
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["group"],
                condition=models.Q(ended_at__isnull=True),
                name="one_planned_change_is_open_in_a_group",
            ),
            models.CheckConstraint(
                condition=models.Q(ended_at__isnull=True, end="")
                | (models.Q(ended_at__isnull=False) & ~models.Q(end="")),
                name="planned_change_ends_with_a_word",
            ),
            models.CheckConstraint(condition=~models.Q(reason=""), name="planned_change_has_a_reason"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} of {self.group_id} at {self.at}"
