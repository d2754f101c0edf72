"""People: what they may ask for, that they can log in, and their roles in groups. Each change is audited (P05)."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import Group as Team
from django.db import IntegrityError

from scheduler import errors, models
from scheduler.selectors import permissions
from scheduler.services import actors, audit, caps, checks, locks, priorities
from scheduler.services import work as unit

_POLICY_FIELDS = (
    "max_priority",
    "default_priority",
    "max_concurrent_sessions",
    "max_slots",
    "may_opt_out",
)


def create_resource_policy(actor: actors.Actor, name: str, **columns: Any) -> models.KeypairResourcePolicy:
    """Create a policy of what its people and keypairs may ask for."""
    checks.require_administrator(actor, "create a resource policy")
    with unit.begin(actor) as work:
        row = models.KeypairResourcePolicy(name=name)
        _set(row, columns)
        row.save()
        audit.record_change(
            work,
            audit.Subject("keypair resource policy", name),
            before={},
            after={"name": name, **columns},
        )
    return row


def change_resource_policy(
    actor: actors.Actor, policy: models.KeypairResourcePolicy, *, changes: dict[str, Any], reason: str
) -> models.KeypairResourcePolicy:
    """
    Change what the people and keypairs of a policy may ask for; a cap that is lowered holds for what waits already.

    Raises:
        NotAllowed: the actor is no administrator.
        Refusal: no reason, an unknown field, or a value that cannot be.
    """
    checks.require_administrator(actor, "change a resource policy")
    reason = checks.checked_reason(reason)
    if unknown := sorted(set(changes) - set(_POLICY_FIELDS)):
        raise errors.Refusal(code="invalid", fields=dict.fromkeys(unknown, "there is no such field"))
    with unit.begin(actor) as work:
        locks.change_caps()
        row = models.KeypairResourcePolicy.objects.select_for_update(no_key=True).get(pk=policy.pk)
        before = {name: getattr(row, name) for name in changes}
        _set(row, changes)
        row.save()
        subject = audit.Subject("keypair resource policy", row.name)
        audit.record_change(work, subject, before=before, after=dict(changes), reason=reason)
        if "max_priority" in changes:
            caps.apply_policy(work, row, before=before["max_priority"])
    return row


def _set(row: models.KeypairResourcePolicy, columns: dict[str, Any]) -> None:
    priorities.check_limits(columns)
    for name, value in columns.items():
        setattr(row, name, value)
    checks.checked(row)


def create_user(
    actor: actors.Actor,
    username: str,
    *,
    password: str,
    policy: models.KeypairResourcePolicy | None = None,
    is_administrator: bool = False,
) -> models.User:
    """Create a person who can log in."""
    checks.require_administrator(actor, "create a person")
    with unit.begin(actor) as work:
        try:
            user = models.User.objects.create_user(
                username,
                password=password,
                policy=policy,
                is_staff=is_administrator,
                is_superuser=is_administrator,
            )
        except IntegrityError:
            text = f"there is a person {username!r} already"
            raise errors.Refusal(code="exists", fields={"username": text}) from None
        after = {"policy": policy.name if policy else None, "is_administrator": is_administrator}
        audit.record_change(work, audit.Subject("person", username), before={}, after=after)
    return user


def set_role(
    actor: actors.Actor,
    group: models.ResourceGroup,
    role: str,
    *,
    user: models.User | None = None,
    team: Team | None = None,
) -> models.GroupRole:
    """Give a person or a team a role in a group, in place of the one they had there."""
    if actor.user is not None:
        permissions.require(permissions.can_change_policy(actor.user, group), f"give roles in {group.slug}")
    if (user is None) == (team is None) or role not in models.GroupRole.Role.values:
        raise errors.Refusal(code="invalid", fields={"role": "name a person or a team, and a role"})
    who = user.get_username() if user else f"team {team}"
    with unit.begin(actor) as work:
        row = models.GroupRole.objects.filter(group=group, user=user, team=team).first()
        before = {"role": row.role} if row else {}
        row = row or models.GroupRole(group=group, user=user, team=team)
        row.role = role
        row.save()
        audit.record_change(
            work,
            audit.Subject("role", f"{who} in {group.slug}", group),
            before=before,
            after={"role": role},
        )
    return row
