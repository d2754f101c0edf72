"""Queues: their rules, their load, and the line of those who wait in them."""

from __future__ import annotations

from typing import Any

from rest_framework import request as drf_request
from rest_framework import response

from scheduler import errors, models
from scheduler.selectors import permissions, queue_rules, queues
from scheduler.services import queues as service
from xceweb.api import docs, matching, resource
from xceweb.api.v1 import cluster_samples, cluster_shapes, queue_shapes, session_shapes, shown

_ADMINISTERED = (400, 403, 404, 412, 428)
_BODY = {"preemptible_queues": ["background"], "reason": "releases go first this week"}


class Queues(resource.Resource):
    """The queues that serve a group of the reader."""

    @docs.operation(
        summary="List queues",
        answer=queue_shapes.Queue(many=True),
        name="queue_list",
        example=[cluster_samples.QUEUE],
    )
    def get(self, request: drf_request.Request) -> response.Response:
        """Return all of them by name."""
        return response.Response(_queues(self.viewer))


class Queue(resource.Resource):
    """One queue."""

    @docs.operation(
        summary="Read a queue",
        answer=queue_shapes.Queue,
        name="queue_read",
        example=cluster_samples.QUEUE,
        errors=(404,),
    )
    def get(self, request: drf_request.Request, slug: str) -> response.Response:
        """Return one queue with its load; ``ETag`` is what a change has to send as If-Match."""
        return self._answer(_require(self.viewer, slug))

    @docs.operation(
        summary="Change some rules of a queue; what is left out stays",
        answer=queue_shapes.Queue,
        name="queue_change",
        body=queue_shapes.QueueChange,
        body_example=_BODY,
        example=cluster_samples.QUEUE,
        errors=_ADMINISTERED,
        parameters=(matching.HEADER,),
    )
    def patch(self, request: drf_request.Request, slug: str) -> response.Response:
        """Change those that are named."""
        return self._change(slug, {})

    @docs.operation(
        summary="Replace the rules of a queue; what is left out goes back to its default",
        answer=queue_shapes.Queue,
        name="queue_replace",
        body=queue_shapes.QueueChange,
        body_example=_BODY,
        example=cluster_samples.QUEUE,
        errors=_ADMINISTERED,
        parameters=(matching.HEADER,),
    )
    def put(self, request: drf_request.Request, slug: str) -> response.Response:
        """Replace all of them."""
        defaults = {name: models.Queue._meta.get_field(name).get_default() for name in service.COLUMNS}
        return self._change(slug, defaults | {name: [] for name in service.NAMED})

    def _change(self, slug: str, base: dict[str, Any]) -> response.Response:
        queue = _require(self.viewer, slug)
        permissions.require_administrator(self.viewer, f"change queue {slug}")
        values = self.read(queue_shapes.QueueChange)
        expected = matching.version(self.request, queue.version)
        changes = base | queue_shapes.changes(values)
        try:
            service.change_queue(
                self.actor, queue, changes=changes, reason=values["reason"], expected_version=expected
            )
        except errors.Conflict as conflict:
            raise matching.Changed(str(conflict)) from None
        return self._answer(queue)

    def _answer(self, queue: models.Queue) -> response.Response:
        found = next(one for one in _queues(self.viewer) if one["slug"] == queue.slug)
        return response.Response(found, headers={"ETag": matching.etag(found["version"])})


class QueueRemoval(resource.Resource):
    """The end of a queue."""

    @docs.operation(
        summary="Remove a queue that has no sessions; it leaves the lists of queues that name it",
        answer=queue_shapes.Queue,
        name="queue_remove",
        body=session_shapes.Reason,
        body_example={"reason": "the course is over"},
        example=cluster_samples.QUEUE,
        errors=_ADMINISTERED,
        parameters=(matching.HEADER,),
    )
    def post(self, request: drf_request.Request, slug: str) -> response.Response:
        """Remove it, and return it as it was."""
        queue = _require(self.viewer, slug)
        permissions.require_administrator(self.viewer, f"remove queue {slug}")
        reason = self.read(session_shapes.Reason).get("reason", "")
        expected = matching.version(self.request, queue.version)
        found = next(one for one in _queues(self.viewer) if one["slug"] == slug)
        try:
            service.remove_queue(self.actor, queue, reason=reason, expected_version=expected)
        except errors.Conflict as conflict:
            raise matching.Changed(str(conflict)) from None
        return response.Response(found)


class QueueOrder(resource.Resource):
    """Who waits in a queue, in the order in which they are looked at."""

    @docs.operation(
        summary="List who waits in a queue, the next one first",
        answer=cluster_shapes.Place(many=True),
        name="queue_order",
        example=[cluster_samples.PLACE],
        errors=(404,),
    )
    def get(self, request: drf_request.Request, slug: str) -> response.Response:
        """
        Return at most 200 waiting sessions of the queue that the reader may see, by group.

        By priority, then time of submission; where the owner axis is in force, an owner's sessions of equal priority
        fill that owner's places by their own rank.
        """
        queue = _require(self.viewer, slug)
        return response.Response(_line(self.viewer, queue))


def _require(viewer: models.User, slug: str) -> models.Queue:
    row = permissions.visible_queues(viewer).filter(slug=slug).first()
    if row is None:
        raise errors.NotVisible("There is no such queue, or you may not see it.")
    return row


def _queues(viewer: models.User) -> list[dict[str, Any]]:
    cycles = queue_rules.cycles(queue_rules.of(viewer))
    named = queues.submitters(viewer)
    return [
        {
            **_queue(row),
            "submit_users": named[row.name].users if named else None,
            "submit_teams": named[row.name].teams if named else None,
            "cycles": [list(one) for one in cycles if row.name in one],
        }
        for row in queues.rows(viewer)
    ]


def _queue(row: queues.Row) -> dict[str, Any]:
    return {
        "slug": row.name,
        "version": row.version,
        "description": row.description,
        "state": row.state,
        "preemptible": row.is_preemptible,
        "preemptible_queues": row.may_preempt,
        "preempt_policy": row.policy_name,
        "preempt_policy_error": row.policy_error,
        "preemption_mode": row.preemption_mode,
        "default_priority": row.default_priority,
        "max_priority": row.max_priority,
        "max_concurrent_sessions": row.max_sessions,
        "max_slots": row.max_slots,
        "groups": row.groups,
        "running": row.running,
        "pending": row.pending,
        "oldest_wait_s": row.oldest_wait_s,
        "changed_by": row.changed_by,
        "changed_at": row.changed_at,
    }


def _line(viewer: models.User, queue: models.Queue) -> list[dict[str, Any]]:
    rows = queues.line(viewer, queue)
    kept = ("name", "is_mine", "group", "queue", "state", "priority", "reason")
    found = shown.sessions(viewer, rows)
    return [
        {"position": place, "session": one["id"], **{name: one[name] for name in kept}}
        for place, one in enumerate(found, 1)
    ]
