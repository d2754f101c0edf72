"""Under which names the audit knows a row: its type and its name, as the services write them (``audit.Subject``)."""

from __future__ import annotations

from scheduler import models
from scheduler.services import planned_changes

Names = list[tuple[str, str]]


def of_group(group: models.ResourceGroup) -> Names:
    """A group's own changes, those of its rules, planned ones, and stops taken back."""
    kinds = ("resource group", "resource group policy", planned_changes.SUBJECT, "preemptions under way")
    return [(kind, group.slug) for kind in kinds]


def of_policy_version(version: models.PolicyVersion) -> Names:
    """The changes of the group's rules."""
    return [("resource group policy", version.group.slug)]


def of_planned_change(planned: models.PlannedChange) -> Names:
    """What was planned for the group."""
    return [(planned_changes.SUBJECT, planned.group.slug)]


def of_queue(queue: models.Queue) -> Names:
    """The queue's rules."""
    return [("queue", queue.slug)]


def of_node(node: models.Node) -> Names:
    """The node and its keys."""
    return [("node", node.name), ("node key", node.name)]


def of_node_key(key: models.AgentKey) -> Names:
    """The keys of the node."""
    return [("node key", key.node.name)]


def of_resource_policy(policy: models.KeypairResourcePolicy) -> Names:
    """The policy."""
    return [("keypair resource policy", policy.name)]


def of_keypair(keypair: models.Keypair) -> Names:
    """The keypair."""
    return [("keypair", keypair.access_key)]


def of_person(user: models.User) -> Names:
    """The person."""
    return [("person", user.username)]


def of_role(role: models.GroupRole) -> Names:
    """The role of a person or a team in a group."""
    who = role.user.get_username() if role.user else f"team {role.team}"
    return [("role", f"{who} in {role.group.slug}")]


def of_slot_kind(kind: models.SlotKind) -> Names:
    """The kind of slots."""
    return [("slot kind", kind.name)]


def of_announcement(row: models.Announcement) -> Names:
    """The announcement."""
    return [("announcement", str(row.pk))]


def of_change(change: models.ConfigChange) -> Names:
    """All changes of the same thing."""
    return [(change.object_type, change.object_name)]
