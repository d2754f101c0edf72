"""Columns of the console that are more than a field: the switch as a link to its policy, state words."""

from __future__ import annotations

from typing import Any

from django import urls
from django.contrib import admin
from django.utils import html

from scheduler import models


@admin.display(description="switch")
def switch(group: models.ResourceGroup) -> str:
    """Return the group's switch as a link to its policy, where alone it is turned, with its preview."""
    state = group.policy.preemption_state if group.policy else "off"
    address = urls.reverse("console:group-policy", args=[group.slug])
    return html.format_html('<a class="xce-lamp" data-lamp="{}" href="{}">{}</a>', state, address, state)


@admin.display(description="is settled", boolean=True)
def is_settled(command: models.AgentCommand) -> bool:
    """Say whether the agent has answered, or nobody waits for it any more."""
    return command.settled_at is not None


@admin.display(description="state")
def keypair_state(keypair: models.Keypair) -> str:
    """Say whether the keypair opens anything."""
    return "in force" if keypair.is_active else "revoked"


def page_of_session(session: models.Session) -> str:
    """Return the address of a session's page."""
    return urls.reverse("dashboard:session-detail", args=[session.public_id])


def page_of_its_session(row: Any) -> str:
    """Return the address of the page of the session that a row is about."""
    return page_of_session(row.session)


def page_of_node(node: models.Node) -> str:
    """Return the address of a node's page."""
    return urls.reverse("dashboard:node-detail", args=[node.name])


def page_of_its_node(row: Any) -> str:
    """Return the address of the page of the node that a row is about."""
    return page_of_node(row.node)


def page_of_decision(decision: models.Decision) -> str:
    """Return the address of a decision's page."""
    return urls.reverse("dashboard:decision-detail", args=[decision.public_id])


def page_of_its_decision(row: Any) -> str:
    """Return the address of the page of the decision that a row is about."""
    return page_of_decision(row.decision)


def page_of_policy(group: models.ResourceGroup) -> str:
    """Return the address of a group's policy, where its switch is turned."""
    return urls.reverse("console:group-policy", args=[group.slug])


def page_of_its_policy(row: Any) -> str:
    """Return the address of the policy of the group that a row is about."""
    return page_of_policy(row.group)


def page_of_roles(role: models.GroupRole) -> str:
    """Return the address of the page of who has which role in a group."""
    return urls.reverse("console:group-roles", args=[role.group.slug])


def page_of_announcements(row: Any) -> str:
    """Return the address of the page where announcements are made."""
    return urls.reverse("console:announcement-list")


def page_of_queues(row: Any) -> str:
    """Return the address of the page of queues."""
    return urls.reverse("dashboard:queue-list")
