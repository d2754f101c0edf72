"""The design page: every component once, in each of its states, for the eye and for the contrast check."""

from __future__ import annotations

from typing import Any

STATES = ("pending", "scheduled", "running", "preempted", "suspended", "stopping", "terminating")
RESULTS = ("success", "failure", "preempted", "cancelled", "timeout", "lost")
NODE_STATES = ("ready", "draining", "suspect", "down")
QUEUE_STATES = ("open", "no_submit", "stopped")
OUTCOMES = ("used", "partly", "wasted", "transferred", "withdrawn", "open", "shadow")
_CELLS = ("allocated", "allocated", "you", "reserved", "releasing", "free")


def context() -> dict[str, Any]:
    """Return the fixed values of the page."""
    return {
        "title": "Design",
        "states": STATES,
        "results": RESULTS,
        "node_states": NODE_STATES,
        "queue_states": QUEUE_STATES,
        "outcomes": OUTCOMES,
        "kinds": [_devices(), _memory()],
        "figures": _figures(),
    }


def _devices() -> dict[str, Any]:
    second = ("allocated", "allocated", "allocated", "allocated", "drained", "drained")
    cells = [{"name": "gpu-01", "cells": _CELLS}, {"name": "gpu-02", "cells": second}]
    return {"kind": "cuda.device", "label": "12 GPUs", "free": 1, "total": 12, "most": 1, "cells": cells}


def _memory() -> dict[str, Any]:
    parts = {
        "allocated": 500 << 30,
        "releasing": 62 << 30,
        "reserved": 62 << 30,
        "free": 300 << 30,
        "drained": 100 << 30,
    }
    return {
        "kind": "mem",
        "label": "memory",
        "free": 300 << 30,
        "total": 1024 << 30,
        "most": None,
        "parts": parts,
    }


def _figures() -> list[dict[str, str]]:
    return [
        {"value": "3", "unit": "", "label": "sessions stop", "tone": "cost"},
        {"value": "2", "unit": "", "label": "sessions start", "tone": "gain"},
        {"value": "1", "unit": "h 52 min", "label": "waiting saved", "tone": ""},
    ]
