"""The overview, groups, queues and nodes."""

from __future__ import annotations

import math
from typing import Any

from tests.xceweb.common.samples import decisions, frame

GIB = frame.GIB


def overview() -> dict[str, Any]:
    """A working cluster, seen by a submitter."""
    return {
        **frame.frame("overview", ("Overview", "")),
        "headline": {
            "sentence": "**4 of 11** waiting sessions need **4 or more GPUs on one node** of a100. **5** are "
            "free there, "
            "but never more than **3** together.",
            "note": "They ask for 20 GPUs and have waited 5 h 06 min in sum. The next room that is likely to "
            "open: "
            "gpu-02 in about 10 min.",
            "link": {"label": "Show the four", "url": "/sessions/?state=pending"},
        },
        "round": {"number": 18_442, "took_us": 14_000, "at": frame.ago(seconds=1), "durations_us": _rounds()},
        "wasted_24h": 0,
        "capacity": [a100(), l4()],
        "states": states(),
        "mine": mine(),
        "events": events(),
        "switch_news": [
            {
                "is_on": True,
                "title": "Preemption in **l4** is **on**",
                "at": frame.ago(minutes=5),
                "is_planned": False,
                "text": "Now **2 running sessions** of yours can be stopped for more important ones."
                " Who is stopped goes back to its queue and starts anew.",
                "by": "carol",
                "reason": "One week in shadow looked right.",
                "url": "#",
            },
            {
                "is_on": False,
                "title": "Preemption in **a100** will be **off**",
                "at": frame.ago(minutes=-90),
                "is_planned": True,
                "text": "From then on nobody is stopped there any more.",
                "by": "carol",
                "reason": "Back to the rules of the week.",
                "url": "#",
            },
        ],
        "notices": [
            {
                "title": "Tomorrow 06:00 to 07:00",
                "text": "a100 starts nothing new. Running sessions go on.",
                "link": None,
            },
            {
                "title": "l4, week in shadow",
                "text": "on would have stopped 14 sessions of 2 people and saved 31 h of waiting.",
                "link": {"label": "Read the report", "url": "/groups/l4/policy/"},
            },
        ],
    }


def empty_overview() -> dict[str, Any]:
    """The first minute of a new role: nothing to see yet."""
    nothing = {
        "alive": [{"state": "running", "count": 0, "url": "#"}],
        "alive_total": 0,
        "alive_max": 0,
        "ended": [],
    }
    empty = {
        "headline": {"sentence": "**Nothing waits.** No session runs.", "note": "", "link": None},
        "round": None,
        "capacity": [],
        "states": nothing,
        "mine": [],
        "events": [],
        "switch_news": [],
        "notices": [],
    }
    return {**overview(), **empty}


def _rounds() -> list[int]:
    return [
        11_000,
        10_000,
        9_000,
        11_000,
        10_000,
        12_000,
        8_000,
        10_000,
        22_000,
        9_000,
        11_000,
        10_000,
        14_000,
    ]


def _wave(height: float) -> list[float]:
    return [
        max(0.05, min(1.0, height + 0.18 * math.sin(i / 7) + 0.05 * math.sin(i * 1.7))) for i in range(97)
    ]


def usage(height: float, marks: list[tuple[float, bool]], label: str) -> dict[str, Any]:
    """Use over 24 hours with marks at (hours ago, would)."""
    found = [{"at": frame.ago(hours=hours), "would": would} for hours, would in marks]
    return {
        "values": _wave(height),
        "start": frame.ago(hours=24),
        "end": frame.NOW,
        "marks": found,
        "label": label,
    }


def a100() -> dict[str, Any]:
    """Four nodes with eight devices each."""
    cells = [
        frame.strip(f"gpu-0{i}", pattern)
        for i, pattern in enumerate(["aaaassrr", "aaaaaaff", "aaaaafff", "aaaaaaaa"], 1)
    ]
    return {
        "slug": "a100",
        "name": "a100",
        "summary": "4 nodes, 8 x A100 each",
        "state": "on",
        "state_since": frame.ago(days=18),
        "kinds": [
            kind(
                "cuda.device",
                5,
                32,
                most=3,
                cells=cells,
                label="32 GPUs: 23 allocated, 2 releasing, 2 reserved, 5 free",
            ),
            bar("cpu", {"allocated": 148_000, "releasing": 12_000, "reserved": 12_000, "free": 84_000}),
            bar(
                "mem",
                {"allocated": 1228 * GIB, "releasing": 96 * GIB, "reserved": 96 * GIB, "free": 628 * GIB},
            ),
        ],
        "usage": usage(
            0.75, [(21, False), (13, False), (5.2, False), (3.4, False), (0.5, False)], "GPUs in use, 24 h"
        ),
        "usage_label": "GPUs in use of 32, 24 h",
        "usage_note": "6 preemptions, all **used**",
        "running": 22,
        "waiting": 7,
        "oldest_wait_s": 13_860,
        "link": {"label": "Queue order", "url": "/groups/a100/"},
    }


def l4() -> dict[str, Any]:
    """Six nodes with four devices each, one drained."""
    patterns = ["aaaa", "aaaa", "aaaa", "aaaa", "aaaf", "dddd"]
    cells = [frame.strip(f"gpu-{i}", pattern) for i, pattern in enumerate(patterns, 11)]
    return {
        **a100(),
        "slug": "l4",
        "name": "l4",
        "summary": "6 nodes, 4 x L4 each",
        "state": "shadow",
        "state_since": frame.ago(days=7),
        "kinds": [
            kind("cuda.device", 1, 24, cells=cells, label="24 GPUs: 19 allocated, 1 free, 4 drained"),
            bar("cpu", {"allocated": 112_000, "free": 48_000, "drained": 32_000}),
            bar("mem", {"allocated": 820 * GIB, "free": 460 * GIB, "drained": 256 * GIB}),
        ],
        "usage": usage(0.6, [(19, True), (9, True), (1.6, True)], "GPUs in use of l4 over 24 hours"),
        "usage_label": "GPUs in use of 24, 24 h",
        "usage_note": "3 that **on** would have made",
        "running": 12,
        "waiting": 4,
        "oldest_wait_s": 2_460,
        "link": {"label": "Preview “on”", "url": "/groups/l4/policy/"},
    }


def kind(
    name: str, free: int, total: int, *, most: int | None = None, label: str = "", **shape: Any
) -> dict[str, Any]:
    """One kind of a capacity list."""
    return {"kind": name, "free": free, "total": total, "most": most, "label": label or name, **shape}


def bar(name: str, parts: dict[str, int]) -> dict[str, Any]:
    """One kind that is drawn as a bar."""
    return kind(name, parts["free"], sum(parts.values()), parts=parts)


def states() -> dict[str, Any]:
    """Counts by state."""
    alive = {
        "pending": 11,
        "scheduled": 1,
        "running": 34,
        "preempted": 1,
        "suspended": 2,
        "stopping": 0,
        "terminating": 1,
    }
    ended = {"success": 212, "failure": 9, "preempted": 6, "cancelled": 3, "timeout": 2, "lost": 0}
    return {
        "alive": [
            {"state": name, "count": n, "url": f"/sessions/?state={name}"} for name, n in alive.items()
        ],
        "alive_total": 50,
        "alive_max": 34,
        "ended": [
            {"result": name, "count": n, "url": f"/sessions/?state=ended:{name}"} for name, n in ended.items()
        ],
        "ended_max": 212,
    }


def mine() -> list[dict[str, Any]]:
    """One's own sessions."""
    rows = [
        (
            "train-resnet-7",
            "pending",
            "",
            "Preempted by priority **80**, attempt 2",
            "a100",
            4,
            1800,
            "about 14:52",
        ),
        (
            "sweep-51",
            "pending",
            "",
            "Needs 4 GPUs on one node, 3 free at most",
            "a100",
            4,
            1664,
            "about 14:42",
        ),
        ("train-bert-2", "running", "", "Would be stopped now if l4 were on", "l4", 2, 2940, "until 18:40"),
        (
            "notebook-3",
            "suspended",
            "",
            "Suspended by you, resumes on gpu-15",
            "l4",
            1,
            7500,
            "when you resume",
        ),
        ("prep-data-19", "terminated", "success", "Exit code 0", "a100", 0, 4320, "ended"),
    ]
    keys = ("name", "state", "result", "verdict", "group", "gpus", "since_s", "next")
    found = [dict(zip(keys, row, strict=True)) for row in rows]
    return [{**row, "id": frame.ID, "slots": frame.slots(row["gpus"], 16)} for row in found]


def events() -> list[dict[str, Any]]:
    """The newest events."""
    rows = [
        (2, "session.preempted", "A session in **batch** is being stopped to make room"),
        (3, "session.submitted", "A session in **production** was submitted"),
        (30, "session.started", "A session in **scavenge** runs"),
        (118, "session.ended", "A session in **research** finished"),
        (195, "session.suspended", "A session in **batch** is suspended"),
        (459, "group.policy_changed", "Group **l4** has preemption **shadow**, set by **carol**"),
        (667, "node.state_changed", "Node **gpu-16** is **draining**"),
    ]
    earlier = [(700 + i, "session.started", "A session in **scavenge** runs") for i in range(13)]
    return [frame.event(48_211 - i, *row) for i, row in enumerate(rows + earlier)]


def tabs(current: str) -> list[dict[str, Any]]:
    """The tabs of a group."""
    labels = {"Summary": None, "Sessions": 17, "Queues": 4, "Nodes": 6, "Policy": None, "History": None}
    return [
        {"label": name, "url": "#", "count": count, "is_current": name == current}
        for name, count in labels.items()
    ]


def group() -> dict[str, Any]:
    """The summary of one group."""
    card = l4()
    return {
        **frame.frame("group:l4", ("Groups", "/"), ("l4", "")),
        **card,
        "group": {
            "slug": "l4",
            "name": "l4",
            "state": "shadow",
            "summary": card["summary"],
            "starting": True,
            "policy_url": "/groups/l4/policy/",
            "policy_sentence": "In **shadow**: nobody is stopped, what would be is recorded. Victims go "
            "**back to the "
            "queue** after **10 s**; a session is safe in its first **5 min**.",
        },
        "tabs": tabs("Summary"),
        "states": states(),
        "pending": [
            {
                "label": "No room",
                "url": "/help/reasons/#no-resources",
                "count": 3,
                "readable": 3,
                "list_url": "/sessions/?group=a100&reason=no-resources",
                "slots": frame.slots(7, 56),
                "oldest_wait_s": 2460,
            },
            {
                "label": "Held",
                "url": "/help/reasons/#held",
                "count": 2,
                "readable": 1,
                "list_url": "/sessions/?group=a100&reason=held",
                "slots": frame.slots(1, 4),
                "oldest_wait_s": 600,
            },
        ],
        "nodes": nodes()[:6],
        "queues": queues()[:2],
        "decisions": decisions.rows()[:3],
    }


def queues() -> list[dict[str, Any]]:
    """Four queues that may preempt each other in part."""
    common = {
        "policy_name": "lowest_priority_first",
        "policy_error": "",
        "default_priority": 10,
        "groups": ["a100", "l4"],
    }
    rows = [
        (
            "production",
            "Serving and nightly evaluation",
            "open",
            False,
            ["batch", "scavenge"],
            80,
            9,
            2,
            2460,
        ),
        ("research", "", "open", False, ["scavenge"], 40, 8, 3, 13_860),
        ("batch", "Long training runs", "open", True, [], 40, 14, 5, 1800),
        ("scavenge", "Whatever is left", "no_submit", True, [], 10, 3, 1, None),
    ]
    keys = (
        "name",
        "description",
        "state",
        "is_preemptible",
        "may_preempt",
        "max_priority",
        "running",
        "pending",
        "oldest_wait_s",
    )
    found = [{**common, **dict(zip(keys, row, strict=True))} for row in rows]
    found[1]["policy_error"] = "No plug-in is called fair_first: this queue preempts nobody."
    return found


def nodes() -> list[dict[str, Any]]:
    """Nodes in each of their states."""
    patterns = {
        "gpu-11": "aaaa",
        "gpu-12": "aaar",
        "gpu-13": "assa",
        "gpu-14": "aaaa",
        "gpu-15": "aaaf",
        "gpu-16": "dddd",
    }
    return [_node(name, pattern) for name, pattern in patterns.items()]


def _node(name: str, pattern: str) -> dict[str, Any]:
    is_drained = pattern == "dddd"
    parts = {"drained": 32_000} if is_drained else {"allocated": 22_000, "free": 10_000}
    device = kind(
        "cuda.device",
        pattern.count("f"),
        4,
        label=f"{name}: 4 GPUs",
        cells=frame.strip(name, pattern)["cells"],
    )
    return {
        "name": name,
        "state": "draining" if is_drained else "suspect" if name == "gpu-14" else "ready",
        "note": "“fan 2, replace at 16:00”" if is_drained else "",
        "kinds": [device, kind("cpu", parts.get("free", 0), 32_000, label=f"{name}: cores", parts=parts)],
        "running": 0 if is_drained else 3,
    }


def node_list() -> dict[str, Any]:
    """All nodes by group."""
    groups = [
        {
            "slug": "l4",
            "name": "l4",
            "state": "shadow",
            "largest": "1 GPU, 10 cores, 92 GiB",
            "nodes": nodes(),
        }
    ]
    return {**frame.frame("nodes", ("Nodes", "")), "groups": groups}


def node() -> dict[str, Any]:
    """One node with what it holds."""
    states_ = ["allocated", "allocated", "allocated", "allocated", "allocated", "allocated", "free", "free"]
    sessions = ["train-bert-2"] * 2 + ["Another session"] * 4 + ["", ""]
    devices = [
        {
            "kind": "GPU",
            "index": i,
            "state": state,
            "session": session,
            "url": "/sessions/x/" if "bert" in session else "",
        }
        for i, (state, session) in enumerate(zip(states_, sessions, strict=True))
    ]
    held = {"state": "running", "result": "", "queue": "batch", "priority": 20, "since_s": 2940}
    return {
        **frame.frame("nodes", ("Nodes", "/nodes/"), ("gpu-02", "")),
        "node": {
            "name": "gpu-02",
            "group": "a100",
            "state": "ready",
            "note": "",
            "last_report_at": frame.ago(seconds=2),
            "labels": {"gpu": "a100", "rack": "r4"},
            "max_sessions": 12,
            "enforced": [
                "This host cannot limit memory: sessions are trusted to stay within what they asked for."
            ],
        },
        "kinds": [a100()["kinds"][0], bar("cpu", {"allocated": 40_000, "free": 24_000})],
        "devices": devices,
        "sessions": [
            {
                **held,
                "label": "train-bert-2",
                "url": "/sessions/x/",
                "is_mine": True,
                "slots": frame.slots(2, 16),
                "devices": "GPUs 0, 1",
            },
            {
                **held,
                "label": "Another session",
                "url": "",
                "is_mine": False,
                "slots": frame.slots(4, 24),
                "devices": "GPUs 2 to 5",
            },
        ],
        "claims": [
            {
                "label": "Another session",
                "url": "",
                "is_mine": False,
                "queue": "production",
                "slots": frame.slots(8, 64),
                "since": frame.ago(minutes=12),
            }
        ],
        "steps": [
            frame.step(4000, "nodes", "ink-3", "Joined"),
            frame.step(2940, "s-running", "i-running", "train-bert-2 started"),
        ],
        "actions": [drain()],
    }


def drain() -> dict[str, Any]:
    """An action that asks for a reason."""
    reason = {
        "name": "reason",
        "label": "Reason",
        "type": "text",
        "value": "",
        "min": None,
        "max": None,
        "required": True,
    }
    return {
        "key": "drain",
        "label": "Drain",
        "url": "#",
        "title": "Drain gpu-02?",
        "text": "Nothing new starts here. 2 sessions go on until they end.",
        "button": "Drain gpu-02",
        "tone": "primary",
        "fields": [reason],
    }
