"""The ``config`` of a case: the format's short words and the fields' own names, as fields of a policy version."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler.core import entities
from scheduler.scenarios import entries, fields

#: key of a case -> field of a policy version, for whole numbers
_NUMBERS = {
    "min_runtime_s": "preemption_min_runtime",
    "preemption_min_runtime": "preemption_min_runtime",
    "grace_s": "grace_period",
    "grace_period": "grace_period",
    "suspend_grace_s": "suspend_grace",
    "suspend_grace": "suspend_grace",
    "inflight_timeout_s": "in_flight_timeout",
    "in_flight_timeout_s": "in_flight_timeout",
    "in_flight_timeout": "in_flight_timeout",
    "max_preemptions": "max_preemptions_per_session",
    "max_preemptions_per_session": "max_preemptions_per_session",
    "max_suspend_time_s": "max_suspend_time",
    "max_suspend_time": "max_suspend_time",
    "max_suspended_per_node": "max_suspended_per_node",
    "starvation_after_s": "starvation_after",
    "starvation_after": "starvation_after",
}
_FLAGS = ("cancel_unconfirmed_dispatch", "requeue_suspended")
#: key of a case -> (field, allowed words)
_WORDS: Mapping[str, tuple[str, type]] = {
    "mode": ("preemption_mode", entities.PreemptionMode),
    "preemption_mode": ("preemption_mode", entities.PreemptionMode),
    "order": ("preemption_order", entities.PreemptionOrder),
    "preemption_order": ("preemption_order", entities.PreemptionOrder),
    "placement": ("placement", entities.Placement),
    "state": ("preemption_state", entities.PreemptionState),
    "preemption_state": ("preemption_state", entities.PreemptionState),
    "preemption_scope": ("preemption_scope", entities.PreemptionScope),
}
_LISTS = ("released_on_suspend", "suspend_releases")
#: What a case has when its config says nothing.
DEFAULTS: Mapping[str, Any] = {
    "preemption_state": "on",
    "preemption_scope": "owner",
    "preemption_order": "oldest",
    "grace_period": 0,
    "in_flight_timeout": 60,
}
_AXES = {
    "job_priority": "owner",
    "owner": "owner",
    "priority": "queue",
    "queue": "queue",
    "owner_then_queue": "owner_then_queue",
}
_SCOPES = {
    "same-owner": "owner",
    "owner": "owner",
    "queues": "queue",
    "queue": "queue",
    "owner_then_queue": "owner_then_queue",
}


def read(found: fields.Fields) -> entries.Config:
    """Return the rules of a case, defaults included."""
    rules = {**DEFAULTS, **changes(found)}
    limits = {key: _limits(found, key) for key in ("owner_max", "queue_max", "owner_used", "queue_used")}
    found.close()
    return entries.Config(rules, *limits.values())


def changes(found: fields.Fields) -> dict[str, Any]:
    """Return only what a table says, as fields of a policy version: for a change of the rules."""
    rules: dict[str, Any] = {}
    for key, field in _NUMBERS.items():
        if (value := found.number(key, least=0)) is not None:
            rules[field] = value
    for key in _FLAGS:
        if found.take(key) is not None:
            rules[key] = found.flag(key)
    for key, (field, words) in _WORDS.items():
        if found.take(key) is not None:
            rules[field] = found.word(key, "", [str(word) for word in words])
    for key in _LISTS:
        if (kinds := found.words(key)) is not None:
            rules["suspend_releases"] = kinds
    if found.take("enabled") is not None:
        rules["preemption_state"] = "on" if found.flag("enabled") else "off"
    return rules | _scope(found)


def _scope(found: fields.Fields) -> dict[str, str]:
    """Return the axes in force; an axis and a scope that do not belong together exist in no rule of ours."""
    axis = _AXES[found.word("axis", "", _AXES)] if found.take("axis") is not None else None
    scope = _SCOPES[found.word("scope", "", _SCOPES)] if found.take("scope") is not None else None
    if axis is not None and scope is not None and axis != scope:
        found.beyond.append(
            f"line {found.line_of('axis')}: axis {found.take('axis')} with scope {found.take('scope')} "
            "is no axis of this scheduler"
        )
    chosen = scope or axis
    return {"preemption_scope": chosen} if chosen else {}


def _limits(found: fields.Fields, key: str) -> dict[str, dict[str, int]]:
    table = found.table(key)
    return {name: table.amounts(name) for name in table.names()}
