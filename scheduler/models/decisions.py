"""Rounds, decisions with their victims and outcomes, reservations, and the latest reason of a wait."""

from __future__ import annotations

from django.db import models

from scheduler import ids
from scheduler.core import decisions, entities
from scheduler.models.policies import choices_of


class Round(models.Model):
    """
    One run of the scheduler over one group; only rounds that decided something are stored.

    The snapshot is stored whole, or as its difference to that of ``base``; retention empties it in the end.
    """

    group = models.ForeignKey("scheduler.ResourceGroup", on_delete=models.CASCADE, related_name="rounds")
    number = models.PositiveBigIntegerField()
    policy = models.ForeignKey("scheduler.PolicyVersion", on_delete=models.PROTECT, related_name="+")
    core_version = models.CharField(max_length=16)
    digest = models.CharField(max_length=64)
    snapshot = models.BinaryField(
        null=True,
        help_text="zlib of the canonical JSON, or of the difference to base; null = not kept any more",
    )
    base = models.ForeignKey(
        "self",
        null=True,
        on_delete=models.PROTECT,
        related_name="differences",
        help_text="whose snapshot this one is a difference to; null = whole",
    )
    outline = models.BinaryField(null=True, help_text="zlib of JSON: all decisions in short")
    at = models.DateTimeField()
    duration_ms = models.PositiveIntegerField()
    dispatched = models.PositiveIntegerField(default=0)
    pended = models.PositiveIntegerField(default=0)
    preempted = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ["-id"]
        constraints = [models.UniqueConstraint(fields=["group", "number"], name="round_is_unique_in_group")]

    def __str__(self) -> str:
        return f"round {self.number}"


class Decision(models.Model):
    """A decision to stop sessions, to wait for room, or (in shadow) what would have been. Append-only."""

    class Kind(models.TextChoices):
        PREEMPT = "preempt"
        WAIT = "wait"
        SHADOW = "shadow"

    public_id = models.UUIDField(default=ids.new_id, unique=True, editable=False)
    round = models.ForeignKey(Round, on_delete=models.PROTECT, related_name="decisions")
    group = models.ForeignKey("scheduler.ResourceGroup", on_delete=models.PROTECT, related_name="decisions")
    session = models.ForeignKey("scheduler.Session", on_delete=models.PROTECT, related_name="decisions")
    op = models.PositiveSmallIntegerField(choices=[(op.value, op.name) for op in decisions.DecisionOp])
    kind = models.CharField(max_length=8, choices=Kind.choices)
    axis = models.CharField(max_length=8, choices=choices_of(entities.Axis), blank=True)
    policy_name = models.CharField(max_length=64, blank=True)
    node = models.ForeignKey("scheduler.Node", on_delete=models.PROTECT, related_name="decisions")
    attempt = models.PositiveIntegerField()
    preemptor_value = models.IntegerField(null=True)
    record = models.JSONField(help_text="the core's decision, whole")
    at = models.DateTimeField()

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(fields=["round", "session", "op"], name="decision_is_unique_in_round")
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.public_id}"


class Victim(models.Model):
    """One session that a decision stops. The same-owner rule is the database's too (P07)."""

    decision = models.ForeignKey(Decision, on_delete=models.PROTECT, related_name="victims")
    session = models.ForeignKey("scheduler.Session", on_delete=models.PROTECT, related_name="victim_rows")
    position = models.PositiveSmallIntegerField()
    attempt = models.PositiveIntegerField()
    epoch = models.PositiveIntegerField()
    axis = models.CharField(max_length=8, choices=choices_of(entities.Axis))
    owner_id_then = models.BigIntegerField()
    preemptor_owner_id = models.BigIntegerField()
    own_value = models.IntegerField()
    preemptor_value = models.IntegerField()
    action = models.CharField(max_length=20, choices=choices_of(decisions.Action))
    mode = models.CharField(max_length=12, choices=choices_of(entities.PreemptionMode))
    signal = models.PositiveSmallIntegerField()
    grace_s = models.PositiveIntegerField()
    started_at_then = models.DateTimeField(null=True)

    class Meta:
        ordering = ["decision_id", "position"]
        constraints = [
            models.UniqueConstraint(fields=["decision", "session"], name="victim_is_unique_in_decision"),
            models.CheckConstraint(
                condition=~models.Q(axis=entities.Axis.OWNER.value)
                | models.Q(owner_id_then=models.F("preemptor_owner_id")),
                name="victim_on_the_owner_axis_has_the_same_owner",
            ),
            models.CheckConstraint(
                condition=models.Q(own_value__lt=models.F("preemptor_value")), name="victim_is_strictly_lower"
            ),
        ]


class VictimFate(models.Model):
    """What became of one victim. A row of its own, because victims are append-only."""

    class Fate(models.TextChoices):
        STOPPED = "stopped"
        FINISHED = "finished"  # ended by itself after the warning
        WITHDRAWN = "withdrawn"
        STOP_FAILED = "stop-failed"
        LOST = "lost"

    victim = models.OneToOneField(Victim, on_delete=models.PROTECT, related_name="fate")
    fate = models.CharField(max_length=12, choices=Fate.choices)
    evidence = models.JSONField(default=dict)
    at = models.DateTimeField()


class Handover(models.Model):
    """
    The stop of a victim, passed from its decision's preemptor to a next holder that could have ordered it (DESIGN 5.5).

    Mutable: it names who goes on with the stop now; the events keep who did before.
    """

    victim = models.OneToOneField(Victim, on_delete=models.PROTECT, related_name="handover")
    decision = models.ForeignKey(
        Decision,
        on_delete=models.PROTECT,
        related_name="handed",
        help_text="the decision whose reservation counts on the stop",
    )
    axis = models.CharField(max_length=8, choices=choices_of(entities.Axis))
    owner_id_then = models.BigIntegerField()
    holder_owner_id = models.BigIntegerField()
    own_value = models.IntegerField()
    holder_value = models.IntegerField()
    at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=~models.Q(axis=entities.Axis.OWNER.value)
                | models.Q(owner_id_then=models.F("holder_owner_id")),
                name="handover_on_the_owner_axis_has_the_same_owner",
            ),
            models.CheckConstraint(
                condition=models.Q(own_value__lt=models.F("holder_value")),
                name="handover_is_to_one_strictly_higher",
            ),
        ]


class Outcome(models.Model):
    """How a decision turned out (DESIGN 5.6). One per decision, written once."""

    class Kind(models.TextChoices):
        USED = "used"
        PARTLY = "partly"
        WASTED = "wasted"
        TRANSFERRED = "transferred"
        WITHDRAWN = "withdrawn"

    decision = models.OneToOneField(Decision, on_delete=models.PROTECT, related_name="outcome")
    kind = models.CharField(max_length=12, choices=Kind.choices)
    cause = models.CharField(max_length=64, blank=True)
    at = models.DateTimeField()


class GivenUp(models.Model):
    """A decision that was taken back while a victim's fate is open; deleted when the outcome is written."""

    decision = models.OneToOneField(Decision, on_delete=models.PROTECT, related_name="given_up")
    cause = models.CharField(max_length=64)

    class Meta:
        verbose_name_plural = "given up"


class ShadowCount(models.Model):
    """How often the same shadow decision came up again: the mutable part beside the append-only record."""

    decision = models.OneToOneField(Decision, on_delete=models.CASCADE, related_name="shadow")
    key = models.CharField(max_length=64)
    count = models.PositiveIntegerField(default=1)
    last_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["key"], name="shadow_episode_is_unique")]


class Reservation(models.Model):
    """Room kept for one pending session on one node, while it stands."""

    decision = models.OneToOneField(Decision, on_delete=models.PROTECT, related_name="reservation")
    session = models.OneToOneField("scheduler.Session", on_delete=models.PROTECT, related_name="reservation")
    node = models.ForeignKey("scheduler.Node", on_delete=models.PROTECT, related_name="reservations")
    slots = models.JSONField(help_text="kind -> amount asked")
    drawn = models.JSONField(
        default=dict, help_text="kind -> amount taken out of the node's free slots so far"
    )
    waits_for = models.ManyToManyField("scheduler.Session", related_name="promised_to")
    inherits = models.ManyToManyField(
        Decision, related_name="passed_to", help_text="decisions taken over with their stops"
    )
    deadline = models.DateTimeField()
    is_consumed = models.BooleanField(
        default=False, help_text="its session is SCHEDULED on it; a failed start restores"
    )


class NodeBackoff(models.Model):
    """After an expiry a node is closed to one session's preemption and wait, doubling from 1 to 16 minutes."""

    session = models.ForeignKey("scheduler.Session", on_delete=models.CASCADE, related_name="backoffs")
    node = models.ForeignKey("scheduler.Node", on_delete=models.CASCADE, related_name="+")
    minutes = models.PositiveSmallIntegerField(default=1)
    until = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["session", "node"], name="backoff_is_unique")]


class Claim(models.Model):
    """Nodes kept for a session that has waited too long; it lasts until the session starts, ends, is held or edited."""

    session = models.OneToOneField("scheduler.Session", on_delete=models.CASCADE, related_name="claim")
    nodes = models.ManyToManyField("scheduler.Node", related_name="claims")
    since = models.DateTimeField()


class PreemptionEdge(models.Model):
    """``winner`` took something from ``loser`` by this decision; a cycle of edges is never closed."""

    decision = models.ForeignKey(Decision, on_delete=models.PROTECT, related_name="edges")
    winner = models.ForeignKey("scheduler.Session", on_delete=models.PROTECT, related_name="edges_won")
    loser = models.ForeignKey("scheduler.Session", on_delete=models.PROTECT, related_name="edges_lost")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["decision", "loser"], name="edge_is_unique_in_decision")
        ]


class PendReason(models.Model):
    """The latest headline reason of a waiting session: the one mutable explanation."""

    session = models.OneToOneField("scheduler.Session", on_delete=models.CASCADE, related_name="pend_reason")
    reason = models.CharField(max_length=32)
    facts = models.JSONField(default=dict)
    nodes = models.JSONField(default=list)
    candidates = models.JSONField(default=list)
    since = models.DateTimeField(help_text="since when this headline stands")
    seen_at = models.DateTimeField(help_text="when a round last confirmed or changed it")
    round_number = models.PositiveBigIntegerField(default=0)
