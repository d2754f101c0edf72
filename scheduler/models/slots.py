"""Kinds of slots that an installation knows."""

from __future__ import annotations

from django.core import validators
from django.db import models


class SlotKind(models.Model):
    """A kind with its scale; ``cpu``, ``mem`` and ``cuda.device`` are there from the first migration."""

    name = models.CharField(
        max_length=64, unique=True, validators=[validators.RegexValidator(r"^[a-z][a-z0-9._-]*\Z")]
    )
    scale = models.PositiveBigIntegerField(
        default=1, help_text="smallest units in one unit that people write"
    )
    is_bytes = models.BooleanField(default=False)
    is_indexed = models.BooleanField(default=False)
    unit = models.CharField(max_length=32, blank=True)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.CheckConstraint(condition=models.Q(scale__gte=1), name="slot_kind_scale_is_positive")
        ]

    def __str__(self) -> str:
        return self.name
