"""Who may do what in a resource group, and why: by an own role, by a team, or as an administrator (DESIGN 9)."""

from __future__ import annotations

import dataclasses

from scheduler import models
from scheduler.selectors import permissions

Role = permissions.Role
#: What each role adds to the one before it, as the matrix of DESIGN 9 has it.
ADDS: dict[Role, tuple[str, ...]] = {
    Role.VIEWER: ("see",),
    Role.SUBMITTER: ("submit",),
    Role.OPERATOR: ("act-on-sessions", "act-on-nodes", "preview"),
    Role.MANAGER: ("switch", "private-sessions", "give-roles"),
}
SWITCH = "switch"


@dataclasses.dataclass(frozen=True, slots=True)
class Person:
    """One person with the strongest of their roles in a group."""

    username: str
    is_viewer: bool  #: whoever asks
    role: Role
    #: Where that role comes from: ``administrator``, ``own``, or ``team NAME``; several where they agree.
    sources: tuple[str, ...]
    may: tuple[str, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class Listing:
    """The people of a group, the strongest first."""

    people: tuple[Person, ...]
    is_complete: bool  #: False: weaker roles of others are left out

    @property
    def switchers(self) -> tuple[Person, ...]:
        """Return who may flip the switch and set the rules."""
        return tuple(one for one in self.people if SWITCH in one.may)


def may(role: Role) -> tuple[str, ...]:
    """Return all that a role allows."""
    ranked = list(ADDS)
    return tuple(right for one in ranked[: ranked.index(role) + 1] for right in ADDS[one])


def of_group(viewer: models.User, group: models.ResourceGroup) -> Listing:
    """
    Return who may do what in a group that the viewer sees. Three queries.

    Whoever sees the group is told who may flip its switch, and their own role; all others are for managers.
    """
    people = everybody(group, viewer)
    sees_all = permissions.can_change_policy(viewer, group)
    told = tuple(one for one in people if sees_all or one.is_viewer or SWITCH in one.may)
    return Listing(told, sees_all)


def everybody(group: models.ResourceGroup, viewer: models.User | None = None) -> list[Person]:
    """Return all people with a role in a group, the strongest first. Internal: the caller judges who is told."""
    found = [_person(viewer, user, sources) for user, sources in _sources(group).values()]
    order = list(reversed(ADDS))
    return sorted(found, key=lambda one: (order.index(one.role), one.username))


Sources = list[tuple[Role, str]]


def _sources(group: models.ResourceGroup) -> dict[int, tuple[models.User, Sources]]:
    """Return every person who can log in and has a role here, with each role and where it comes from."""
    found: dict[int, tuple[models.User, Sources]] = {}

    def add(user: models.User, role: str, source: str) -> None:
        if user.is_active:
            found.setdefault(user.pk, (user, []))[1].append((Role(role), source))

    for user in models.User.objects.filter(is_superuser=True):
        add(user, Role.MANAGER, "administrator")
    rows = models.GroupRole.objects.filter(group=group).select_related("user", "team")
    for row in rows.prefetch_related("team__user_set"):
        if row.user is not None:
            add(row.user, row.role, "own")
        else:
            for member in row.team.user_set.all():
                add(member, row.role, f"team {row.team.name}")
    return found


def _person(viewer: models.User | None, user: models.User, sources: Sources) -> Person:
    order = list(ADDS)
    strongest = max((role for role, _ in sources), key=order.index)
    found = [source for role, source in sources if role == strongest]
    names = tuple(sorted(found, key=lambda name: (name.startswith("team "), name)))
    return Person(
        user.get_username(), viewer is not None and user.pk == viewer.pk, strongest, names, may(strongest)
    )
