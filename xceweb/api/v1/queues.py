"""Queues: their rules, their load, and the line of those who wait in them."""

from __future__ import annotations

from typing import Any

from rest_framework import request as drf_request
from rest_framework import response

from scheduler import errors, models
from scheduler.selectors import permissions, queues
from xceweb.api import docs, resource
from xceweb.api.v1 import cluster_samples, cluster_shapes, shown


class Queues(resource.Resource):
    """The queues that serve a group of the reader."""

    @docs.operation(
        summary="List queues",
        answer=cluster_shapes.Queue(many=True),
        name="queue_list",
        example=[cluster_samples.QUEUE],
    )
    def get(self, request: drf_request.Request) -> response.Response:
        """Return all of them by name."""
        return response.Response([_queue(row) for row in queues.rows(self.viewer)])


class Queue(resource.Resource):
    """One queue."""

    @docs.operation(
        summary="Read a queue",
        answer=cluster_shapes.Queue,
        name="queue_read",
        example=cluster_samples.QUEUE,
        errors=(404,),
    )
    def get(self, request: drf_request.Request, slug: str) -> response.Response:
        """Return one queue with its load."""
        _require(self.viewer, slug)
        return response.Response(next(_queue(row) for row in queues.rows(self.viewer) if row.name == slug))


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


def _queue(row: queues.Row) -> dict[str, Any]:
    return {
        "slug": row.name,
        "description": row.description,
        "state": row.state,
        "preemptible": row.is_preemptible,
        "preemptible_queues": row.may_preempt,
        "preempt_policy": row.policy_name,
        "preempt_policy_error": row.policy_error,
        "default_priority": row.default_priority,
        "max_priority": row.max_priority,
        "groups": row.groups,
        "running": row.running,
        "pending": row.pending,
        "oldest_wait_s": row.oldest_wait_s,
    }


def _line(viewer: models.User, queue: models.Queue) -> list[dict[str, Any]]:
    rows = queues.line(viewer, queue)
    kept = ("name", "is_mine", "group", "queue", "state", "priority", "reason")
    found = shown.sessions(viewer, rows)
    return [
        {"position": place, "session": one["id"], **{name: one[name] for name in kept}}
        for place, one in enumerate(found, 1)
    ]
