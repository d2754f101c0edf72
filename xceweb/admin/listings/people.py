"""People, teams, roles, keypairs. No secret and no hash of one is shown."""

from __future__ import annotations

from django.contrib import admin
from django.contrib.auth.models import Group

from scheduler import models
from xceweb.admin import columns, subjects
from xceweb.admin.listing import Listing

LISTINGS = (
    Listing(
        model=models.User,
        columns=(
            "username",
            "first_name",
            "last_name",
            "email",
            "is_active",
            "is_superuser",
            "policy",
            "last_login",
        ),
        search=("username", "first_name", "last_name", "email"),
        searched="log-ins, names and addresses",
        filters=("is_active", "is_superuser", "policy", "groups"),
        hidden=("password", "user_permissions"),
        order=("username",),
        subjects=subjects.of_person,
    ),
    Listing(
        model=Group,
        columns=("name",),
        search=("name",),
        searched="names",
        hidden=("permissions",),
        order=("name",),
    ),
    Listing(
        model=models.GroupRole,
        columns=("group", "role", "user", "team"),
        search=("group__slug", "user__username", "team__name"),
        searched="groups, people and teams",
        filters=("role", "group"),
        joins=("group", "user", "team"),
        order=("group__slug", "role"),
        page=columns.page_of_roles,
        subjects=subjects.of_role,
    ),
    Listing(
        model=models.Keypair,
        columns=("access_key", "name", "user", "scope", columns.keypair_state, "expires_at", "last_used_at"),
        search=("access_key", "name", "user__username"),
        searched="access keys, names and people",
        filters=("scope", "is_active", ("expires_at", admin.EmptyFieldListFilter)),
        hidden=("secret_hash",),
        subjects=subjects.of_keypair,
    ),
    Listing(
        model=models.OwnerUsage,
        columns=("owner", "kind", "used"),
        search=("owner__username", "kind"),
        searched="people and kinds",
        filters=("kind",),
        order=("owner__username", "kind"),
    ),
    Listing(
        model=models.SavedView,
        columns=("user", "name", "query", "created_at"),
        search=("user__username", "name", "query"),
        searched="people, names and queries",
    ),
    Listing(
        model=models.IdempotentAnswer,
        columns=("user", "key", "status", "created_at"),
        search=("user__username", "key"),
        searched="people and keys",
        filters=("status",),
        hidden=("body",),
    ),
)
