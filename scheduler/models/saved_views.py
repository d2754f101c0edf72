"""Queries that people keep by name."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from scheduler import ids


class SavedView(models.Model):
    """One query of one person, in the language of ``selectors.session_query``; nobody else sees it."""

    public_id = models.UUIDField(default=ids.new_id, unique=True, editable=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="saved_views")
    name = models.CharField(max_length=60)
    query = models.CharField(max_length=500)
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["user", "name"], name="saved_view_is_unique_by_name")]

    def __str__(self) -> str:
        return self.name
