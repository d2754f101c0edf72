"""Calls back when exactly this process ends: process descriptors in the event loop, no polling."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable

from scheduler.agent import processes


class Watches:
    """The processes that one life waits for."""

    def __init__(self) -> None:
        self._then: dict[int, Callable[[], None]] = {}

    def add(self, identity: processes.Identity | None, then: Callable[[], None]) -> bool:
        """Call `then` once when this process ends; return False when it already has."""
        if identity is None:
            return False
        try:
            handle = os.pidfd_open(identity.pid)
        except OSError:
            return False
        if not processes.is_alive(identity):
            os.close(handle)
            return False
        self._then[handle] = then
        asyncio.get_running_loop().add_reader(handle, self._ended, handle)
        return True

    @property
    def is_empty(self) -> bool:
        """Whether nothing is waited for."""
        return not self._then

    def close(self) -> None:
        """Watch nothing any more."""
        for handle in list(self._then):
            self._drop(handle)

    def _ended(self, handle: int) -> None:
        self._drop(handle)()

    def _drop(self, handle: int) -> Callable[[], None]:
        asyncio.get_running_loop().remove_reader(handle)
        os.close(handle)
        return self._then.pop(handle)
