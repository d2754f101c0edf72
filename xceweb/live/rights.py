"""
Ringing the live connections of people whose log-in, keypairs or roles have changed: they are looked at again at once.

Whatever saves a person, a keypair, a role or a membership rings after its commit: pages, services, commands and
consoles alike. A bell may be lost; then the connections' own timer finds it out, as it does changes by bare SQL.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.contrib.auth.models import Group as Team
from django.db import transaction
from django.db.models import signals

from scheduler import models
from scheduler.services import bells

#: What of a person decides about sockets; a saved time of log-in or theme does not.
_DECISIVE = {"password", "is_active", "is_superuser"}


def changed(user_ids: Iterable[int]) -> None:
    """Ring for some people once the transaction is committed, at once where there is none."""
    known = sorted(set(user_ids))
    if known:
        transaction.on_commit(lambda: bells.ring_rights(known))


def connect() -> None:
    """Listen to what is saved, once for each process."""
    signals.post_save.connect(_person_saved, sender=models.User, dispatch_uid="rights-person")
    for signal in (signals.post_save, signals.post_delete):
        signal.connect(_keypair_changed, sender=models.Keypair, dispatch_uid="rights-keypair")
        signal.connect(_role_changed, sender=models.GroupRole, dispatch_uid="rights-role")
    signals.m2m_changed.connect(
        _membership_changed, sender=models.User.groups.through, dispatch_uid="rights-team"
    )


def _person_saved(instance: models.User, created: bool, **more: Any) -> None:
    fields = more.get("update_fields")
    if not created and (fields is None or _DECISIVE & set(fields)):
        changed([instance.pk])


def _keypair_changed(instance: models.Keypair, created: bool = False, **_: Any) -> None:
    if not created:
        changed([instance.user_id])


def _role_changed(instance: models.GroupRole, **_: Any) -> None:
    if instance.user_id is not None:
        changed([instance.user_id])
    elif instance.team_id is not None:
        changed(models.User.objects.filter(groups=instance.team_id).values_list("pk", flat=True))


def _membership_changed(instance: models.User | Team, action: str, pk_set: set[int] | None, **_: Any) -> None:
    """Tell the person of the teams, or the people of the team; a team that is emptied tells who was in it."""
    if action not in ("post_add", "post_remove", "pre_clear", "post_clear"):
        return
    if isinstance(instance, models.User):
        changed([instance.pk])
    else:
        changed(pk_set or instance.user_set.values_list("pk", flat=True))
