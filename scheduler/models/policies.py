"""Versioned rules of a resource group, and what a keypair may do."""

from __future__ import annotations

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.core import validators
from django.db import models

from scheduler.core import entities


def choices_of(enum_class: type) -> list[tuple[str, str]]:
    """Return Django choices for a core enum."""
    return [(member.value, member.value.replace("_", " ").replace("-", " ")) for member in enum_class]


def is_one_of(field: str, enum_class: type) -> models.Q:
    """Return the condition that a column holds a member of a core enum."""
    return models.Q(**{f"{field}__in": [member.value for member in enum_class]})


class PolicyVersion(models.Model):
    """One version of a group's rules: never changed, only followed by the next (DESIGN section 2)."""

    #: fields that a change may set; the audit, the form and the API are made from this list
    RULES = (
        "preemption_state",
        "preemption_mode",
        "preemption_order",
        "preemption_scope",
        "preemption_min_runtime",
        "grace_period",
        "suspend_grace",
        "in_flight_timeout",
        "max_preemptions_per_session",
        "cancel_unconfirmed_dispatch",
        "suspend_releases",
        "requeue_suspended",
        "max_suspend_time",
        "max_suspended_per_node",
        "starvation_after",
        "default_is_preemptible",
        "placement",
        "silent_node",
        "starting",
    )

    group = models.ForeignKey(
        "scheduler.ResourceGroup", on_delete=models.CASCADE, related_name="policy_versions"
    )
    version = models.PositiveIntegerField()
    preemption_state = models.CharField(
        max_length=8, choices=choices_of(entities.PreemptionState), default=entities.PreemptionState.OFF.value
    )
    preemption_mode = models.CharField(
        max_length=12,
        choices=choices_of(entities.PreemptionMode),
        default=entities.PreemptionMode.TERMINATE.value,
    )
    preemption_order = models.CharField(
        max_length=20,
        choices=choices_of(entities.PreemptionOrder),
        default=entities.PreemptionOrder.OLDEST.value,
    )
    preemption_scope = models.CharField(
        max_length=20,
        choices=choices_of(entities.PreemptionScope),
        default=entities.PreemptionScope.OWNER_THEN_QUEUE.value,
    )
    preemption_min_runtime = models.PositiveIntegerField(default=0, help_text="seconds; 0 = off")
    grace_period = models.PositiveIntegerField(
        default=10,
        validators=[validators.MaxValueValidator(86_400)],
        help_text="seconds from warning to kill",
    )
    suspend_grace = models.PositiveIntegerField(
        default=2,
        validators=[validators.MaxValueValidator(3_600)],
        help_text="seconds from SIGTSTP to SIGSTOP",
    )
    in_flight_timeout = models.PositiveIntegerField(
        default=60, validators=[validators.MaxValueValidator(86_400)], help_text="seconds beyond the grace"
    )
    max_preemptions_per_session = models.PositiveIntegerField(null=True, blank=True)
    cancel_unconfirmed_dispatch = models.BooleanField(default=False)
    suspend_releases = ArrayField(
        models.CharField(max_length=64),
        null=True,
        blank=True,
        help_text="kinds that a suspend frees; empty = every kind",
    )
    requeue_suspended = models.BooleanField(default=False)
    max_suspend_time = models.PositiveIntegerField(null=True, blank=True, help_text="seconds")
    max_suspended_per_node = models.PositiveIntegerField(null=True, blank=True)
    starvation_after = models.PositiveIntegerField(default=1800, help_text="seconds; 0 = off")
    default_is_preemptible = models.BooleanField(default=True)
    placement = models.CharField(
        max_length=16, choices=choices_of(entities.Placement), default=entities.Placement.CONCENTRATED.value
    )
    silent_node = models.CharField(
        max_length=8, choices=[("keep", "keep"), ("fence", "fence")], default="keep"
    )
    starting = models.BooleanField(default=True, help_text="off = emergency: nothing new starts")
    reason = models.CharField(max_length=500)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_by_name = models.CharField(max_length=150)
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["-version"]
        constraints = [
            models.UniqueConstraint(fields=["group", "version"], name="policy_version_is_unique_in_group"),
            models.CheckConstraint(
                condition=is_one_of("preemption_state", entities.PreemptionState),
                name="policy_state_is_known",
            ),
            models.CheckConstraint(
                condition=is_one_of("preemption_mode", entities.PreemptionMode), name="policy_mode_is_known"
            ),
            models.CheckConstraint(
                condition=is_one_of("preemption_order", entities.PreemptionOrder),
                name="policy_order_is_known",
            ),
            models.CheckConstraint(
                condition=is_one_of("preemption_scope", entities.PreemptionScope),
                name="policy_scope_is_known",
            ),
            models.CheckConstraint(condition=~models.Q(reason=""), name="policy_change_has_a_reason"),
        ]

    def __str__(self) -> str:
        return f"{self.group_id} v{self.version}"


class KeypairResourcePolicy(models.Model):
    """What a keypair, or a person in the web UI, may ask for."""

    name = models.SlugField(unique=True)
    max_priority = models.PositiveSmallIntegerField(default=100)
    default_priority = models.PositiveSmallIntegerField(default=10)
    max_concurrent_sessions = models.PositiveIntegerField(null=True, blank=True)
    max_slots = models.JSONField(default=dict, blank=True, help_text="kind -> amount in the smallest unit")
    may_opt_out = models.BooleanField(default=True, help_text="its sessions may opt out of being preempted")

    class Meta:
        verbose_name_plural = "keypair resource policies"
        constraints = [
            models.CheckConstraint(
                condition=models.Q(max_priority__lte=100), name="policy_cap_is_at_most_100"
            ),
            models.CheckConstraint(
                condition=models.Q(default_priority__lte=100), name="policy_default_priority_is_at_most_100"
            ),
        ]

    def __str__(self) -> str:
        return self.name
