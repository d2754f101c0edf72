"""
The one setter of priorities (P09): whatever the path, the value is a whole number within the cap in force.

``job_priority`` ranks an owner's own sessions and needs no cap (BEP-1055); ``priority`` is global and is capped by the
lower of the owner's policy and the queue. An omitted priority is clamped, an explicit one above the cap is an error.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from scheduler import errors, models
from scheduler.core import entities


def whole_number(name: str, value: object, *, least: int, most: int) -> int:
    """
    Return ``value`` if it is an int within the bounds; strings, floats and booleans are refused.

    Raises:
        Refusal: naming the field and the bounds.
    """
    if type(value) is not int or not least <= value <= most:
        text = f"must be a whole number from {least} to {most}"
        raise errors.Refusal(code="invalid", fields={name: text})
    return value


def check_limits(columns: Mapping[str, object], *, optional: Collection[str] = ()) -> None:
    """
    Check the caps and defaults among the columns of a policy or queue: nothing becomes a number that is none.

    Raises:
        Refusal: one is no whole number from 0 to 100, nor None where it is ``optional``.
    """
    for name in ("max_priority", "default_priority"):
        if name in columns and not (columns[name] is None and name in optional):
            whole_number(name, columns[name], least=0, most=100)


def cap(policy: models.KeypairResourcePolicy | None, queue: models.Queue) -> int:
    """Return the highest priority that a session of this policy may have in this queue."""
    return min(policy.max_priority if policy else 100, queue.max_priority)


def cap_text(policy: models.KeypairResourcePolicy | None, queue: models.Queue) -> str:
    """Name the cap and where it comes from."""
    if policy and policy.max_priority <= queue.max_priority:
        return f"{policy.max_priority}, the cap of your policy {policy.name}"
    return f"{queue.max_priority}, the cap of queue {queue.slug}"


def priority_for(policy: models.KeypairResourcePolicy | None, queue: models.Queue, wanted: object) -> int:
    """
    Return the priority of a new session.

    Args:
        wanted: None = the default, clamped to the cap.

    Raises:
        Refusal: not 0..100, or above the cap.
    """
    limit = cap(policy, queue)
    if wanted is None:
        own = policy.default_priority if policy else 10
        return min(own if queue.default_priority is None else queue.default_priority, limit)
    value = whole_number("priority", wanted, least=0, most=100)
    if value > limit:
        text = f"{value} is above {cap_text(policy, queue)}"
        raise errors.Refusal(code="priority-above-cap", fields={"priority": text})
    return value


def job_priority_for(wanted: object) -> int:
    """Return a job priority: any signed 32-bit number."""
    most = entities.MOST_JOB_PRIORITY
    return whole_number("job_priority", wanted, least=-most - 1, most=most)


def check_opt_out(policy: models.KeypairResourcePolicy | None, is_preemptible: object) -> bool:
    """
    Return whether a session may be preempted.

    Raises:
        Refusal: not a boolean, or an opt-out that the policy does not allow.
    """
    if type(is_preemptible) is not bool:
        raise errors.Refusal(code="invalid", fields={"is_preemptible": "must be true or false"})
    if not is_preemptible and policy is not None and not policy.may_opt_out:
        text = f"your policy {policy.name} does not let sessions opt out of being preempted"
        raise errors.Refusal(code="may-not-opt-out", fields={"is_preemptible": text})
    return is_preemptible


def lowered(row: models.Session, limit: int) -> dict[str, Any]:
    """Return the columns of a session whose cap is lowered to ``limit``; a cap is never raised so."""
    if row.priority_cap <= limit:
        return {}
    return {"priority": min(row.priority, limit), "priority_cap": limit}


def changes(
    row: models.Session,
    policy: models.KeypairResourcePolicy | None,
    *,
    priority: object,
    job_priority: object,
    is_preemptible: object,
) -> dict[str, Any]:
    """Return the columns that really change, checked against a policy; the cap in force is copied along."""
    wanted: dict[str, Any] = {}
    if priority is not None:
        wanted["priority"] = priority_for(policy, row.queue, priority)
        wanted["priority_cap"] = cap(policy, row.queue)
    if job_priority is not None:
        wanted["job_priority"] = job_priority_for(job_priority)
    if is_preemptible is not None:
        wanted["is_preemptible"] = check_opt_out(policy, is_preemptible)
    changed = {name: value for name, value in wanted.items() if getattr(row, name) != value}
    return changed if set(changed) - {"priority_cap"} else {}
