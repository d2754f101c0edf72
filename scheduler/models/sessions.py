"""Sessions, their runs, and what they hold."""

from __future__ import annotations

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.core import validators
from django.db import models

from scheduler import ids
from scheduler.core import entities, states
from scheduler.models.policies import choices_of, is_one_of


class Session(models.Model):
    """One session of one owner. ``state`` is written by ``services.transitions`` alone."""

    public_id = models.UUIDField(default=ids.new_id, unique=True, editable=False)
    name = models.CharField(max_length=100)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="sessions")
    queue = models.ForeignKey("scheduler.Queue", on_delete=models.PROTECT, related_name="sessions")
    group = models.ForeignKey("scheduler.ResourceGroup", on_delete=models.PROTECT, related_name="sessions")
    type = models.CharField(
        max_length=12, choices=choices_of(entities.SessionType), default=entities.SessionType.BATCH.value
    )
    is_private = models.BooleanField(default=False)
    argv = ArrayField(models.CharField(max_length=4096), default=list, blank=True)
    script = models.TextField(blank=True, max_length=65_536)
    environment = models.JSONField(default=dict, blank=True)
    workdir = models.CharField(max_length=1024, blank=True)
    slots = models.JSONField(help_text="kind -> amount on each node, in the smallest unit")
    node_count = models.PositiveIntegerField(default=1)
    required_labels = models.JSONField(default=dict, blank=True, help_text="label -> accepted values")
    priority = models.SmallIntegerField(default=10)
    priority_cap = models.SmallIntegerField(default=100)
    job_priority = models.IntegerField(default=10)
    is_preemptible = models.BooleanField(default=True)
    warning_signal = models.PositiveSmallIntegerField(default=15)
    grace_period = models.PositiveIntegerField(
        null=True, blank=True, help_text="own grace, up to the group's"
    )
    exit_0_after_warning = models.CharField(
        max_length=12,
        choices=[("finished", "finished"), ("checkpointed", "checkpointed")],
        default="finished",
    )
    restartable = models.BooleanField(default=True)
    begin_at = models.DateTimeField(null=True, blank=True)
    wall_limit = models.PositiveIntegerField(
        null=True, blank=True, help_text="seconds", validators=[validators.MinValueValidator(1)]
    )
    port = models.PositiveIntegerField(
        null=True,
        blank=True,
        help_text="where it listens on its node",
        validators=[validators.MinValueValidator(1), validators.MaxValueValidator(65_535)],
    )
    is_held = models.BooleanField(default=False)

    state = models.CharField(
        max_length=12,
        choices=[(state.value, state.value) for state in states.SessionState],
        default=states.SessionState.PENDING.value,
    )
    state_version = models.PositiveIntegerField(default=0)
    state_since = models.DateTimeField()
    state_deadline = models.DateTimeField(null=True, help_text="when a transitional state must have ended")
    result = models.CharField(max_length=12, blank=True)
    result_reason = models.CharField(max_length=64, blank=True)
    attempt = models.PositiveIntegerField(default=1)
    epoch = models.PositiveIntegerField(default=0)
    submitted_at = models.DateTimeField()
    started_at = models.DateTimeField(null=True, help_text="last start or resume")
    ended_at = models.DateTimeField(null=True)
    waiting_since = models.DateTimeField(null=True, help_text="lacks slots without a break since")
    exit_code = models.IntegerField(null=True)
    exit_signal = models.IntegerField(null=True)
    times_preempted = models.PositiveIntegerField(default=0)
    stop_failed_since_start = models.BooleanField(default=False)
    dispatch_failures = models.PositiveIntegerField(default=0, help_text="in a row; held after five")
    is_resume = models.BooleanField(default=False, help_text="SCHEDULED: by a resume, not by a start")
    stop_goal = models.CharField(
        max_length=12, blank=True, help_text="being stopped: suspend, reschedule, terminate; TERMINATING: end"
    )
    stop_releases = ArrayField(
        models.CharField(max_length=64),
        null=True,
        help_text="kinds that its suspend frees; null = every kind",
    )
    ended_nodes = ArrayField(
        models.BigIntegerField(), default=list, help_text="multi-node: nodes whose end is proven"
    )
    is_stuck = models.BooleanField(
        default=False, help_text="its stop was not proven in time; it still holds its slots"
    )
    is_counted = models.BooleanField(default=False, help_text="counts towards session limits now")
    end_result = models.CharField(max_length=12, blank=True, help_text="TERMINATING: the result to come")

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.CheckConstraint(
                condition=is_one_of("state", states.SessionState), name="session_state_is_known"
            ),
            models.CheckConstraint(
                condition=models.Q(priority__gte=0, priority__lte=100), name="session_priority_is_0_to_100"
            ),
            models.CheckConstraint(
                condition=models.Q(priority__lte=models.F("priority_cap")),
                name="session_priority_is_within_its_cap",
            ),
            models.CheckConstraint(
                condition=models.Q(state=states.SessionState.TERMINATED.value, ended_at__isnull=False)
                & ~models.Q(result="")
                | ~models.Q(state=states.SessionState.TERMINATED.value)
                & models.Q(result="", ended_at__isnull=True),
                name="session_result_stands_exactly_when_ended",
            ),
            models.CheckConstraint(
                condition=models.Q(argv__len__gt=0, script="") | models.Q(argv__len=0) & ~models.Q(script=""),
                name="session_has_a_command_or_a_script",
            ),
        ]
        indexes = [
            models.Index(
                fields=["group", "state"],
                condition=~models.Q(state=states.SessionState.TERMINATED.value),
                name="session_live",
            ),
            models.Index(fields=["owner", "-id"], name="session_by_owner"),
            models.Index(fields=["group", "-id"], name="session_by_group"),
            models.Index(fields=["state", "-ended_at"], name="session_by_end"),
        ]

    def __str__(self) -> str:
        return f"{self.name} ({self.public_id})"


class SessionDependency(models.Model):
    """``session`` waits for ``other``."""

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="dependencies")
    other = models.ForeignKey(Session, on_delete=models.PROTECT, related_name="dependants")
    kind = models.CharField(max_length=8, choices=[("afterok", "afterok"), ("afterany", "afterany")])

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["session", "other"], name="session_dependency_is_unique"),
            models.CheckConstraint(
                condition=~models.Q(session=models.F("other")), name="session_does_not_wait_for_itself"
            ),
        ]


class Run(models.Model):
    """One attempt of a session: where, when, how it ended, what it cost."""

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="runs")
    attempt = models.PositiveIntegerField()
    epoch = models.PositiveIntegerField()
    node_names = ArrayField(models.CharField(max_length=64), default=list)
    dispatched_at = models.DateTimeField()
    started_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    how_ended = models.CharField(
        max_length=24, blank=True, help_text="finished, failed, preempted, cancelled, lost ..."
    )
    exit_code = models.IntegerField(null=True)
    exit_signal = models.IntegerField(null=True)
    cpu_ms = models.BigIntegerField(null=True)
    peak_bytes = models.BigIntegerField(null=True)
    ran_ms = models.BigIntegerField(null=True)
    was_checkpointed = models.BooleanField(default=False)

    class Meta:
        ordering = ["session_id", "attempt"]
        constraints = [
            models.UniqueConstraint(fields=["session", "attempt"], name="run_is_unique_in_session")
        ]


class Allocation(models.Model):
    """What one session holds on one node now; deleted when nothing is held any more."""

    session = models.ForeignKey(Session, on_delete=models.PROTECT, related_name="allocations")
    node = models.ForeignKey("scheduler.Node", on_delete=models.PROTECT, related_name="allocations")
    slots = models.JSONField(help_text="kind -> amount held now")
    indices = models.JSONField(default=dict, help_text="indexed kind -> device indices held now")
    full_slots = models.JSONField(
        help_text="kind -> amount that it holds while it runs; a resume gets it back"
    )
    full_indices = models.JSONField(default=dict)
    since = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["session", "node"], name="allocation_is_unique")]


class SessionOutput(models.Model):
    """The last lines of an attempt's output; the whole stays on the node."""

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="outputs")
    attempt = models.PositiveIntegerField()
    tail = models.TextField(blank=True)
    size = models.BigIntegerField(default=0)
    is_truncated = models.BooleanField(default=False)
    updated_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["session", "attempt"], name="output_is_unique_in_session")
        ]


class RankOutput(models.Model):
    """The last lines of a further node of an attempt on several; those of the first are the session's own output."""

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="rank_outputs")
    attempt = models.PositiveIntegerField()
    rank = models.PositiveIntegerField(help_text="place of its node in the run, from 1")
    tail = models.TextField(blank=True)
    size = models.BigIntegerField(default=0)
    is_truncated = models.BooleanField(default=False)
    updated_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["session", "attempt", "rank"], name="output_is_unique_in_session_and_rank"
            ),
            models.CheckConstraint(condition=models.Q(rank__gt=0), name="output_rank_is_of_a_further_node"),
        ]


class OutputPage(models.Model):
    """One page of an attempt's output as a node sent it, or what was asked for; kept for an hour."""

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="output_pages")
    attempt = models.PositiveIntegerField()
    rank = models.PositiveIntegerField(db_default=0, default=0, help_text="place of its node in the run")
    offset = models.BigIntegerField(help_text="its first byte")
    request = models.UUIDField(unique=True, help_text="command id of the last request")
    asked_at = models.DateTimeField()
    came_at = models.DateTimeField(null=True)
    text = models.TextField(blank=True)
    next_offset = models.BigIntegerField(default=0, help_text="first byte after it")
    size = models.BigIntegerField(default=0, help_text="bytes of the whole output then")
    is_gone = models.BooleanField(default=False, help_text="its node does not have the output any more")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["session", "attempt", "rank", "offset"], name="output_page_is_unique_in_rank"
            )
        ]
