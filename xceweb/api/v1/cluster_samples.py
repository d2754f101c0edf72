"""Values for the examples of the schema: groups, queues, nodes, rules, people."""

from __future__ import annotations

from typing import Any

from xceweb.api.v1 import samples

_USE = {"capacity": 8, "allocated": 5, "releasing": 1, "reserved": 0, "free": 2, "drained": 0}
GROUP: dict[str, Any] = {
    "slug": "gpu",
    "description": "Four machines with eight devices each",
    "role": "submitter",
    "preemption": "on",
    "is_starting": True,
    "policy_version": 3,
    "queues": ["background", "research"],
    "nodes": 4,
    "capacity": {"cuda.device": _USE},
    "sessions": {"pending": 12, "running": 9},
    "last_round": 4711,
    "last_round_at": samples.MOMENT,
}
ROLES: dict[str, Any] = {
    "group": "gpu",
    "people": [
        {
            "username": "mona",
            "role": "manager",
            "why": ["team operations"],
            "may": ["see", "submit", "act-on-sessions", "act-on-nodes", "preview", "switch"],
            "may_switch": True,
        }
    ],
    "is_complete": False,
}
QUEUE: dict[str, Any] = {
    "slug": "research",
    "version": 3,
    "description": "",
    "state": "open",
    "preemptible": False,
    "preemptible_queues": ["background"],
    "preempt_policy": "lowest_priority_first",
    "preempt_policy_error": "",
    "preemption_mode": "",
    "default_priority": None,
    "max_priority": 100,
    "max_concurrent_sessions": 40,
    "max_slots": {"cuda.device": 16},
    "submit_users": None,
    "submit_teams": None,
    "cycles": [],
    "groups": ["gpu"],
    "running": 9,
    "pending": 12,
    "oldest_wait_s": 340,
    "changed_by": "alice",
    "changed_at": samples.MOMENT,
}
PLACE: dict[str, Any] = {
    "position": 1,
    "session": samples.SESSION_ID,
    "name": "train-resnet",
    "is_mine": True,
    "group": "gpu",
    "queue": "research",
    "state": "pending",
    "priority": 10,
    "reason": "no-resources",
}
NODE: dict[str, Any] = {
    "name": "gpu-2",
    "group": "gpu",
    "state": "ready",
    "state_reason": "",
    "labels": {"zone": "a"},
    "max_sessions": None,
    "last_report_at": samples.MOMENT,
    "slots": {"cuda.device": _USE},
    "devices": {"cuda.device": ["you", "allocated", "free", "free"]},
}
RULES: dict[str, Any] = {
    "enabled": True,
    "state": "on",
    "mode": "suspend",
    "order": "oldest",
    "scope": "owner_then_queue",
    "min_runtime": 60,
    "grace_period": 10,
}
PREEMPTION: dict[str, Any] = {
    "group": "gpu",
    "version": 3,
    "preemption": RULES,
    "reason": "urgent work waited for hours",
    "changed_by": "mona",
    "changed_at": samples.MOMENT,
    "planned": {
        "kind": "return",
        "at": samples.LATER,
        "for_s": 7200,
        "preemption": {"enabled": False, "state": "off"},
        "reason": "urgent work waited for hours",
        "planned_by": "mona",
        "planned_at": samples.MOMENT,
    },
}
PREVIEW: dict[str, Any] = {
    "round": 4711,
    "at": samples.MOMENT,
    "victims": [
        {
            "session": samples.OTHER_ID,
            "queue": "background",
            "node": "gpu-2",
            "axis": "queue",
            "value": 5,
            "preemptor_value": 20,
            "preemptor": samples.SESSION_ID,
            "slots": {"cuda.device": 2},
            "ran_s": 5400,
            "action": "kill",
            "mode": "reschedule",
            "lost": {"cuda.device": 10800},
            "stays_away": "",
        }
    ],
    "starts": 1,
    "waited_s": 340,
    "saved_s": 4080,
    "saved_unknown": 0,
    "lost": {"cuda.device": 10800},
    "protected": {"min-runtime": 2, "not-lower": 6},
    "exposure": [{"owner": "bob", "stop": 1, "could": 2, "by_others": 1, "protected": 3}],
    "warnings": [{"code": "no-minimum-runtime", "text": "**No protected time**: …"}],
    "needs_confirm": False,
}
SHADOW_REPORT: dict[str, Any] = {
    "since": samples.MOMENT,
    "until": None,
    "decisions": 9,
    "rounds": 5120,
    "stopped": 14,
    "helped": 5,
    "still_waiting": 1,
    "waited_s": 111600,
    "lost": {"cuda.device": 22320},
    "repeats": [{"session": samples.OTHER_ID, "times": 3}],
    "owners": [{"owner": "bob", "stopped": 14, "lost": {"cuda.device": 22320}, "helped": 1}],
    "is_cut": False,
    "note": "Nothing was stopped, so each of these decisions was made as if those before it …",
}
VERSION: dict[str, Any] = {
    "version": 3,
    "reason": "urgent work waited for hours",
    "changed_by": "mona",
    "changed_at": samples.MOMENT,
    "preemption": RULES,
    "changes": {"state": ["shadow", "on"]},
}
ROUND: dict[str, Any] = {
    "number": 4711,
    "group": "gpu",
    "at": samples.MOMENT,
    "duration_ms": 12,
    "policy_version": 3,
    "core_version": "7",
    "digest": "9f2b6a0c" * 8,
    "dispatched": 1,
    "preempted": 1,
    "pended": 11,
    "has_snapshot": True,
}
KEYPAIR: dict[str, Any] = {
    "access_key": "XCEJBSWY3DPEHPK3PXP",
    "name": "nightly pipeline",
    "user": "alice",
    "scope": "sessions",
    "policy": None,
    "is_active": True,
    "created_at": samples.MOMENT,
    "expires_at": None,
    "last_used_at": None,
}
SAVED_VIEW: dict[str, Any] = {
    "id": "01938c2e-7d11-7b20-a1b2-0c3d4e5f6a7b",
    "name": "my waiting GPU sessions",
    "query": "state:pending group:gpu user:me",
    "created_at": samples.MOMENT,
}
ME: dict[str, Any] = {
    "username": "alice",
    "is_administrator": False,
    "roles": {"gpu": "submitter"},
    "policy": "everybody",
    "max_priority": 50,
    "may_opt_out": True,
    "keypair": "XCEJBSWY3DPEHPK3PXP",
    "scope": "sessions",
}
