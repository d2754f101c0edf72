"""
Who may see and do what: the one set of functions that every way in uses (DESIGN section 9).

What somebody may not see does not exist for them: ``require_*`` raises NotVisible (404) then, and NotAllowed (403)
only for things that they see but may not change.
"""

from __future__ import annotations

import enum

from django.contrib.auth.models import AnonymousUser
from django.db.models import Q, QuerySet

from scheduler import errors, models

Role = models.GroupRole.Role
_RANK = {Role.VIEWER: 1, Role.SUBMITTER: 2, Role.OPERATOR: 3, Role.MANAGER: 4}
Viewer = models.User | AnonymousUser


class Sight(enum.IntEnum):
    """How much of one session somebody sees."""

    NONE = 0
    SUMMARY = 1  #: state, size, queue, times
    OPERATIONS = 2  #: all but environment and output
    FULL = 3


def is_administrator(user: Viewer) -> bool:
    """Say whether the person administers the whole installation."""
    return bool(user.is_active and user.is_superuser)


def roles_of(user: Viewer) -> dict[int, Role]:
    """
    Return resource group id -> the strongest role, own or by a team. One query; an administrator gets {}.

    A page that asks often reads them once and keeps them as ``known_roles`` on the person of its request.
    """
    if not user.is_active or user.pk is None:
        return {}
    known: dict[int, Role] | None = getattr(user, "known_roles", None)
    if known is not None:
        return known
    rows = models.GroupRole.objects.filter(Q(user=user) | Q(team__in=user.groups.all()))
    roles: dict[int, Role] = {}
    for group_id, name in rows.values_list("group_id", "role"):
        role = Role(name)
        if group_id not in roles or _RANK[role] > _RANK[roles[group_id]]:
            roles[group_id] = role
    return roles


def role_in(user: Viewer, group: models.ResourceGroup) -> Role | None:
    """Return the strongest role in one group; an administrator counts as manager; None = outsider."""
    if is_administrator(user):
        return Role.MANAGER
    return roles_of(user).get(group.pk)


def _has(user: Viewer, group: models.ResourceGroup, least: Role) -> bool:
    role = role_in(user, group)
    return role is not None and _RANK[role] >= _RANK[least]


def visible_groups(user: Viewer) -> QuerySet[models.ResourceGroup]:
    """Return the groups whose pages the person may open."""
    if is_administrator(user):
        return models.ResourceGroup.objects.all()
    return models.ResourceGroup.objects.filter(pk__in=roles_of(user))


def visible_sessions(user: Viewer) -> QuerySet[models.Session]:
    """Return the sessions of which the person may see at least the summary."""
    if is_administrator(user):
        return models.Session.objects.all()
    if not user.is_active or user.pk is None:
        return models.Session.objects.none()
    roles = roles_of(user)
    managed = [group_id for group_id, role in roles.items() if role == Role.MANAGER]
    return models.Session.objects.filter(
        Q(owner=user) | Q(group_id__in=roles, is_private=False) | Q(group_id__in=managed)
    )


def readable_sessions(user: Viewer) -> Q:
    """Return which of the visible sessions the person reads in full, names and reasons too (``Sight.OPERATIONS``)."""
    if is_administrator(user):
        return Q()
    return Q(owner=user) | Q(group_id__in=operated_groups(user))


def operated_groups(user: Viewer) -> list[int]:
    """Return the ids of the groups in which the person reads every session in full by a role."""
    return [pk for pk, role in roles_of(user).items() if role in (Role.OPERATOR, Role.MANAGER)]


def visible_nodes(user: Viewer) -> QuerySet[models.Node]:
    """Return the nodes of the visible groups."""
    return models.Node.objects.filter(group__in=visible_groups(user))


def visible_queues(user: Viewer) -> QuerySet[models.Queue]:
    """Return the queues that serve a visible group."""
    if is_administrator(user):
        return models.Queue.objects.all()
    return models.Queue.objects.filter(groups__in=visible_groups(user)).distinct()


def sight(user: Viewer, session: models.Session, *, roles: dict[int, Role] | None = None) -> Sight:
    """
    Say how much of a session somebody sees.

    Args:
        roles: the answer of ``roles_of``, where many sessions are judged for one person.
    """
    if not user.is_active or user.pk is None:
        return Sight.NONE
    if is_administrator(user) or session.owner_id == user.pk:
        return Sight.FULL
    role = (roles_of(user) if roles is None else roles).get(session.group_id)
    if role is None or (session.is_private and role != Role.MANAGER):
        return Sight.NONE
    return Sight.OPERATIONS if _RANK[role] >= _RANK[Role.OPERATOR] else Sight.SUMMARY


def can_act(user: Viewer, session: models.Session) -> bool:
    """Say whether the person may cancel, hold, suspend, resume or requeue the session."""
    return sight(user, session) >= Sight.OPERATIONS


def can_change(user: Viewer, session: models.Session) -> bool:
    """Say whether the person may change the session's priorities and its opt-out: its owner, or an administrator."""
    return is_administrator(user) or (user.is_active and session.owner_id == user.pk)


def can_submit(user: Viewer, group: models.ResourceGroup, queue: models.Queue | None = None) -> bool:
    """Say whether the person may submit to the group, and to the queue where one is named."""
    if not _has(user, group, Role.SUBMITTER):
        return False
    return queue is None or is_administrator(user) or _is_named_submitter(user, queue)


def _is_named_submitter(user: Viewer, queue: models.Queue) -> bool:
    users = set(queue.submit_users.values_list("pk", flat=True))
    teams = set(queue.submit_teams.values_list("pk", flat=True))
    if not users and not teams:
        return True
    return user.pk in users or user.groups.filter(pk__in=teams).exists()


def can_have_keypairs(user: Viewer) -> bool:
    """Say whether the person may have keypairs: who may submit anywhere, and administrators."""
    return is_administrator(user) or any(
        _RANK[role] >= _RANK[Role.SUBMITTER] for role in roles_of(user).values()
    )


def can_create_private(user: Viewer, group: models.ResourceGroup) -> bool:
    """Say whether the person may create private or system sessions in the group."""
    return _has(user, group, Role.MANAGER)


def can_change_policy(user: Viewer, group: models.ResourceGroup) -> bool:
    """Say whether the person may flip the switch and set the rules of the group."""
    return _has(user, group, Role.MANAGER)


def can_preview(user: Viewer, group: models.ResourceGroup) -> bool:
    """Say whether the person may preview other rules."""
    return _has(user, group, Role.OPERATOR)


def can_act_on_nodes(user: Viewer, group: models.ResourceGroup) -> bool:
    """Say whether the person may drain nodes of the group."""
    return _has(user, group, Role.OPERATOR)


def require_group(user: Viewer, slug: str) -> models.ResourceGroup:
    """Return a visible group by name, or raise NotVisible."""
    group = visible_groups(user).select_related("policy").filter(slug=slug).first()
    if group is None:
        raise errors.NotVisible("There is no such resource group, or you may not see it.")
    return group


def require_session(user: Viewer, public_id: object) -> models.Session:
    """Return a visible session by public id, or raise NotVisible."""
    rows = visible_sessions(user).select_related("owner", "queue", "group", "group__policy")
    session = rows.filter(public_id=public_id).first()
    if session is None:
        raise errors.NotVisible("There is no such session, or you may not see it.")
    return session


def require_administrator(user: Viewer, what: str) -> None:
    """Raise NotAllowed unless the person is an administrator; ``what`` completes "You may not ..."."""
    if not is_administrator(user):
        raise errors.NotAllowed(f"You may not {what}. Ask an administrator.")


def require(is_allowed: bool, what: str) -> None:
    """Raise NotAllowed unless allowed; ``what`` completes "You may not ..."."""
    if not is_allowed:
        raise errors.NotAllowed(f"You may not {what}. Ask a manager of the resource group.")
