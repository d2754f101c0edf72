"""Nodes, their slots and devices. The database itself refuses to over-allocate (P01)."""

from __future__ import annotations

from django.db import models

from scheduler.core import entities
from scheduler.models.policies import choices_of, is_one_of


class Node(models.Model):
    """A machine with a capacity of slots."""

    name = models.SlugField(unique=True)
    group = models.ForeignKey("scheduler.ResourceGroup", on_delete=models.PROTECT, related_name="nodes")
    state = models.CharField(
        max_length=12, choices=choices_of(entities.NodeState), default=entities.NodeState.READY.value
    )
    state_reason = models.CharField(max_length=500, blank=True)
    max_sessions = models.PositiveIntegerField(null=True, blank=True)
    labels = models.JSONField(default=dict, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.CheckConstraint(
                condition=is_one_of("state", entities.NodeState), name="node_state_is_known"
            )
        ]

    def __str__(self) -> str:
        return self.name


class NodeSlot(models.Model):
    """One kind on one node: capacity, what sessions hold, and what is drawn for reservations."""

    node = models.ForeignKey(Node, on_delete=models.CASCADE, related_name="slots")
    kind = models.CharField(max_length=64)
    capacity = models.BigIntegerField()
    allocated = models.BigIntegerField(default=0)
    reserved = models.BigIntegerField(default=0)

    class Meta:
        ordering = ["node_id", "kind"]
        constraints = [
            models.UniqueConstraint(fields=["node", "kind"], name="node_slot_is_unique"),
            models.CheckConstraint(
                condition=models.Q(allocated__gte=0, reserved__gte=0, capacity__gte=0),
                name="node_slot_is_never_negative",
            ),
            models.CheckConstraint(
                condition=models.Q(allocated__lte=models.F("capacity") - models.F("reserved")),
                name="node_slot_never_over_allocated",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.node_id} {self.kind}"


class NodeDevice(models.Model):
    """One indexed device: held by at most one session, or drawn for at most one reservation."""

    node = models.ForeignKey(Node, on_delete=models.CASCADE, related_name="devices")
    kind = models.CharField(max_length=64)
    index = models.PositiveIntegerField()
    session = models.ForeignKey(
        "scheduler.Session", null=True, on_delete=models.PROTECT, related_name="devices"
    )
    reservation = models.ForeignKey(
        "scheduler.Reservation", null=True, on_delete=models.PROTECT, related_name="devices"
    )

    class Meta:
        ordering = ["node_id", "kind", "index"]
        constraints = [
            models.UniqueConstraint(fields=["node", "kind", "index"], name="node_device_is_unique"),
            models.CheckConstraint(
                condition=models.Q(session__isnull=True) | models.Q(reservation__isnull=True),
                name="node_device_has_one_holder",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.node_id} {self.kind} {self.index}"
