"""At most one coroutine at a time for one run: a new one takes the place of the one before."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any

log = logging.getLogger(__name__)


class Work:
    """The coroutine that is busy with a run, if any."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._task: asyncio.Task[None] | None = None
        self._fault = ""

    @property
    def is_busy(self) -> bool:
        """Whether a coroutine is at work."""
        return self._task is not None

    def begin(self, work: Coroutine[Any, Any, None]) -> None:
        """Cancel what is under way and begin this instead."""
        self.cancel()
        self._task = asyncio.get_running_loop().create_task(work)
        self._task.add_done_callback(self._ended)

    def cancel(self) -> None:
        """Cancel what is under way; a coroutine that calls this itself goes on to its end."""
        if self._task is not None and self._task is not asyncio.current_task():
            self._task.cancel()
        self._task = None

    def release(self) -> None:
        """Count as idle from now on, though the coroutine has a few steps left."""
        self._task = None

    def _ended(self, task: asyncio.Task[None]) -> None:
        if self._task is task:
            self._task = None
        fault = None if task.cancelled() else task.exception()
        if fault is not None and repr(fault) != self._fault:  # it is tried again every second
            log.error("work on session %s failed", self._name, exc_info=fault)
        self._fault = repr(fault) if fault is not None else ""
