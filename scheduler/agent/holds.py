"""A suspended run: the proof that it is stopped, and the look at it every few seconds, since it can be continued."""

from __future__ import annotations

import contextlib
import logging
import pathlib
from typing import Any

from scheduler.agent import accounting, evidence, processes, records
from scheduler.agent.stop import driver, procedures
from scheduler.protocol import messages

log = logging.getLogger(__name__)

#: How often it is told that a suspended session ran and was stopped again.
_MOST_TOLD = 3


class Hold:
    """Of one run; the processor time of its members at the last proof stays in a file, for the next agent."""

    def __init__(
        self, directory: pathlib.Path, how: driver.StopDriver, target: driver.Target, usage: accounting.Usage
    ) -> None:
        self._path = directory / records.HELD
        self._how, self._target, self._usage = how, target, usage
        self._told = 0

    def recall(self) -> None:
        """Have the target know what its members had spent when an agent before proved that they are stopped."""
        rows = records.read(self._path).get("spent", [])
        self._target.spent = {(pid, start_time, thread): ns for pid, start_time, thread, ns in rows}

    def prove(self, members: list[processes.Process], **more: Any) -> messages.Stopped:
        """Return the proof that these, all that there are, are stopped, and begin to count anew."""
        self._told = 0
        return self._proof(members, **more)

    def look(self, session: str) -> messages.Stopped | None:
        """Stop it again if it ran; that it is stopped is told as the same stop's proof, a later one."""
        if procedures.holds_still(self._how, self._target):
            return None
        log.warning("session %s ran while suspended: stopped again", session)
        self._how.hold(self._target)
        members = self._how.observe(self._target)
        self._target.spent = self._how.spent(members)
        if self._told >= _MOST_TOLD or not procedures.holds_still(self._how, self._target):
            return None
        self._told += 1
        return self._proof(members)

    def _proof(self, members: list[processes.Process], **more: Any) -> messages.Stopped:
        self._usage.look(members, self._target.shepherd)
        rows = [[*thread, ns] for thread, ns in self._target.spent.items()]
        with contextlib.suppress(OSError):  # a full disk: this agent knows it anyway
            records.write(self._path, {"spent": rows}, sync=False)
        more = {"warned": False, "waited_ms": 0, "members": evidence.members(members), **more}
        return messages.Stopped(method=self._how.method, cpu_ms=self._usage.cpu_ms, **more)
