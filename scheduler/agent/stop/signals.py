"""
Stopping by signals: SIGSTOP to the group, then to every member that left it. Works for any user on any Linux.
"""

from __future__ import annotations

import os
import signal

from scheduler.agent import marks, processes, schedstat
from scheduler.agent.stop import driver
from scheduler.protocol import fields

Members = list[processes.Process]

#: A stop takes 0.1 ms as a rule, 2 ms on a busy machine; a look at one process takes 20 microseconds.
_LOOKS = 100
#: How often the newest children of a shepherd are looked at in one go, and how many of them.
_CHASES, _LATEST = 200, 4


class SignalDriver:
    """The owner of the processes can undo it with SIGCONT; the agent looks again every few seconds."""

    method = fields.StopMethod.SIGNALS

    def observe(self, target: driver.Target) -> list[processes.Process]:
        """
        Return the living members: by session id, by descent from the shepherd, and those known before.

        Where the shepherd is gone its orphans are nobody's any more: their marks are looked for, too.
        """
        table = processes.scan()
        if target.run is not None and not _is_led(target, table):
            target.known = target.known | marks.bearing(target.run, table.values())
        found = processes.family(table, job=target.job, root=target.shepherd, known=target.known)
        target.census = frozenset(process.identity for process in found)
        living = [process for process in found if not process.is_dead]
        target.known = {process.identity for process in living}
        return living

    def is_held(self, target: driver.Target, members: list[processes.Process]) -> bool:
        """Return whether every member and each of its threads is in state T, t, Z or X."""
        return all(processes.is_still(process) for process in members)

    def spent(self, members: list[processes.Process]) -> schedstat.Spent:
        """Return the processor time of each thread so far; see `schedstat`."""
        return schedstat.spent(members)

    def notify(self, target: driver.Target, number: int, *, everyone: bool) -> bool:
        """Send the signal to the group at once and, if wanted, to each member outside it."""
        members = self.observe(target)
        _send_all(target, members if everyone else [p for p in members if _is_inside(target, p)], number)
        return any(process.identity == target.job for process in members)

    def hold(self, target: driver.Target) -> None:
        """
        Send SIGSTOP to the group, where no fork can slip through, then to members elsewhere that still run.

        Parents go before their children: a shell with job control that saw a child stop would give up its loop.
        """
        members = self.observe(target)
        _let_exec(members)
        inside, outside = _parts(target, members)
        if not all(map(processes.is_still, inside)):
            _send_group(target, inside, signal.SIGSTOP)
            _let_settle(inside)
        for process in outside:
            if not processes.is_still(process):
                processes.send(process, signal.SIGSTOP)
        if target.shepherd is not None:
            _chase(target.shepherd)

    def release(self, target: driver.Target) -> None:
        """Send SIGCONT to all, children before their parents, so that no parent finds a stopped child."""
        inside, outside = _parts(target, self.observe(target))
        for process in reversed(outside):
            processes.send(process, signal.SIGCONT)
        _send_group(target, inside, signal.SIGCONT)

    def kill(self, target: driver.Target, members: list[processes.Process]) -> None:
        """Send SIGKILL to these members, to the first group at once."""
        _send_all(target, members, signal.SIGKILL)


def _send_all(target: driver.Target, members: Members, number: int) -> None:
    inside, outside = _parts(target, members)
    _send_group(target, inside, number)
    for process in outside:
        processes.send(process, number)


def _is_led(target: driver.Target, table: processes.Table) -> bool:
    above = target.shepherd
    return above is not None and processes.is_in(table, above) and not table[above.pid].is_dead


def _is_inside(target: driver.Target, process: processes.Process) -> bool:
    return process.group == target.job.pid


def _parts(target: driver.Target, members: Members) -> tuple[Members, Members]:
    """Return the members of the first group and the others, each from the oldest to the youngest."""
    by_age = sorted(members, key=lambda process: (process.start_time, process.pid))
    inside = [process for process in by_age if _is_inside(target, process)]
    return inside, [process for process in by_age if not _is_inside(target, process)]


def _send_group(target: driver.Target, inside: Members, number: int) -> None:
    if inside:
        processes.send_group(target.job.pid, number, witness=inside[0])


def _let_exec(members: Members) -> None:
    """
    Let children go on for a moment that an earlier stop has caught between `vfork` and `exec`.

    Until such a child has called `exec`, its parent waits where no signal stops it: a shell that starts one program
    after the other is met there now and then. The parent stops as soon as it may: its signal is pending.
    """
    for parent in members:
        if parent.state in processes.STILL and parent.threads <= 1:
            continue
        stopped = [child for child in members if child.parent == parent.pid and child.state == "T"]
        if not stopped or not processes.waits_unstoppably(parent):
            continue
        for child in stopped:
            processes.send(child, signal.SIGCONT)
        for _ in range(_LOOKS):
            if not processes.waits_unstoppably(parent):
                break


def _chase(shepherd: processes.Identity) -> None:
    """
    Stop the latest orphans as they come to the shepherd, until it has no running one.

    A chain of processes that each fork and end sooner than a scan reaches them is caught only like this.
    """
    for _ in range(_CHASES):
        latest = processes.children(shepherd.pid)[-_LATEST:]
        if not [pid for pid in latest if _stop_child(shepherd, pid)]:
            return


def _stop_child(shepherd: processes.Identity, pid: int) -> bool:
    """Stop a child of the shepherd, and never another process that has its pid by now; return whether it ran."""
    try:
        handle = os.pidfd_open(pid)
    except OSError:
        return False
    try:
        now = processes.look(pid)
        if now is None or now.parent != shepherd.pid or now.state in processes.STILL:
            return False
        signal.pidfd_send_signal(handle, signal.SIGSTOP)
    except OSError:
        return False
    finally:
        os.close(handle)
    return True


def _let_settle(inside: Members) -> None:
    """Give the group the moment that a stop takes; whoever still runs then is found by the next look."""
    for _ in range(_LOOKS):
        now = (processes.look(process.pid) for process in inside)
        if all(process is None or processes.is_still(process) for process in now):
            return
