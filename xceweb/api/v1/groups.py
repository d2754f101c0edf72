"""Resource groups: what they hold, who waits there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from rest_framework import request as drf_request
from rest_framework import response

from scheduler import errors, models
from scheduler.selectors import capacity, groups, permissions, roles
from scheduler.services import actors, emergency
from xceweb.api import docs, resource
from xceweb.api.v1 import cluster_samples, cluster_shapes, session_shapes, shown


class Groups(resource.Resource):
    """The groups whose pages the reader may open."""

    @docs.operation(
        summary="List resource groups",
        answer=cluster_shapes.Group,
        name="group_list",
        example=cluster_samples.GROUP,
        errors=(400,),
        is_paged=True,
    )
    def get(self, request: drf_request.Request) -> response.Response:
        """Return one page of groups by name."""
        rows = permissions.visible_groups(self.viewer).select_related("policy", "rounds_state")
        return self.page(rows, lambda page: [_group(self.viewer, row) for row in page], ordering="slug")


class Group(resource.Resource):
    """One group."""

    @docs.operation(
        summary="Read a resource group",
        answer=cluster_shapes.Group,
        name="group_read",
        example=cluster_samples.GROUP,
        errors=(404,),
    )
    def get(self, request: drf_request.Request, slug: str) -> response.Response:
        """Return one group with what is free in it."""
        return response.Response(_group(self.viewer, permissions.require_group(self.viewer, slug)))


class GroupRoles(resource.Resource):
    """Who may do what in a group."""

    @docs.operation(
        summary="Say who may flip the switch of a group and what else, and why",
        answer=cluster_shapes.GroupRoles,
        name="group_roles",
        example=cluster_samples.ROLES,
        errors=(404,),
    )
    def get(self, request: drf_request.Request, slug: str) -> response.Response:
        """
        Return everybody with a role, the strongest first.

        Others than managers get those who may flip the switch, and themselves: ``is_complete`` is false then.
        """
        group = permissions.require_group(self.viewer, slug)
        found = roles.of_group(self.viewer, group)
        return response.Response(
            {
                "group": group.slug,
                "people": [_person(one) for one in found.people],
                "is_complete": found.is_complete,
            }
        )


def _person(one: roles.Person) -> dict[str, Any]:
    return {
        "username": one.username,
        "role": str(one.role),
        "why": list(one.sources),
        "may": list(one.may),
        "may_switch": roles.SWITCH in one.may,
    }


Act = Callable[[actors.Actor, models.ResourceGroup, str], object]
ACTIONS: Mapping[str, Act] = {
    "stop-starting": lambda actor, group, reason: emergency.stop_starting(actor, group, reason=reason),
    "start-again": lambda actor, group, reason: emergency.start_again(actor, group, reason=reason),
    "withdraw-all": lambda actor, group, reason: emergency.withdraw_all(actor, group, reason=reason),
}


class GroupAction(resource.Resource):
    """What a manager presses when something goes wrong."""

    @docs.operation(
        summary="Stop starting, start again, or withdraw all preemptions under way",
        answer=cluster_shapes.Group,
        name="group_act",
        body=session_shapes.Reason,
        body_example={"reason": "the file server is full"},
        example=cluster_samples.GROUP,
        errors=(400, 403, 404, 409),
        parameters=(docs.choice("action", ACTIONS),),
    )
    def post(self, request: drf_request.Request, slug: str, action: str) -> response.Response:
        """Do it, and return the group."""
        if action not in ACTIONS:
            raise errors.NotVisible(f"There is no such action; there are: {', '.join(ACTIONS)}.")
        group = permissions.require_group(self.viewer, slug)
        ACTIONS[action](self.actor, group, self.read(session_shapes.Reason).get("reason", ""))
        return response.Response(_group(self.viewer, permissions.require_group(self.viewer, slug)))


def _group(viewer: models.User, row: models.ResourceGroup) -> dict[str, Any]:
    uses = capacity.of_nodes(models.Node.objects.filter(group=row), viewer=viewer)
    policy, rounds = row.policy, getattr(row, "rounds_state", None)
    return {
        "slug": row.slug,
        "description": row.description,
        "role": permissions.role_in(viewer, row),
        "preemption": policy.preemption_state if policy else "off",
        "is_starting": policy.starting if policy else True,
        "policy_version": policy.version if policy else 0,
        "queues": list(row.queues.values_list("slug", flat=True)),
        "nodes": len(uses),
        "capacity": shown.uses({kind.name: kind.total for kind in capacity.by_kind(uses)}),
        "sessions": groups.by_state(viewer, row),
        "last_round": rounds.last_number if rounds else 0,
        "last_round_at": rounds.last_at if rounds else None,
    }
