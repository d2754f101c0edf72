"""What the frame of every page shows: the viewer's groups with their switch, and how many sessions live."""

from __future__ import annotations

import dataclasses

from django.db.models import Count, Q

from scheduler import models
from scheduler.core import states
from scheduler.selectors import permissions


@dataclasses.dataclass(frozen=True, slots=True)
class GroupLink:
    """One group of the side bar; ``state`` is its preemption switch."""

    slug: str
    name: str
    state: str
    section: str


@dataclasses.dataclass(frozen=True, slots=True)
class Navigation:
    """The side bar: groups by name, live sessions that the viewer may see, and the viewer's own."""

    groups: tuple[GroupLink, ...]
    alive: int
    mine: int


def load(viewer: models.User) -> Navigation:
    """Return the side bar of one viewer. At most four queries."""
    rows = permissions.visible_groups(viewer).order_by("slug").values_list("slug", "policy__preemption_state")
    groups = tuple(GroupLink(slug, slug, state or "off", f"group:{slug}") for slug, state in rows)
    living = permissions.visible_sessions(viewer).exclude(state=states.SessionState.TERMINATED.value)
    counts = living.aggregate(alive=Count("pk"), mine=Count("pk", filter=Q(owner=viewer)))
    return Navigation(groups, counts["alive"], counts["mine"])
