"""What will change by itself in a group, and a plan that came to nothing, in words."""

from __future__ import annotations

from typing import Any

from django import urls

from scheduler import models
from scheduler.selectors import policies
from xceweb.common import wording
from xceweb.console import policy_form

_ENDS = {
    "overtaken": "was dropped, so that it overwrites nothing",
    "failed": "could not be carried out",
}


def load(group: models.ResourceGroup, current: models.PolicyVersion) -> dict[str, Any]:
    """Return ``planned`` and ``dropped`` of ``console/_planned.html``; None where there is none."""
    last = policies.last_plan(group)
    is_open = last is not None and last.ended_at is None
    return {
        "planned": _planned(group, last) if last and is_open else None,
        "dropped": _dropped(last) if last and policies.came_to_nothing(last, current) else None,
    }


def _planned(group: models.ResourceGroup, plan: models.PlannedChange) -> dict[str, Any]:
    return {
        "is_return": plan.kind == models.PlannedChange.Kind.RETURN,
        "at": plan.at,
        "state": plan.changes.get("preemption_state", ""),
        "changes": [told(name, value) for name, value in plan.changes.items() if name != "preemption_state"],
        "for": wording.duration(plan.duration_s * wording.MICROSECONDS) if plan.duration_s else "",
        "by": plan.created_by_name,
        "version": plan.version.version,
        "reason": plan.reason,
        "cancel_url": urls.reverse("console:group-policy-cancel-planned", args=[group.slug]),
    }


def told(name: str, value: Any) -> str:
    """Return one rule with its new value."""
    return f"{policy_form.label(name)}: {policy_form.text(name, value)}"


def _dropped(plan: models.PlannedChange) -> dict[str, Any]:
    which = "way back" if plan.kind == models.PlannedChange.Kind.RETURN else "change"
    return {"which": which, "at": plan.at, "how": _ENDS[plan.end], "why": plan.end_text}
