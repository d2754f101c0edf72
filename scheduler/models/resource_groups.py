"""Resource groups and the roles that people have in them."""

from __future__ import annotations

from django.conf import settings
from django.db import models


class ResourceGroup(models.Model):
    """A set of nodes that overlaps no other; rounds, preemption and its switch are per group."""

    slug = models.SlugField(unique=True)
    description = models.CharField(max_length=200, blank=True)
    policy = models.ForeignKey(
        "scheduler.PolicyVersion", null=True, on_delete=models.PROTECT, related_name="+", help_text="in force"
    )

    class Meta:
        ordering = ["slug"]

    def __str__(self) -> str:
        return self.slug


class GroupRounds(models.Model):
    """
    Requests for rounds and the last round of one group.

    A row of its own, locked just before the event counter, so that asking for a round never waits for a reader of the
    group's policy.
    """

    group = models.OneToOneField(ResourceGroup, on_delete=models.CASCADE, related_name="rounds_state")
    asked = models.PositiveBigIntegerField(default=0, help_text="rounds asked for so far")
    served = models.PositiveBigIntegerField(default=0, help_text="the last request that a round has seen")
    last_number = models.PositiveBigIntegerField(default=0)
    last_at = models.DateTimeField(null=True)
    last_ms = models.PositiveIntegerField(default=0)
    last_due = models.PositiveBigIntegerField(
        default=0,
        db_default=0,
        help_text="number of the last moment at which a round was due without being asked for",
    )

    class Meta:
        verbose_name_plural = "group rounds"

    def __str__(self) -> str:
        return f"rounds of {self.group_id}"


class GroupRole(models.Model):
    """What one person, or everybody in one Django group, may do in one resource group (DESIGN section 9)."""

    class Role(models.TextChoices):
        VIEWER = "viewer"
        SUBMITTER = "submitter"
        OPERATOR = "operator"
        MANAGER = "manager"

    group = models.ForeignKey(ResourceGroup, on_delete=models.CASCADE, related_name="roles")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.CASCADE)
    team = models.ForeignKey("auth.Group", null=True, blank=True, on_delete=models.CASCADE)
    role = models.CharField(max_length=12, choices=Role.choices)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(user__isnull=False, team__isnull=True)
                | models.Q(user__isnull=True, team__isnull=False),
                name="group_role_is_of_a_user_or_of_a_team",
            ),
            models.UniqueConstraint(fields=["group", "user"], name="one_role_of_a_user_in_a_group"),
            models.UniqueConstraint(fields=["group", "team"], name="one_role_of_a_team_in_a_group"),
        ]

    def __str__(self) -> str:
        return f"{self.user or self.team} is {self.role} of {self.group}"
