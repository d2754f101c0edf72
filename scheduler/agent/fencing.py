"""
A node that is not heard any more ends its own sessions, where their group wants that, before anybody counts them lost.

Heard is a heartbeat that the controller acknowledged; its moment of sending is kept in a file. Each shepherd reads it
and fences its own session, so that a dead agent does not matter; the agent does so for jobs without shepherd.
Moments are of the node's own monotonic clock (RELIABILITY 4.7). Standard library only: the shepherd uses it.
"""

from __future__ import annotations

import os
import signal
from typing import Any

from scheduler.agent import processes, records

#: Below the state directory: when the last heartbeat that was heard had been sent.
HEARD = "heard"
#: A fenced session gets no longer from warning to kill than this, in ms: it must be over when others count it lost.
LONGEST_GRACE_MS = 60_000

Fence = dict[str, Any]


def note(root: str | os.PathLike[str], sent_ms: int) -> None:
    """Write down that a heartbeat that was sent then has been heard."""
    records.write(os.path.join(root, HEARD), {"boot": processes.boot_id(), "mono_ms": sent_ms})


def of(root: str | os.PathLike[str], *, after_ms: int, grace_ms: int, number: int) -> Fence | None:
    """Return what a shepherd needs to fence its session, None when it shall not."""
    if not after_ms:
        return None
    grace_ms = min(grace_ms, LONGEST_GRACE_MS)
    heard = os.path.join(root, HEARD)
    return {
        "heard": heard,
        "after_ms": after_ms,
        "grace_ms": grace_ms,
        "signal": number or int(signal.SIGTERM),
    }


def is_due(fence: Fence | None, *, since_ms: int) -> bool:
    """
    Return whether the node has not been heard for too long.

    Args:
        fence: see `of`.
        since_ms: when the session began; it counts where nothing was heard since.
    """
    if fence is None:
        return False
    heard = records.read(fence["heard"])
    is_of_now = heard.get("boot") == processes.boot_id()
    last_ms = max(since_ms, heard.get("mono_ms", 0) if is_of_now else 0)
    return records.monotonic_ms() - last_ms >= int(fence["after_ms"])
