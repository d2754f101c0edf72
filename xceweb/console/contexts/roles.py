"""The roles tab of a group: who may flip the switch, and why."""

from __future__ import annotations

from typing import Any

from scheduler import models
from scheduler.selectors import roles
from xceweb.dashboard.contexts import group_page

#: What each right is called.
RIGHTS = {
    "see": "see the group",
    "submit": "submit",
    "act-on-sessions": "act on sessions",
    "act-on-nodes": "act on nodes",
    "preview": "preview rules",
    "switch": "flip the switch and set the rules",
    "private-sessions": "submit private and system sessions",
    "give-roles": "give roles",
}


def load(viewer: models.User, group: models.ResourceGroup) -> dict[str, Any]:
    """Return the context of ``console/group_roles.html``."""
    listing = roles.of_group(viewer, group)
    return {
        **group_page.head(group, summary="", current="roles"),
        "sentence": sentence(listing),
        "people": [person(one) for one in listing.people],
        "is_complete": listing.is_complete,
    }


def sentence(listing: roles.Listing) -> str:
    """Say who may flip the switch."""
    names = [f"**{one.username}**" for one in listing.switchers]
    if not names:
        return "Nobody may flip the switch of this group: give somebody the role of a manager."
    count = "One person" if len(names) == 1 else f"{len(names)} people"
    return f"{count} may flip the switch and set the rules: {', '.join(names)}."


def person(one: roles.Person) -> dict[str, Any]:
    """Return one person in words."""
    return {
        "username": one.username,
        "is_me": one.is_viewer,
        "role": "administrator" if "administrator" in one.sources else str(one.role),
        "why": why(one),
        "rights": [RIGHTS[name] for name in one.may],
        "may_switch": roles.SWITCH in one.may,
    }


def why(one: roles.Person) -> str:
    """Say where somebody's role comes from."""
    words = {"administrator": "administers the whole installation", "own": f"was made {one.role} here"}
    told = [words.get(source, f"belongs to the {source}, which is {one.role} here") for source in one.sources]
    return " and ".join(told)
