"""Time that threads have spent on a processor, by the kernel scheduler's own account."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Mapping

from scheduler.agent import processes

#: How much a stopped thread may still gain, in ns: the last steps into its stop may come after it was seen there.
SLACK_NS = 200_000
_MS = 1_000_000
_IS_KEPT = (processes.PROC / "self" / "schedstat").exists()

#: Process, its start time, thread -> ns; where the kernel keeps no such account, thread 0 and the process' own ticks.
Spent = Mapping[tuple[int, int, int], int]


def spent(members: Iterable[processes.Process]) -> dict[tuple[int, int, int], int]:
    """Return what each thread of these processes has spent; one that is gone by now is not in it."""
    return {
        (process.pid, process.start_time, thread): ns
        for process in members
        for thread, ns in (_threads(process.pid) if _IS_KEPT else [(0, process.cpu_ms * _MS)])
    }


def has_grown(before: Spent, now: Spent) -> bool:
    """Return whether a process that is in both has run in between: a thread gained time, came or went."""
    both = {key[:2] for key in before} & {key[:2] for key in now}
    return any(
        key not in before or key not in now or now[key] > before[key] + SLACK_NS
        for key in before.keys() | now.keys()
        if key[:2] in both
    )


def _threads(pid: int) -> list[tuple[int, int]]:
    found = []
    with contextlib.suppress(OSError, ValueError, IndexError):
        for task in os.scandir(processes.PROC / str(pid) / "task"):
            file = os.open(f"{task.path}/schedstat", os.O_RDONLY)
            try:
                found.append((int(task.name), int(os.read(file, 128).split()[0])))
            finally:
                os.close(file)
    return found
