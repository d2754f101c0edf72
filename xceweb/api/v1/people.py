"""Who asks, and their keypairs."""

from __future__ import annotations

from typing import Any

from rest_framework import request as drf_request
from rest_framework import response

from scheduler import errors, models
from scheduler.selectors import keypairs as visible
from scheduler.selectors import permissions
from scheduler.services import keypairs
from xceweb.api import docs, resource
from xceweb.api.v1 import cluster_samples, person_shapes, session_shapes, shown


class Me(resource.Resource):
    """The person who asks."""

    @docs.operation(
        summary="Read who asks, and what they may do",
        answer=person_shapes.Me,
        name="me_read",
        example=cluster_samples.ME,
    )
    def get(self, request: drf_request.Request) -> response.Response:
        """Return the person, their roles, and what the way in which they came lets them ask for."""
        actor = self.actor
        groups = permissions.visible_groups(self.viewer)
        return response.Response(
            {
                "username": self.viewer.username,
                "is_administrator": permissions.is_administrator(self.viewer),
                "roles": {group.slug: permissions.role_in(self.viewer, group) for group in groups},
                "policy": actor.policy.name if actor.policy else None,
                "max_priority": actor.policy.max_priority if actor.policy else 100,
                "may_opt_out": actor.policy.may_opt_out if actor.policy else True,
                "keypair": actor.keypair.access_key if actor.keypair else None,
                "scope": actor.keypair.scope if actor.keypair else None,
            }
        )


class Keypairs(resource.Resource):
    """The reader's keypairs; an administrator sees everybody's."""

    @docs.operation(
        summary="List keypairs, newest first",
        answer=person_shapes.Keypair,
        name="keypair_list",
        example=cluster_samples.KEYPAIR,
        errors=(400,),
        is_paged=True,
    )
    def get(self, request: drf_request.Request) -> response.Response:
        """Return one page of keypairs, without their secrets."""
        return self.page(visible.visible(self.viewer), lambda page: [shown.keypair(row) for row in page])

    @docs.operation(
        summary="Issue a keypair; its secret is shown this once",
        answer=person_shapes.NewKeypair,
        name="keypair_issue",
        body=person_shapes.KeypairRequest,
        body_example={"name": "nightly pipeline", "scope": "sessions"},
        example={**cluster_samples.KEYPAIR, "secret": "shown-this-once"},
        status=201,
        errors=(400, 403),
    )
    def post(self, request: drf_request.Request) -> response.Response:
        """Make one for oneself; an administrator may name another person and a policy."""
        values = self.read(person_shapes.KeypairRequest)
        user = _person(self.viewer, values.pop("user", None))
        policy = _policy(self.viewer, values.pop("policy", None))
        row, secret = keypairs.issue(self.actor, user, keypairs.Wish(policy=policy, **values))
        address = f"{request.path}/{row.access_key}"
        return response.Response(
            {**shown.keypair(row), "secret": secret}, status=201, headers={"Location": address}
        )


class Keypair(resource.Resource):
    """One keypair."""

    @docs.operation(
        summary="Read a keypair",
        answer=person_shapes.Keypair,
        name="keypair_read",
        example=cluster_samples.KEYPAIR,
        errors=(404,),
    )
    def get(self, request: drf_request.Request, access_key: str) -> response.Response:
        """Return one keypair, without its secret."""
        return response.Response(shown.keypair(visible.require(self.viewer, access_key)))


class KeypairRevocation(resource.Resource):
    """The end of a keypair."""

    @docs.operation(
        summary="Revoke a keypair: from now on it opens nothing",
        answer=person_shapes.Keypair,
        name="keypair_revoke",
        body=session_shapes.Reason,
        body_example={"reason": "the laptop was lost"},
        example={**cluster_samples.KEYPAIR, "is_active": False},
        errors=(400, 403, 404),
    )
    def post(self, request: drf_request.Request, access_key: str) -> response.Response:
        """End it at once."""
        row = visible.require(self.viewer, access_key)
        keypairs.revoke(self.actor, row, reason=self.read(session_shapes.Reason).get("reason", ""))
        return response.Response(shown.keypair(visible.require(self.viewer, access_key)))


def _person(viewer: models.User, name: str | None) -> models.User:
    if name is None or name == viewer.username:
        return viewer
    permissions.require(permissions.is_administrator(viewer), "manage somebody else's keypairs")
    user = models.User.objects.select_related("policy").filter(username=name).first()
    if user is None:
        raise errors.Refusal(code="invalid", fields={"user": f"there is no person {name!r}"})
    return user


def _policy(viewer: models.User, name: str | None) -> models.KeypairResourcePolicy | None:
    if name is None:
        return None
    permissions.require(permissions.is_administrator(viewer), "choose a keypair's policy")
    row: Any = models.KeypairResourcePolicy.objects.filter(name=name).first()
    if row is None:
        raise errors.Refusal(code="invalid", fields={"policy": f"there is no policy {name!r}"})
    found: models.KeypairResourcePolicy = row
    return found
