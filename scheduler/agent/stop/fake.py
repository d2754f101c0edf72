"""A scripted driver for tests: members that obey, resist or vanish, without any real process."""

from __future__ import annotations

import dataclasses

from scheduler.agent import processes, schedstat
from scheduler.agent.stop import driver
from scheduler.protocol import fields


@dataclasses.dataclass
class FakeDriver:
    """
    Remembers every act in `acts`.

    Attributes:
        members: pid to state letter; acts change it.
        resists: pids that never stop.
        used: processor time by pid, in ns.
        dies_of: signals that end a member when they are sent as a notice.
    """

    members: dict[int, str]
    resists: frozenset[int] = frozenset()
    dies_of: frozenset[int] = frozenset()
    method: fields.StopMethod = fields.StopMethod.SIGNALS
    used: dict[int, int] = dataclasses.field(default_factory=dict)
    acts: list[str] = dataclasses.field(default_factory=list)

    def observe(self, target: driver.Target) -> list[processes.Process]:
        """Return the scripted members."""
        return [_process(pid, state, target.job.pid) for pid, state in sorted(self.members.items())]

    def is_held(self, target: driver.Target, members: list[processes.Process]) -> bool:
        """Return whether all of them are in state T."""
        return all(process.state == "T" for process in members)

    def spent(self, members: list[processes.Process]) -> schedstat.Spent:
        """Return what the script says that they have used."""
        return {(one.pid, one.start_time, one.pid): self.used.get(one.pid, 0) for one in members}

    def notify(self, target: driver.Target, number: int, *, everyone: bool) -> bool:
        """Remember the signal; members end when it is one they die of."""
        self.acts.append(f"notify {number}")
        was_there = target.job.pid in self.members
        if number in self.dies_of:
            self.members.clear()
        return was_there

    def hold(self, target: driver.Target) -> None:
        """Stop all that do not resist."""
        self.acts.append("hold")
        self.members = {pid: state if pid in self.resists else "T" for pid, state in self.members.items()}

    def release(self, target: driver.Target) -> None:
        """Continue all."""
        self.acts.append("release")
        self.members = dict.fromkeys(self.members, "S")

    def kill(self, target: driver.Target, members: list[processes.Process]) -> None:
        """End all."""
        self.acts.append("kill")
        self.members.clear()


def _process(pid: int, state: str, group: int) -> processes.Process:
    return processes.Process(
        pid=pid,
        start_time=1,
        state=state,
        parent=1,
        group=group,
        session=group,
        threads=1,
        cpu_ms=0,
        reaped_ms=0,
    )
