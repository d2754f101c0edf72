"""People and their keypairs."""

from __future__ import annotations

import datetime

from django.conf import settings
from django.contrib.auth.models import AbstractUser
from django.db import models


class User(AbstractUser):
    """A person. An administrator is a superuser; every other right comes from roles in resource groups."""

    policy = models.ForeignKey(
        "scheduler.KeypairResourcePolicy",
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="users",
    )
    theme = models.CharField(max_length=8, default="system")

    class Meta(AbstractUser.Meta):
        pass


class Keypair(models.Model):
    """An access key with a hashed secret; authenticates the API as its user, under its policy."""

    class Scope(models.TextChoices):
        """What requests with this keypair may do, at most: never more than its user may."""

        READ = "read"
        SESSIONS = "sessions"  #: read, submit, and act on sessions
        FULL = "full"

    name = models.CharField(max_length=100, default="", db_default="", help_text="what its owner calls it")
    access_key = models.CharField(max_length=32, unique=True)
    secret_hash = models.CharField(max_length=128)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="keypairs")
    policy = models.ForeignKey(
        "scheduler.KeypairResourcePolicy",
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="keypairs",
        help_text="empty = its user's",
    )
    scope = models.CharField(
        max_length=12, choices=Scope.choices, default=Scope.SESSIONS, db_default="sessions"
    )
    is_active = models.BooleanField(default=True)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return self.access_key


class IdempotentAnswer(models.Model):
    """What a request with an Idempotency-Key was answered, for a day: the same request again gets the same answer."""

    #: For how long the same request gets the same answer.
    KEPT = datetime.timedelta(days=1)

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    key = models.CharField(max_length=255)
    fingerprint = models.CharField(max_length=64, help_text="SHA-256 of method, path and body")
    status = models.PositiveSmallIntegerField(default=0, help_text="0 = being answered")
    body = models.JSONField(default=dict)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["user", "key"], name="idempotency_key_is_unique_for_a_user")
        ]
        indexes = [models.Index(fields=["created_at"], name="idempotent_answer_by_age")]
