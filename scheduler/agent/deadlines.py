"""
The wall-time limit of a session, for its shepherd to keep when no agent does.

While the session runs a file tells the moment, suspended time apart; it is gone as soon as a stop is under way. The
agent acts at that moment, the shepherd a little later if the file is still there. Moments are of the monotonic clock.
Standard library only: the shepherd uses it.
"""

from __future__ import annotations

import contextlib
import os
import pathlib
from typing import Any

from scheduler.agent import records

#: How long after the moment the shepherd still leaves it to the agent, in ms.
LATER_MS = 5000

Limit = dict[str, Any]


class Deadline:
    """The agent's side: one run's file."""

    def __init__(self, directory: pathlib.Path) -> None:
        self._path = directory / records.DEADLINE
        self._kept: Limit | None = None

    def keep(self, at_ms: int | None, *, number: int, grace_ms: int) -> None:
        """Have the shepherd end the session at this moment, with this warning and grace; None: not at all."""
        limit = {"at_ms": at_ms, "signal": number, "grace_ms": grace_ms} if at_ms is not None else {}
        if limit == self._kept:
            return
        with contextlib.suppress(OSError):  # a full disk: the agent keeps the limit, and tries again
            if limit:
                records.write(self._path, limit, sync=False)
            else:
                self._path.unlink(missing_ok=True)
            self._kept = limit


def overdue(directory: str | os.PathLike[str] = ".") -> Limit | None:
    """Return the limit that nobody has kept, or None."""
    limit = records.read(os.path.join(directory, records.DEADLINE))
    return limit if limit and records.monotonic_ms() >= limit["at_ms"] + LATER_MS else None
