"""Rows as the shapes say, at the sight of the reader: what may not be seen is null."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

from django import urls
from django.db.models import QuerySet

from scheduler import models
from scheduler.selectors import capacity, explanations, permissions, policies
from xceweb.api.v1 import rule_shapes, session_shapes

Sight = permissions.Sight
#: What its owner and who operates its group may read beside the row of a list; the environment is for FULL sight alone.
_INNER = (
    "argv",
    "script",
    "workdir",
    "wall_limit",
    "begin_at",
    "grace_period",
    "warning_signal",
    "exit_0_after_warning",
    "restartable",
    "required_labels",
    "port",
)


def with_parts(found: QuerySet[models.Session]) -> QuerySet[models.Session]:
    """Return sessions with all that a list shows of them, in two queries."""
    parts = found.select_related("owner", "queue", "group", "pend_reason")
    return parts.prefetch_related("allocations__node").defer("script", "environment", "argv")


def sessions(viewer: models.User, found: Iterable[models.Session]) -> list[dict[str, Any]]:
    """Return sessions of a list."""
    roles = permissions.roles_of(viewer)
    return [_session(row, viewer, permissions.sight(viewer, row, roles=roles)) for row in found]


def session(viewer: models.User, row: models.Session) -> dict[str, Any]:
    """Return one session whole."""
    sight = permissions.sight(viewer, row)
    inner = {name: getattr(row, name) if sight >= Sight.OPERATIONS else None for name in _INNER}
    environment = row.environment if sight >= Sight.FULL else None
    return _session(row, viewer, sight) | inner | {"environment": environment}


def _session(row: models.Session, viewer: models.User, sight: Sight) -> dict[str, Any]:
    is_open = sight >= Sight.OPERATIONS
    waits = getattr(row, "pend_reason", None) if row.state == "pending" else None
    inner: dict[str, Any] = {
        "name": row.name,
        "owner": row.owner.username,
        "type": row.type,
        "reason": "held" if row.is_held and row.state == "pending" else waits.reason if waits else None,
        "priority": row.priority,
        "job_priority": row.job_priority,
        "is_preemptible": row.is_preemptible,
        "is_held": row.is_held,
        "is_private": row.is_private,
        "nodes": sorted(held.node.name for held in row.allocations.all()) if is_open else [],
        "times_preempted": row.times_preempted,
        "attempt": row.attempt,
        "exit_code": row.exit_code,
        "exit_signal": row.exit_signal,
    }
    return {
        "id": row.public_id,
        "is_mine": row.owner_id == viewer.pk,
        "group": row.group.slug,
        "queue": row.queue.slug,
        "state": row.state,
        "state_since": row.state_since,
        "result": row.result,
        "slots": row.slots,
        "node_count": row.node_count,
        "submitted_at": row.submitted_at,
        "started_at": row.started_at,
        "ended_at": row.ended_at,
        "url": urls.reverse("dashboard:session-detail", args=[row.public_id]),
        **{name: value if is_open else None for name, value in inner.items()},
    }


def public_id(other: explanations.Other | None) -> Any:
    """Return the id of the other side of a decision, None where the reader may not know who it is."""
    return other.session.public_id if other is not None and other.is_named else None


def run(row: models.Run) -> dict[str, Any]:
    """Return one attempt."""
    names = [name for name in session_shapes.Run().fields if name != "nodes"]
    return {name: getattr(row, name) for name in names} | {"nodes": list(row.node_names)}


def uses(found: Mapping[str, capacity.SlotUse]) -> dict[str, dict[str, int]]:
    """Return what is used by kind."""
    return {kind: dataclasses.asdict(use) for kind, use in sorted(found.items())}


def rules(row: models.PolicyVersion) -> dict[str, Any]:
    """Return the rules of one version, and the switch as one word."""
    found = {rule_shapes.short(name): getattr(row, name) for name in models.PolicyVersion.RULES}
    return {"enabled": row.preemption_state == "on", **found}


def preemption(group: models.ResourceGroup, row: models.PolicyVersion) -> dict[str, Any]:
    """Return the switch and the rules of a group."""
    return {
        "group": group.slug,
        "version": row.version,
        "preemption": rules(row),
        "reason": row.reason,
        "changed_by": row.created_by_name,
        "changed_at": row.created_at,
        "planned": _planned(policies.planned(group)),
    }


def _planned(plan: models.PlannedChange | None) -> dict[str, Any] | None:
    if plan is None:
        return None
    changes = {rule_shapes.short(name): value for name, value in plan.changes.items()}
    state = plan.changes.get("preemption_state")
    return {
        "kind": plan.kind,
        "at": plan.at,
        "for_s": plan.duration_s,
        "preemption": changes if state is None else {"enabled": state == "on", **changes},
        "reason": plan.reason,
        "planned_by": plan.created_by_name,
        "planned_at": plan.created_at,
    }


def version(change: policies.Change) -> dict[str, Any]:
    """Return one version with what it changed."""
    row = change.row
    return {
        "version": row.version,
        "reason": row.reason,
        "changed_by": row.created_by_name,
        "changed_at": row.created_at,
        "preemption": rules(row),
        "changes": {rule_shapes.short(name): list(pair) for name, pair in change.rules.items()},
    }


def keypair(row: models.Keypair) -> dict[str, Any]:
    """Return a keypair without its secret."""
    return {
        "access_key": row.access_key,
        "name": row.name,
        "user": row.user.username,
        "scope": row.scope,
        "policy": row.policy.name if row.policy else None,
        "is_active": row.is_active,
        "created_at": row.created_at,
        "expires_at": row.expires_at,
        "last_used_at": row.last_used_at,
    }
