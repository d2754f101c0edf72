"""
Stopping by signals: SIGSTOP to the group, then to every member that left it. Works for any user on any Linux.
"""

from __future__ import annotations

import signal

from scheduler.agent import processes
from scheduler.agent.stop import driver
from scheduler.protocol import fields


class SignalDriver:
    """The owner of the processes can undo it with SIGCONT; the agent looks again every few seconds."""

    method = fields.StopMethod.SIGNALS

    def observe(self, target: driver.Target) -> list[processes.Process]:
        """Return the living members: by session id, by descent from the shepherd, and those known before."""
        found = processes.members(processes.scan(), job=target.job, root=target.shepherd, known=target.known)
        target.known = {process.identity for process in found}
        return found

    def is_held(self, target: driver.Target, members: list[processes.Process]) -> bool:
        """Return whether every member and each of its threads is in state T, t, Z or X."""
        return all(processes.is_still(process) for process in members)

    def notify(self, target: driver.Target, number: int) -> bool:
        """Send the signal to the group at once, and to each member outside it."""
        members = self.observe(target)
        first = any(process.identity == target.job for process in members)
        self._to_all(target, members, number)
        return first

    def hold(self, target: driver.Target) -> None:
        """
        Send SIGSTOP to the group, where no fork can slip through, and to members elsewhere that still run.
        """
        self._to_all(target, self.observe(target), signal.SIGSTOP, unless_still=True)

    def release(self, target: driver.Target) -> None:
        """Send SIGCONT to all."""
        self._to_all(target, self.observe(target), signal.SIGCONT)

    def kill(self, target: driver.Target) -> None:
        """Send SIGKILL to all."""
        self._to_all(target, self.observe(target), signal.SIGKILL)

    def _to_all(
        self,
        target: driver.Target,
        members: list[processes.Process],
        number: int,
        *,
        unless_still: bool = False,
    ) -> None:
        group = target.job.pid
        inside = [process for process in members if process.group == group]
        if inside and not (unless_still and all(map(processes.is_still, inside))):
            processes.send_group(group, number, witness=inside[0])
        for process in members:
            if process.group != group and not (unless_still and processes.is_still(process)):
                processes.send(process, number)
