"""Values for the examples of the schema: sessions, and what is told of them."""

from __future__ import annotations

from typing import Any

SESSION_ID = "01938c2e-7a51-7c0e-9d6a-2f4c1b7a9e10"
OTHER_ID = "01938c2e-6b1f-7d4a-8f21-5c9e0d3b7a42"
DECISION_ID = "01938c2e-7b02-7a11-b0c4-9a7d2e6f1c55"
MOMENT = "2026-11-30T09:41:07.512345Z"
LATER = "2026-11-30T11:41:07.512345Z"

SESSION: dict[str, Any] = {
    "id": SESSION_ID,
    "name": "train-resnet",
    "owner": "alice",
    "is_mine": True,
    "group": "gpu",
    "queue": "research",
    "type": "batch",
    "state": "pending",
    "state_since": MOMENT,
    "result": "",
    "reason": "no-resources",
    "priority": 10,
    "job_priority": 10,
    "is_preemptible": True,
    "is_held": False,
    "is_private": False,
    "slots": {"cpu": 4000, "cuda.device": 2, "mem": 17179869184},
    "node_count": 1,
    "nodes": [],
    "submitted_at": MOMENT,
    "started_at": None,
    "ended_at": None,
    "times_preempted": 0,
    "attempt": 1,
    "exit_code": None,
    "exit_signal": None,
    "url": f"/sessions/{SESSION_ID}/",
}
INSIDE: dict[str, Any] = {
    **SESSION,
    "wall_limit": 7200,
    "begin_at": None,
    "grace_period": None,
    "warning_signal": 15,
    "exit_0_after_warning": "finished",
    "restartable": True,
    "required_labels": {},
    "argv": ["python", "train.py", "--epochs", "3"],
    "script": "",
    "workdir": "",
    "environment": {"SEED": "7"},
    "port": None,
}
SUBMISSION: dict[str, Any] = {
    "name": "train-resnet",
    "group": "gpu",
    "queue": "research",
    "argv": ["python", "train.py", "--epochs", "3"],
    "slots": {"cpu": 4, "mem": "16g", "cuda.device": 2},
    "environment": {"SEED": "7"},
    "job_priority": 10,
    "wall_limit": 7200,
}
DRY_RUN: dict[str, Any] = {
    "outcome": "stops",
    "nodes": ["gpu-2"],
    "victims": 1,
    "axis": "owner",
    "reason": None,
    "sentence": "It would stop 1 session of your own and start on gpu-2.",
    "round": 4711,
    "at": MOMENT,
    "variants": [
        {"change": "cuda.device", "value": 1, "outcome": "starts", "nodes": ["gpu-1"], "victims": 0}
    ],
}
STEP: dict[str, Any] = {
    "version": 1,
    "number": 90210,
    "type": "session.submitted",
    "at": MOMENT,
    "session": SESSION_ID,
    "group": "gpu",
    "node": None,
    "decision": None,
    "text": "**train-resnet** was submitted",
    "changed": [],
    "link": f"/sessions/{SESSION_ID}/",
}
RUN: dict[str, Any] = {
    "attempt": 1,
    "nodes": ["gpu-2"],
    "dispatched_at": MOMENT,
    "started_at": MOMENT,
    "ended_at": None,
    "how_ended": "",
    "exit_code": None,
    "exit_signal": None,
    "cpu_ms": None,
    "peak_bytes": None,
    "ran_ms": None,
    "was_checkpointed": False,
}
RUN_LINE: dict[str, Any] = {
    **RUN,
    "session": SESSION_ID,
    "name": "train-resnet",
    "group": "gpu",
    "queue": "research",
}
OUTPUT: dict[str, Any] = {
    "state": "last-lines",
    "offset": 0,
    "next_offset": 21,
    "size": 21,
    "text": "epoch 1 loss 0.4132\n",
}
DECISION: dict[str, Any] = {
    "id": DECISION_ID,
    "number": 310,
    "at": MOMENT,
    "group": "gpu",
    "kind": "preempt",
    "axis": "queue",
    "policy_name": "lowest_priority_first",
    "outcome": "used",
    "node": "gpu-2",
    "queue": "research",
    "preemptor": SESSION_ID,
    "victims": 1,
    "round": 4711,
}
STOP: dict[str, Any] = {
    "id": 512,
    "decision": DECISION_ID,
    "at": MOMENT,
    "group": "gpu",
    "session": OTHER_ID,
    "preemptor": SESSION_ID,
    "axis": "queue",
    "mode": "suspend",
    "action": "suspend",
    "own_value": 5,
    "preemptor_value": 20,
    "fate": "stopped",
}
EXPLANATION: dict[str, Any] = {
    "session": SESSION_ID,
    "state": "pending",
    "result": "",
    "queue": "research",
    "group": "gpu",
    "kind": "pending",
    "sentence": "It needs 2 GPUs on one node. gpu-2 is nearest, 1 GPU short.",
    "note": "It starts when enough is free on one node. A smaller request may start sooner.",
    "reason": "no-resources",
    "facts": {"asked.cuda.device": 2, "short.cuda.device": 1, "nearest": "gpu-2"},
    "since": MOMENT,
}
COUNTERFACTUALS: dict[str, Any] = {
    "session": SESSION_ID,
    "kind": "pending",
    "state": "computed",
    "is_complete": True,
    "policies": [],
    "answers": [
        {
            "kind": "starts-with-less",
            "helps": True,
            "facts": {"kind": "cuda.device", "asked": 2, "step": 1, "value": 1},
            "sentence": "With 1 GPU instead of 2 it would start now.",
        }
    ],
}
RECORD: dict[str, Any] = {
    "decision": DECISION_ID,
    "number": 310,
    "at": MOMENT,
    "round": 4711,
    "core_version": "7",
    "snapshot_digest": "9f2b6a0c" * 8,
    "group": "gpu",
    "kind": "preempt",
    "axis": "queue",
    "policy_name": "lowest_priority_first",
    "policy_version": 3,
    "outcome": "used",
    "node": "gpu-2",
    "slots": {"cuda.device": 2},
    "preemptor": {"session": SESSION_ID, "queue": "research", "value": 20},
    "victims": [
        {"session": OTHER_ID, "queue": "background", "action": "suspend", "mode": "suspend", "own_value": 5}
    ],
    "candidates": [
        {
            "session": OTHER_ID,
            "queue": "background",
            "verdict": "selected",
            "facts": {"own": 5},
            "nodes": ["gpu-2"],
        }
    ],
    "nodes": [{"node": "gpu-2", "note": "", "short": {"cuda.device": 2}}],
}
RERUN: dict[str, Any] = {
    "decision": DECISION_ID,
    "round": 4711,
    "state": "equal",
    "sentence": "Run again, all 12 decisions of this round come out the same.",
    "note": "",
    "core_then": "7",
    "core_now": "7",
    "is_same_version": True,
    "is_record_equal": True,
    "decisions": 12,
    "equal": 12,
    "differing": [],
}
