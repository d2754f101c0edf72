"""Why pending, why preempted, and every other state in words."""

from __future__ import annotations

from typing import Any

from tests.xceweb.common.samples import decisions, frame, sessions


def preempted() -> dict[str, Any]:
    """A session that made room."""
    return sessions.page("why", why=_why_preempted(), told=told())


def _why_preempted() -> dict[str, Any]:
    before, after = frame.strip("gpu-04", "yyyyaaff")["cells"], frame.strip("gpu-04", "rrrraarr")["cells"]
    return {
        "kind": "preempted",
        "sentence": "Stopped so that a session of queue production with priority **80**, yours is **20**, "
        "could start on "
        "**gpu-04**. It was **4 GPUs** short and yours held **4**.",
        "note": "This is not a failure of your session. It keeps its place and starts again by itself.",
        "short": {
            "node": "gpu-04",
            "before": {"cells": before, "text": "2 free, 6 asked"},
            "after": {"cells": after, "text": "all 8 in use"},
            "kinds": decisions.shortage(),
        },
        "rule": {
            "own": 20,
            "own_label": "Your priority",
            "own_detail": "queue batch, preemptible",
            "theirs": 80,
            "theirs_label": "Its priority",
            "theirs_detail": "queue production, may preempt from batch",
            "facts": decisions.rules(),
        },
        "others": {
            "sentence": "One session was enough, so one was stopped. Two could have been that one. **Yours "
            "had the lower priority, 20 against 25.**",
            "nodes": decisions.candidates(),
            "value_label": "Priority",
        },
        "timing": {"spans": _spans(), "label": "5.77 s from submit to start", "steps": decisions.steps()},
        "outcome": {
            "state": "used",
            "sentence": "**Used.** The other session started **0.14 s** after your room was free. In 7 days, "
            "41 of 41 preemptions in a100 were used.",
        },
        "lost": _lost(),
        "next": {
            "sentence": "**Starts at about 14:52**, between 14:44 and 15:20. Position 3 of 7.",
            "link": {"label": "Why pending", "url": "?face=pending"},
            "facts": [
                frame.fact("Kept", "id, priority 20, submit time"),
                frame.fact("Protection left", "It can be preempted **once more** (limit 2)."),
            ],
        },
        "is_tried": True,
        "history": {"chart": sessions.chart(), "attempts": sessions.runs()},
        "who": {
            "seen": "queue production, priority 80, 6 GPUs on gpu-04, running",
            "hidden": "its owner, name and command. Operators of a100 do.",
            "url": "",
        },
        "proof": decisions.proof(),
    }


def _spans() -> list[dict[str, Any]]:
    return [
        {"kind": "pending", "us": 240_000, "text": "deciding 0.24 s"},
        {"kind": "preempted", "us": 5_280_000, "text": "your session winds down, 5.28 s"},
        {"kind": "running", "us": 250_000, "text": "hand-over 0.25 s"},
    ]


def _lost() -> dict[str, Any]:
    figures = [
        {"value": "3,268", "unit": "", "label": "GPU-seconds since your last checkpoint", "tone": "cost"},
        {"value": "46,080", "unit": "", "label": "lost at most, if you cannot resume from it", "tone": ""},
        {"value": "3", "unit": "h 12 min", "label": "had run, on 4 GPUs", "tone": ""},
    ]
    return {
        "figures": figures,
        "note": "Open files and memory are gone. Output is kept on gpu-04 for 14 days.",
    }


def told() -> dict[str, Any]:
    """What was tried."""
    note = "Each line was tried: round 18442 run again with that one thing changed."
    return {"suggestions": suggestions(), "note": note}


def suggestions() -> list[dict[str, Any]]:
    """Some that help, some that do not."""
    set_to = {"label": "Set to 25", "url": "#", "fields": {"priority": 25}}
    return [
        {
            "helps": True,
            "label": "With priority 25 or more",
            "fact": "Spared: the session on gpu-02 is stopped instead. Your cap is **40**.",
            "end": "",
            "action": set_to,
        },
        {
            "helps": False,
            "label": "With 3 GPUs, or 2",
            "fact": "Not spared: what you would leave free still makes 6.",
            "end": "no help",
            "action": None,
        },
        {
            "helps": False,
            "label": "Opted out",
            "fact": "Would have spared it, but your policy keeps that for interactive sessions.",
            "end": "not allowed",
            "action": None,
        },
    ]


def warned() -> dict[str, Any]:
    """A session that is being stopped now."""
    warning = {
        "sentence": "This session is being stopped.",
        "deadline": frame.later(seconds=8),
        "note": "Save your work: SIGTERM was sent.",
    }
    why = {
        **_why_preempted(),
        "outcome": None,
        "next": None,
        "history": None,
        "is_tried": False,
        "proof": None,
    }
    return sessions.page(
        "why", session=sessions.session(state="preempted", attempt=1), warning=warning, why=why
    )


def pending() -> dict[str, Any]:
    """A session that waits for room."""
    subject = sessions.session(
        name="sweep-51", attempt=1, queue="research", priority=30, preempted_count=0, preempted_limit=None
    )
    return sessions.page("why", session=subject, why=_why_pending(), told=told())


def _why_pending() -> dict[str, Any]:
    return {
        "kind": "pending",
        "sentence": "It needs **4 GPUs on one node**. **5** are free in a100, but never more than **3** "
        "together, on gpu-03.",
        "note": "Fragmented: enough in total, not on one node.",
        "code": "no-resources",
        "since": frame.ago(minutes=2),
        "round": 18_442,
        "checked_at": frame.ago(seconds=1),
        "help_url": "/help/reasons/#no-resources",
        "next": "**Next: in 9 min 30 s.** A session on gpu-02 ends its protected first 10 minutes. Yours may "
        "then take its place.",
        "is_tried": True,
        "estimate": {
            "now": frame.NOW,
            "best_at": frame.later(minutes=10),
            "from_at": frame.later(minutes=6),
            "to_at": frame.later(minutes=33),
            "label": "Likely start in 10 minutes, range 6 to 33 minutes",
            "note": "Nine in ten start in this range. Last week **88 %** of such ranges held.",
        },
        "short": {"kinds": _kinds(), "nodes": _nodes(), "strip_label": "8 GPUs"},
        "checks": [
            {
                "result": "no",
                "label": "Fits on one node",
                "fact": "4 GPUs asked, 3 free at most (gpu-03)",
                "end": "1 short",
            },
            {"result": "yes", "label": "Not held", "fact": "released at submit", "end": ""},
            {"result": "wait", "label": "Dependencies", "fact": "sweep-50 still runs", "end": ""},
            {"result": "idle", "label": "Begin time", "fact": "none set", "end": ""},
        ],
        "order": {
            "sentence": "Position **2 of 7** in a100. The one ahead waits for a whole node and **does not "
            "hold you up**.",
            "rows": _order(),
        },
        "preemption": {
            "sentence": "**Yes, in 9 min.** Preemption is on in a100, and research may preempt from "
            "scavenge.",
            "candidates": _candidates(),
            "is_open": False,
        },
    }


def _kinds() -> list[dict[str, Any]]:
    rows = [
        ("cuda.device", 4, 5, 3, 1),
        ("cpu", 32_000, 84_000, 40_000, 0),
        ("mem", 256 * frame.GIB, 628 * frame.GIB, 300 * frame.GIB, 0),
    ]
    keys = ("kind", "asked", "free", "most", "short")
    return [dict(zip(keys, row, strict=True)) for row in rows]


def _nodes() -> list[dict[str, Any]]:
    rows = [
        ("gpu-03", "aaaaafff", "3", "1", "enough", "nearest: one GPU short"),
        ("gpu-02", "aaaaaaff", "2", "2", "enough", "one victim possible in 9 min"),
        ("gpu-01", "aaaassrr", "0", "4", "enough", "2 releasing, all reserved for another"),
        ("gpu-04", "aaaaaaaa", "0", "4", "24 cores short", "full until 18:00 at the latest"),
    ]
    return [
        {
            "name": name,
            "url": "/nodes/x/",
            "cells": frame.strip(name, cells)["cells"],
            "free": free,
            "short": short,
            "others": others,
            "helps": helps,
        }
        for name, cells, free, short, others, helps in rows
    ]


def _order() -> list[dict[str, Any]]:
    row = {"url": "", "is_this": False, "is_mine": False, "submitted_at": frame.ago(hours=1)}
    return [
        {
            **row,
            "position": 1,
            "label": "Another session, production",
            "priority": 60,
            "slots": frame.slots(8),
            "waits_for": "a whole node",
        },
        {
            **row,
            "position": 2,
            "label": "sweep-51",
            "is_this": True,
            "is_mine": True,
            "priority": 30,
            "slots": frame.slots(4),
            "waits_for": "4 GPUs on one node",
        },
        {
            **row,
            "position": 3,
            "label": "train-resnet-7",
            "url": "#",
            "is_mine": True,
            "priority": 20,
            "slots": frame.slots(4),
            "waits_for": "4 GPUs on one node",
        },
    ]


def _candidates() -> list[dict[str, Any]]:
    row = {"url": "", "icon": "dash", "css": "ink-3"}
    young = {
        "icon": "clock",
        "css": "i-pending",
        "verdict": "Minimum runtime",
        "fact": "protected for 9 min, then it suffices alone",
    }
    return [
        {
            **row,
            **young,
            "label": "Another session",
            "node": "gpu-02",
            "queue": "scavenge",
            "value": "0",
            "slots": frame.slots(2),
        },
        {
            **row,
            "label": "4 sessions",
            "verdict": "Not lower",
            "fact": "priority **30** or more, yours is **30**",
            "node": "gpu-01, 03",
            "queue": "various",
            "value": "30 to 80",
            "slots": frame.slots(11),
        },
    ]


def running() -> dict[str, Any]:
    """A session that runs, and could be stopped."""
    subject = sessions.session(state="running", attempt=1, nodes=["gpu-02"], name="train-bert-2")
    why = {
        "kind": "other",
        "eyebrow": "How it runs",
        "tone": "running",
        "sentence": "It has run for **49 min** on **gpu-02**, with **4 GPUs** of its own.",
        "note": "Started 9 min after it was submitted.",
        "facts": [frame.fact("Devices", "GPUs 0 to 3"), frame.fact("Wall time", "3 h 11 min left")],
        "steps": decisions.steps()[:2],
        "risk": {
            "sentence": "**Yes**, by a session of queue production with a priority above 20.",
            "facts": [frame.fact("Protected", "no longer, its first 10 min are over")],
        },
    }
    return sessions.page("why", session=subject, why=why)


def failed() -> dict[str, Any]:
    """A session that ended badly, without being stopped by anybody."""
    why = {
        "kind": "other",
        "eyebrow": "Why it ended",
        "tone": "failure",
        "sentence": "It **failed** by itself after **12 min**, with exit code **137**.",
        "note": "Nobody stopped it: the kernel did, for want of memory.",
        "facts": [frame.fact("Peak memory", "256 GiB of 256 GiB")],
        "steps": [],
        "risk": None,
    }
    return sessions.page(
        "why", session=sessions.session(state="terminated", result="failure", attempt=1), why=why, actions=[]
    )
