"""Random decisions to ask about: drawn from seeds until so many were asked, a few hundred by day and more at night."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from scheduler.core import entities, snapshot
from tests import strategies

#: Decisions of each kind (victims; waiting sessions), each with all that is said of it.
WANTED = 2_600 if os.environ.get("XCE_NIGHT") else 150
#: Tests among which they are divided.
PARTS = range(20 if os.environ.get("XCE_NIGHT") else 2)
TIMEOUT_S = 3_600 if os.environ.get("XCE_NIGHT") else 240
_STATE = entities.PreemptionState
SHAPES: tuple[dict[str, Any], ...] = (
    {},
    {"min_runtime_s": 600},
    {"nodes": 2, "running": 14, "pending": 8, "scope": entities.PreemptionScope.OWNER_THEN_QUEUE},
    {"state": _STATE.SHADOW},
    {},
    {"state": _STATE.OFF},
    {"nodes": 2, "running": 12, "pending": 8, "min_runtime_s": 600},
)


def ask(part: int, checked: Callable[[snapshot.Snapshot], int]) -> int:
    """
    Check the decisions of one part.

    Args:
        part: one of ``PARTS``; each draws other clusters.
        checked: checks all that is said in one cluster; returns of how many decisions something was.

    Returns:
        How many decisions were checked.
    """
    asked, seed = 0, part << 32
    while asked < WANTED / len(PARTS):
        seed += 1
        shape = SHAPES[seed % len(SHAPES)]
        try:
            asked += checked(strategies.random_snapshot(seed, **shape))
        except AssertionError as error:
            error.add_note(f"of strategies.random_snapshot({seed}, **{shape})")
            raise
    return asked
