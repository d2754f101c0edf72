"""People and their keypairs."""

from __future__ import annotations

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

    access_key = models.CharField(max_length=32, unique=True)
    secret_hash = models.CharField(max_length=128)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="keypairs")
    policy = models.ForeignKey(
        "scheduler.KeypairResourcePolicy", on_delete=models.PROTECT, related_name="keypairs"
    )
    is_active = models.BooleanField(default=True)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return self.access_key
