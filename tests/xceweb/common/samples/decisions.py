"""Decisions: the list, one of them, and the candidates that both and the why page show."""

from __future__ import annotations

from typing import Any

from tests.xceweb.common.samples import frame


def rows() -> list[dict[str, Any]]:
    """Decisions with each outcome."""
    found = []
    for i, outcome in enumerate(
        ["open", "used", "used", "partly", "wasted", "transferred", "withdrawn", "shadow"]
    ):
        found.append(
            {
                "number": 7_211 - i,
                "url": "/decisions/7204/",
                "at": frame.ago(minutes=3 + 31 * i),
                "group": "a100",
                "axis": "owner" if i % 3 == 1 else "queue",
                "is_shadow": outcome == "shadow",
                "preemptor": {
                    "label": "serve-llm" if i % 2 else "Another session",
                    "url": "/sessions/x/" if i % 2 else "",
                    "value": 80,
                },
                "victims": [{"label": "train-resnet-7", "url": "/sessions/x/", "value": 20}][: 1 + i % 2]
                + [{"label": "Another session", "url": "", "value": 10}] * (i % 2),
                "node": f"gpu-0{1 + i % 4}",
                "outcome": outcome,
                "latency_us": None if outcome in {"open", "shadow"} else 5_280_000,
                "lost": "3,268 GPU-s" if i % 2 else "",
            }
        )
    return found


def decision_list() -> dict[str, Any]:
    """The list with its filters."""
    return {
        **frame.frame("decisions", ("Decisions", "")),
        "summary": "**41 of 41** preemptions of the last 7 days were used.",
        "filters": {
            "group": "",
            "outcome": "",
            "axis": "",
            "groups": ["a100", "l4"],
            "outcomes": ["used", "wasted"],
        },
        "decisions": rows(),
        "pager": {"first": 1, "last": 8, "total": 41, "previous_url": "", "next_url": "?page=2"},
    }


def candidates() -> list[dict[str, Any]]:
    """Every candidate with its verdict, by node."""
    dash = {
        "icon": "dash",
        "css": "ink-3",
        "label": "Another session",
        "url": "",
        "is_selected": False,
        "is_mine": False,
    }
    mine = {**dash, "label": "train-resnet-7", "url": "/sessions/x/", "is_selected": True, "is_mine": True}
    selected = {
        **mine,
        "icon": "s-preempted",
        "css": "i-preempted",
        "verdict": "Selected",
        "fact": "frees all that is short",
    }
    listed = {
        **dash,
        "verdict": "Queue not listed",
        "fact": "production may not preempt from itself",
        "queue": "production",
    }
    spared = {
        **dash,
        "verdict": "Not needed",
        "fact": "legal, but **25** is more than **20**",
        "queue": "batch",
    }
    young = {
        **dash,
        "icon": "clock",
        "css": "i-pending",
        "verdict": "Minimum runtime",
        "fact": "protected until 14:06:20",
        "queue": "batch",
    }
    return [
        {
            "name": "gpu-04",
            "text": "2 free, 4 short: one victim, sum of priorities 20. Chosen.",
            "candidates": [
                {
                    **selected,
                    "queue": "batch",
                    "value": 20,
                    "slots": frame.slots(4, 32, 256),
                    "had_run_s": 11_520,
                },
                {**listed, "value": 80, "slots": frame.slots(2, 8, 64), "had_run_s": 94_200},
            ],
        },
        {
            "name": "gpu-02",
            "text": "0 free, 6 short: one victim, sum of priorities 25. Higher than 20.",
            "candidates": [{**spared, "value": 25, "slots": frame.slots(6, 48, 384), "had_run_s": 20_400}],
        },
        {
            "name": "gpu-03",
            "text": "0 free, 6 short: at most 3 can be freed. No set.",
            "candidates": [{**young, "value": 10, "slots": frame.slots(4, 16, 64), "had_run_s": 347}],
        },
    ]


def shortage(held: bool = True) -> list[dict[str, Any]]:
    """What was short on gpu-04."""
    rows_ = [("cuda.device", 6, 2, 4, 4), ("cpu", 48_000, 24_000, 24_000, 32_000)]
    rows_.append(("mem", 384 * frame.GIB, 192 * frame.GIB, 192 * frame.GIB, 256 * frame.GIB))
    return [
        {
            "kind": kind,
            "asked": asked,
            "free": free,
            "releasing": 0,
            "short": short,
            "held": own if held else None,
            "after": free + own,
        }
        for kind, asked, free, short, own in rows_
    ]


def proof() -> dict[str, Any]:
    """A decision that was run again."""
    return {
        "sentence": "**One is the fewest.** All 19 sets on 4 nodes were searched: none of size 0 works, two "
        "of size 1 do.",
        "decision_number": 7_204,
        "decision_url": "/decisions/7204/",
        "rerun_url": "/decisions/7204/re-run/",
        "rerun": {
            "is_equal": False,
            "sentence": "Not equal: 11 of 12 decisions of that round, as far as you may see them are the same, and "
            "this record word for word. Core version 3 then, 4 now.",
            "note": "Another version of the scheduler may decide otherwise; both are shown.",
            "then_label": "Then, core 3",
            "now_label": "Now, core 4",
            "rows": [
                {"label": "sweep-51", "url": "#", "then": "waits: Not enough free", "now": "starts on gpu-02"}
            ],
            "at": frame.NOW,
            "took_us": 2_000,
        },
        "digest": "9f3c61abe204",
    }


def steps() -> list[dict[str, Any]]:
    """From the submit to the start, as it happened."""
    warn = "SIGTERM to 9 processes, deadline in 10 s"
    return [
        frame.step(1803, "s-pending", "i-pending", "Other session submitted", "6 GPUs, queue production"),
        frame.step(1802.76, "decision", "ink-2", "Decided", "round 16,631, decision 7,204", 238_000),
        frame.step(1802.72, "s-preempted", "i-preempted", "You were warned", warn, 46_000),
        frame.step(
            1797.5, "s-endpreempted", "i-preempted", "Your session exited by itself", "code 143", 5_238_000
        ),
        frame.step(
            1797.4, "check", "i-success", "Stop proven", "4 GPUs, 32 cores, 256 GiB handed over", 109_000
        ),
        frame.step(
            1797.39, "s-pending", "i-pending", "You are back in the queue", "as attempt 2, same id", 3_000
        ),
        frame.step(1797.25, "s-running", "i-running", "The other session started on gpu-04", "", 137_000),
    ]


def rules() -> list[dict[str, str]]:
    """The rules in force."""
    return [
        frame.fact(
            "Switch", "Preemption is **on** in a100, policy v14, by carol", "Serving needs room on weekdays."
        ),
        frame.fact("Queues", "production may preempt from batch and scavenge, by admin"),
        frame.fact("Axis", "queue: across owners. Your own lower sessions were tried first, none helped."),
        frame.fact("Minimum runtime", "10 min. You had run 3 h 12 min."),
    ]


def decision() -> dict[str, Any]:
    """One decision in full."""
    victim = {
        "label": "train-resnet-7",
        "url": "/sessions/x/",
        "is_mine": True,
        "action": "sent back to the queue",
        "signal": "SIGTERM",
        "own": 20,
        "theirs": 80,
        "slots": frame.slots(4, 32, 256),
        "state": "pending",
        "result": "",
        "stopped_us": 5_393_000,
        "lost": "3,268 GPU-s",
    }
    return {
        **frame.frame("decisions", ("Decisions", "/decisions/"), ("7,204", "")),
        "decision": {
            "number": 7_204,
            "sentence": "**One** session was stopped so that a session of queue production, priority **80**, "
            "could start on **gpu-04**.",
            "note": "It was 4 GPUs short there; the victim held 4 and had priority 20.",
            "at": frame.ago(seconds=1802.76),
            "round": 16_631,
            "group": "a100",
            "axis": "queue",
            "policy_name": "lowest_priority_first",
            "policy_version": 14,
            "policy_url": "/groups/a100/policy/",
            "node": "gpu-04",
            "is_shadow": False,
            "outcome": "used",
            "json_url": "/api/v1/decisions/7204/",
        },
        "facts": rules(),
        "short": shortage(),
        "victims": [victim],
        "candidates": {"nodes": candidates(), "value_label": "Priority"},
        "steps": steps(),
        "outcome_sentence": "**Used.** The other session started **0.14 s** after the room was free.",
        "proof": proof(),
    }
