"""What administrators tell everybody."""

from __future__ import annotations

from django.db import models


class Announcement(models.Model):
    """A few words that stand above every page, until a moment or until they are ended."""

    class Tone(models.TextChoices):
        INFO = "info"
        WARNING = "warning"

    text = models.CharField(max_length=500)
    tone = models.CharField(max_length=8, choices=Tone.choices, default=Tone.INFO)
    made_at = models.DateTimeField()
    made_by_name = models.CharField(max_length=150)
    until = models.DateTimeField(null=True, help_text="empty = until it is ended")
    ended_at = models.DateTimeField(null=True, help_text="empty = nobody has ended it")

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.CheckConstraint(condition=~models.Q(text=""), name="announcement_says_something")
        ]

    def __str__(self) -> str:
        return self.text[:60]
