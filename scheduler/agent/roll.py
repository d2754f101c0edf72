"""
The members of one run that its shepherd alone could find again: remembered while it lives, over the agent's death too.

Whoever is in the job's own process session is found by that. Of the others, who left it, pid and start time are kept in
a file of the run's directory, written when they change.
"""

from __future__ import annotations

import contextlib
import pathlib

from scheduler.agent import processes, records
from scheduler.agent.stop import driver


class Roll:
    """Who of a run has left its process session, as seen last."""

    def __init__(self, directory: pathlib.Path) -> None:
        self._path = directory / records.LEFT
        self._left: set[processes.Identity] = set()

    def recall(self, target: driver.Target) -> None:
        """Have a new target know those whom an agent before had seen."""
        self._left = {processes.Identity(*pair) for pair in records.read(self._path).get("members", [])}
        target.known |= self._left

    def call(self, target: driver.Target, table: processes.Table) -> list[processes.Process]:
        """Return the living members of one scan, and remember them."""
        seen = processes.members(table, job=target.job, root=target.shepherd, known=target.known)
        target.known = {process.identity for process in seen}
        left = {process.identity for process in seen if process.session != target.job.pid}
        if left != self._left:
            pairs = sorted((identity.pid, identity.start_time) for identity in left)
            with contextlib.suppress(OSError):  # a full disk: they are still known to this agent
                records.write(self._path, {"members": pairs}, sync=False)
                self._left = left
        return seen
