"""
Processes as /proc shows them: identity, membership in a session, and signals that cannot hit a stranger.

A process is known by pid *and* start time; a bare pid is never trusted. Membership is looked up anew each
time.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import pathlib
import signal
from collections.abc import Iterable, Mapping

PROC = pathlib.Path("/proc")
#: State letters of a process that executes nothing: stopped, traced, zombie, dead. D is not among them.
STILL = frozenset("TtZXx")
DEAD = frozenset("ZXx")
TICK_MS = 1000 // os.sysconf("SC_CLK_TCK")

Table = Mapping[int, "Process"]


@dataclasses.dataclass(frozen=True, slots=True)
class Identity:
    """What makes a process this one and no other: pid and start time (clock ticks) within one boot."""

    pid: int
    start_time: int


@dataclasses.dataclass(frozen=True, slots=True)
class Process:
    """
    One look at a process: its place, state letter, threads and processor time (own and waited-for, in ms).
    """

    pid: int
    start_time: int
    state: str
    parent: int
    group: int
    session: int
    threads: int
    cpu_ms: int
    reaped_ms: int

    @property
    def identity(self) -> Identity:
        """Pid and start time."""
        return Identity(self.pid, self.start_time)

    @property
    def is_dead(self) -> bool:
        """Whether nothing of it can ever run again."""
        return self.state in DEAD and self.threads <= 1


def parse_stat(text: str) -> Process:
    """
    Read one line of /proc/PID/stat.

    Args:
        text: the line; the name between the first `(` and the *last* `)` may hold anything.

    Raises:
        ValueError: not such a line.
    """
    left, _, right = text.rpartition(")")
    rest = right.split(None, 20)
    own, reaped = int(rest[11]) + int(rest[12]), int(rest[13]) + int(rest[14])
    return Process(
        pid=int(left.partition(" (")[0]),
        start_time=int(rest[19]),
        state=rest[0],
        parent=int(rest[1]),
        group=int(rest[2]),
        session=int(rest[3]),
        threads=int(rest[17]),
        cpu_ms=own * TICK_MS,
        reaped_ms=reaped * TICK_MS,
    )


def look(pid: int) -> Process | None:
    """Return the process with this pid as it is now, or None."""
    try:
        descriptor = os.open(f"/proc/{pid}/stat", os.O_RDONLY)
    except OSError:
        return None
    try:
        return parse_stat(os.read(descriptor, 4096).decode(errors="replace"))
    except (OSError, ValueError, IndexError):
        return None
    finally:
        os.close(descriptor)


def start_time(pid: int) -> int:
    """Return when a process started, in clock ticks since boot; OSError when there is none."""
    file = os.open(f"/proc/{pid}/stat", os.O_RDONLY)
    try:
        return int(os.read(file, 4096).rpartition(b")")[2].split(None, 20)[19])
    finally:
        os.close(file)


def scan() -> dict[int, Process]:
    """Look at every process of the machine: one read each, about 20 microseconds."""
    seen = (look(int(name)) for name in os.listdir(PROC) if name.isdigit())
    return {process.pid: process for process in seen if process is not None}


def is_alive(identity: Identity | None) -> bool:
    """Return whether exactly this process still exists and is no zombie."""
    if identity is None:
        return False
    process = look(identity.pid)
    return process is not None and process.start_time == identity.start_time and not process.is_dead


def members(
    table: Table, *, job: Identity | None, root: Identity | None, known: Iterable[Identity] = ()
) -> list[Process]:
    """Find the living processes of a job, by pid; see `family`."""
    return [process for process in family(table, job=job, root=root, known=known) if not process.is_dead]


def family(
    table: Table, *, job: Identity | None, root: Identity | None, known: Iterable[Identity] = ()
) -> list[Process]:
    """
    Find the processes of a job, those included that are dead and not yet waited for.

    Args:
        table: one scan.
        job: the job's first process, whose pid is the job's session id.
        root: its supervisor, a subreaper: all that descends from it belongs to the job; None when it is gone.
        known: members seen earlier; they and their descendants belong to it wherever they went.

    Returns:
        Members by pid, without the supervisor.
    """
    roots = {i.pid for i in (*known, *([root] if root else ())) if is_in(table, i)}
    if job is not None and _owns_its_number(table, job):
        roots |= {pid for pid, process in table.items() if process.session == job.pid}
    found = _descendants(table, roots)
    return [table[pid] for pid in sorted(found) if root is None or pid != root.pid]


def children(pid: int) -> list[int]:
    """
    Return the children that a process has at this moment, orphans that it inherited included.

    One read of a few microseconds, fast enough for a chain of processes that each live that long; empty where the
    kernel does not list them.
    """
    with contextlib.suppress(OSError, ValueError):
        return [int(word) for word in (PROC / str(pid) / "task" / str(pid) / "children").read_text().split()]
    return []


def tree(root: int) -> list[Process]:
    """Return the living descendants of a process without looking at any other; one that is being born may lack."""
    found: list[Process] = []
    edge = [root]
    while edge:
        seen = [process for pid in children(edge.pop()) if (process := look(pid)) is not None]
        found += [process for process in seen if not process.is_dead]
        edge += [process.pid for process in seen]
    return found


def carrying(variable: str) -> set[Identity]:
    """
    Find living processes whose environment began with this `NAME=value`; only those of the same user can be asked.
    """
    needle = b"\0" + variable.encode() + b"\0"
    return {p.identity for p in scan().values() if not p.is_dead and needle in b"\0" + environment(p.pid)}


def environment(pid: int) -> bytes:
    """Return the environment that a process began with, empty where it may not be read."""
    try:
        return (PROC / str(pid) / "environ").read_bytes()
    except OSError:
        return b""


def is_in(table: Table, identity: Identity) -> bool:
    """Return whether exactly this process is in a scan."""
    process = table.get(identity.pid)
    return process is not None and process.start_time == identity.start_time


def _owns_its_number(table: Table, job: Identity) -> bool:
    """A process with the job's pid and another start time shows that the session id was given out again."""
    return job.pid not in table or is_in(table, job)


def _descendants(table: Table, roots: set[int]) -> set[int]:
    """Return the roots and all below them."""
    children: dict[int, list[int]] = {}
    for process in table.values():
        children.setdefault(process.parent, []).append(process.pid)
    family, edge = set(roots), list(roots)
    while edge:
        fresh = [pid for pid in children.get(edge.pop(), ()) if pid not in family]
        family.update(fresh)
        edge.extend(fresh)
    return family


def is_still(process: Process) -> bool:
    """Return whether the process and each of its threads executes nothing."""
    if process.state not in STILL:
        return False
    return process.threads <= 1 or all(state in STILL for state in _thread_states(process.pid))


def waits_unstoppably(process: Process) -> bool:
    """Return whether the process, or one of its threads, waits in state D at this moment: no signal stops it there."""
    now = look(process.pid)
    if now is None or now.identity != process.identity:
        return False
    return now.state == "D" or "D" in _thread_states(now.pid)


def _thread_states(pid: int) -> list[str]:
    states = []
    with contextlib.suppress(OSError):
        for name in os.listdir(PROC / str(pid) / "task"):
            with contextlib.suppress(OSError):
                text = (PROC / str(pid) / "task" / name / "stat").read_text(errors="replace")
                states.append(text.rpartition(")")[2].split()[0])
    return states


def send(process: Process | Identity, number: int) -> bool:
    """
    Signal exactly this process, never a later one with its pid.

    Returns:
        Whether the kernel took the signal. False: it is gone, another, or not ours to signal.
    """
    try:
        handle = os.pidfd_open(process.pid)
    except OSError:
        return False
    try:
        now = look(process.pid)
        if now is None or now.start_time != process.start_time:
            return False
        signal.pidfd_send_signal(handle, number)
    except OSError:
        return False
    finally:
        os.close(handle)
    return True


def send_group(group: int, number: int, *, witness: Process) -> bool:
    """Signal a process group; the witness, a living member, pins its number against being given out again."""
    now = look(witness.pid)
    if now is None or now.start_time != witness.start_time or now.group != group:
        return False
    try:
        os.killpg(group, number)
    except OSError:
        return False
    return True


def catches(pid: int, number: int) -> bool:
    """Return whether the process handles this signal (mask SigCgt of its status file)."""
    return bool(_mask(pid, "SigCgt:") >> (number - 1) & 1)


def _mask(pid: int, name: str) -> int:
    with contextlib.suppress(OSError, ValueError):
        for line in (PROC / str(pid) / "status").read_text(errors="replace").splitlines():
            if line.startswith(name):
                return int(line.split()[1], 16)
    return 0


def resident_bytes(pid: int) -> int:
    """Return the resident memory of a process in bytes, 0 when it is gone."""
    try:
        pages = int((PROC / str(pid) / "statm").read_text().split()[1])
    except (OSError, ValueError, IndexError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


def boot_id() -> str:
    """Return the kernel's boot id: another one means that nothing of before is alive."""
    return (PROC / "sys/kernel/random/boot_id").read_text().strip()
