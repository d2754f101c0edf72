"""
What a way of stopping must be able to do. Each call is one act or one look; waiting and proving is in
`procedures`.
"""

from __future__ import annotations

import dataclasses
from typing import Protocol

from scheduler.agent import processes, schedstat
from scheduler.protocol import fields


@dataclasses.dataclass
class Target:
    """
    The processes of one session.

    Attributes:
        job: the first process; leads the job's process session and its first group.
        shepherd: the subreaper above it, or None when it is gone.
        cgroup: directory of the session's control group, or empty.
        run: session and start epoch, of which its marks are made; None: it has none.
        known: members seen so far; kept up to date by `observe`.
        census: members of the last look, dead ones included. Whoever is new in the next one shows that something ran
            between the two, even if it was too short-lived to be seen alive.
        spent: processor time of the members' threads when they were last proved to be held.
    """

    job: processes.Identity
    shepherd: processes.Identity | None
    cgroup: str = ""
    run: tuple[str, int] | None = None
    known: set[processes.Identity] = dataclasses.field(default_factory=set)
    census: frozenset[processes.Identity] = frozenset()
    spent: schedstat.Spent = dataclasses.field(default_factory=dict)


class StopDriver(Protocol):
    """One way to hold processes."""

    method: fields.StopMethod

    def observe(self, target: Target) -> list[processes.Process]:
        """Return the living members as they are now."""

    def is_held(self, target: Target, members: list[processes.Process]) -> bool:
        """Return whether all of these members were executing nothing when looked at."""

    def spent(self, members: list[processes.Process]) -> schedstat.Spent:
        """Return the processor time of each thread so far; see `schedstat`."""

    def notify(self, target: Target, number: int, *, everyone: bool) -> bool:
        """Signal the first group, or every member; return whether the first process got it."""

    def hold(self, target: Target) -> None:
        """Stop whatever runs, once."""

    def release(self, target: Target) -> None:
        """Continue all members, once."""

    def kill(self, target: Target, members: list[processes.Process]) -> None:
        """Send SIGKILL to these members, or to all, once; held ones die too."""
