"""Queues: where sessions are submitted; they carry the cross-owner rules."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from scheduler.core import entities
from scheduler.models.policies import choices_of, is_one_of


class Queue(models.Model):
    """A queue. ``preemptible_queues`` empty = it never preempts across owners (XCE AC7)."""

    slug = models.SlugField(unique=True)
    description = models.CharField(max_length=200, blank=True)
    groups = models.ManyToManyField("scheduler.ResourceGroup", related_name="queues")
    default_priority = models.PositiveSmallIntegerField(
        null=True, blank=True, help_text="empty = its owner's policy"
    )
    max_priority = models.PositiveSmallIntegerField(default=100)
    preemptible = models.BooleanField(default=False, help_text="its sessions may be stopped by other queues")
    preemptible_queues = models.ManyToManyField(
        "self",
        symmetrical=False,
        blank=True,
        related_name="preempted_by",
        help_text="queues it may preempt from",
    )
    preempt_policy = models.CharField(max_length=64, blank=True, help_text="empty = lowest_priority_first")
    preemption_mode = models.CharField(
        max_length=12,
        choices=choices_of(entities.PreemptionMode),
        blank=True,
        help_text="empty = the group's",
    )
    state = models.CharField(
        max_length=12, choices=choices_of(entities.QueueState), default=entities.QueueState.OPEN.value
    )
    max_concurrent_sessions = models.PositiveIntegerField(null=True, blank=True)
    max_slots = models.JSONField(default=dict, blank=True, help_text="kind -> amount in the smallest unit")
    submit_users = models.ManyToManyField(
        settings.AUTH_USER_MODEL, blank=True, related_name="+", help_text="nobody named = every submitter"
    )
    submit_teams = models.ManyToManyField("auth.Group", blank=True, related_name="+")
    version = models.PositiveIntegerField(default=1)
    changed_by_name = models.CharField(max_length=150, blank=True)
    changed_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["slug"]
        constraints = [
            models.CheckConstraint(
                condition=is_one_of("state", entities.QueueState), name="queue_state_is_known"
            ),
            models.CheckConstraint(
                condition=models.Q(max_priority__lte=100), name="queue_cap_is_at_most_100"
            ),
            models.CheckConstraint(
                condition=models.Q(default_priority__lte=models.F("max_priority")),
                name="queue_default_priority_is_within_its_cap",
            ),
        ]

    def __str__(self) -> str:
        return self.slug
