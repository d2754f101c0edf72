"""Where a request for a session may go, and what its owner may ask for there."""

from __future__ import annotations

import uuid
from typing import Any

from scheduler import errors, models
from scheduler.core import entities
from scheduler.selectors import permissions
from scheduler.services import actors, faults, priorities, request_values, session_requests


def group_of(
    user: models.User, request: session_requests.SubmitRequest, found: faults.Faults
) -> models.ResourceGroup | None:
    group = permissions.visible_groups(user).select_related("policy").filter(slug=request.group).first()
    if group is None:
        found.add("group", f"there is no resource group {request.group!r} for you", "unknown-group")
    elif not permissions.can_submit(user, group):
        found.add("group", f"you may see {request.group}, but not submit to it", "not-allowed")
    return group


def queue_of(
    user: models.User,
    request: session_requests.SubmitRequest,
    group: models.ResourceGroup | None,
    found: faults.Faults,
) -> models.Queue | None:
    if group is None:
        return None
    queue = group.queues.filter(slug=request.queue).first()
    if queue is None:
        names = ", ".join(group.queues.values_list("slug", flat=True)) or "none"
        found.add(
            "queue", f"there is no queue {request.queue!r} in {group.slug}; it has: {names}", "unknown-queue"
        )
    elif queue.state != entities.QueueState.OPEN:
        found.add("queue", f"queue {queue.slug} takes no submissions now", "queue-closed")
    elif not permissions.can_submit(user, group, queue):
        found.add("queue", f"you are not among the submitters of queue {queue.slug}", "not-allowed")
    return queue


def rights(
    actor: actors.Actor,
    request: session_requests.SubmitRequest,
    *,
    group: models.ResourceGroup,
    queue: models.Queue,
    found: faults.Faults,
) -> dict[str, Any]:
    assert actor.user is not None
    policy = actor.policy
    if (request.is_private or request.type == "system") and not permissions.can_create_private(
        actor.user, group
    ):
        found.add("type", "only managers of the group create private or system sessions", "not-allowed")
    return {
        "priority": found.attempt(lambda: priorities.priority_for(policy, queue, request.priority)),
        "priority_cap": priorities.cap(policy, queue),
        "is_preemptible": found.attempt(lambda: _opt_out(policy, group, request)),
    }


def _opt_out(
    policy: models.KeypairResourcePolicy | None,
    group: models.ResourceGroup,
    request: session_requests.SubmitRequest,
) -> bool:
    if request.is_preemptible is not None:
        return priorities.check_opt_out(policy, request.is_preemptible)
    may_opt_out = policy is None or policy.may_opt_out
    if request.type == entities.SessionType.INFERENCE and may_opt_out:
        return False
    return group.policy.default_is_preemptible if group.policy else True


def dependencies(
    user: models.User, request: session_requests.SubmitRequest, found: faults.Faults
) -> list[tuple[str, models.Session]]:
    rows = []
    for kind, public_id in request.dependencies:
        request_values.choice("dependencies", kind, ["afterok", "afterany"], found)
        other = _visible(user, public_id)
        if other is None:
            found.add("dependencies", f"there is no session {public_id} that you may see")
        else:
            rows.append((kind, other))
    return rows


def _visible(user: models.User, public_id: str) -> models.Session | None:
    try:
        return permissions.require_session(user, uuid.UUID(str(public_id)))
    except (errors.NotVisible, ValueError):
        return None
