"""One resource group: head and tabs (shared with its policy), and the summary."""

from __future__ import annotations

import urllib.parse
from typing import Any

from django import urls

from scheduler import models
from scheduler.core import explain
from scheduler.selectors import decisions, groups, nodes, sessions, slot_kinds
from xceweb.common import reasons
from xceweb.dashboard.contexts import (
    capacity,
    decision_list,
    group_actions,
    node_pages,
    queue_rows,
    session_list,
)

_LAST = 5


def head(group: models.ResourceGroup, *, summary: str, current: str) -> dict[str, Any]:
    """Return ``group`` and ``tabs`` of every page of a group; ``current`` is ``summary``, ``policy`` or ``roles``."""
    policy = group.policy
    return {
        "group": {
            "slug": group.slug,
            "name": group.slug,
            "state": policy.preemption_state,
            "summary": summary,
            "starting": policy.starting,
            "policy_url": urls.reverse("console:group-policy", args=[group.slug]),
            "policy_sentence": sentence(policy),
        },
        "tabs": _tabs(group, current),
    }


def _tabs(group: models.ResourceGroup, current: str) -> list[dict[str, Any]]:
    sessions = f"{urls.reverse('dashboard:session-list')}?group={group.slug}"
    addresses = {
        "summary": ("Summary", urls.reverse("dashboard:group-detail", args=[group.slug])),
        "policy": ("Policy", urls.reverse("console:group-policy", args=[group.slug])),
        "roles": ("Roles", urls.reverse("console:group-roles", args=[group.slug])),
        "sessions": ("Sessions", sessions),
    }
    return [
        {"label": label, "url": url, "is_current": name == current, "count": None}
        for name, (label, url) in addresses.items()
    ]


def sentence(policy: models.PolicyVersion) -> str:
    """Return the rules in force in one sentence."""
    if policy.preemption_state == "off":
        return "Preemption is **off**: nobody is stopped to make room."
    whose = {
        "owner": "the same owner's sessions with a lower job priority",
        "queue": "lower sessions of preemptible queues",
        "owner_then_queue": "first the owner's own lower sessions, then those of preemptible queues",
    }[policy.preemption_scope]
    what = {
        "suspend": "are **suspended** and go on later",
        "reschedule": "return to the **queue**",
        "terminate": "**end**",
    }[policy.preemption_mode]
    if policy.preemption_state == "shadow":
        return f"**Shadow**: nobody is stopped; it records that {whose} would have to go."
    return f"**On**: when nothing is free, {whose} {what}."


def load(viewer: models.User, group: models.ResourceGroup) -> dict[str, Any]:
    """Return the context of ``dashboard/group_detail.html``."""
    known = slot_kinds.load()
    uses = nodes.uses(viewer, group=group)
    counts = nodes.running(viewer, [use.node for use in uses])
    found = decisions.page(viewer, decisions.Filters(group=group.slug)).rows[:_LAST]
    return {
        **head(group, summary=capacity.summary(uses), current="summary"),
        "kinds": capacity.kinds(uses, known),
        "usage": None,
        "states": _states(viewer, group),
        "pending": [_pending(group, row, known) for row in groups.waiting_by_reason(viewer, group)],
        "nodes": node_pages.cells(uses, known, counts),
        "queues": queue_rows.load(viewer, group=group),
        "decisions": decision_list.rows(viewer, found),
        "actions": group_actions.of(viewer, group),
    }


def _states(viewer: models.User, group: models.ResourceGroup) -> dict[str, Any]:
    counts = groups.by_state(viewer, group)
    rows = [
        {"state": state, "count": count, "url": _list_url(group, state)} for state, count in counts.items()
    ]
    return {"alive": rows, "alive_total": sum(counts.values()), "alive_max": max(counts.values())}


def _list_url(group: models.ResourceGroup, state: str) -> str:
    query = urllib.parse.urlencode({"group": group.slug, "state": state})
    return f"{urls.reverse('dashboard:session-list')}?{query}"


def _pending(
    group: models.ResourceGroup, row: groups.Waiting, known: dict[str, slot_kinds.Kind]
) -> dict[str, Any]:
    listed = session_list.url(sessions.Filters(group=group.slug, reason=row.reason))
    return {
        "label": explain.pend_title(row.reason),
        "url": reasons.url(row.reason),
        "count": row.count,
        "readable": row.readable,
        "list_url": listed if row.readable else "",
        "slots": slot_kinds.amounts(row.slots, known),
        "oldest_wait_s": row.oldest_wait_s,
    }
