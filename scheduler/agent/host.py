"""What the agent's machine is and what it can enforce; and which processors a job is bound to."""

from __future__ import annotations

import os
import pathlib
import platform
import zlib
from collections import Counter
from collections.abc import Iterable

from scheduler.agent import limits

_MILLI = 1000


def facts(node: str) -> dict[str, str | int]:
    """Return facts for people: name, kernel, processors, memory in bytes."""
    return {
        "node": node,
        "hostname": platform.node()[:200],
        "kernel": platform.release()[:200],
        "machine": platform.machine(),
        "processors": len(os.sched_getaffinity(0)),
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
    }


def enforce(*, cgroup_root: pathlib.Path | None, multi_user: bool) -> dict[str, bool]:
    """
    Return what this host can enforce.

    Args:
        cgroup_root: delegated control group directory, or None.
        multi_user: whether each owner's sessions run as an account of their own.
    """
    controllers = limits.controllers(cgroup_root) if cgroup_root is not None else frozenset()
    return {
        "affinity": True,
        "cgroup_v2": {"cpu", "memory"} <= controllers,
        "freezer": cgroup_root is not None,
        "processes": "pids" in controllers or multi_user or limits.are_processes_limited(),
        "multi_user": multi_user,
        "self_fence": True,
    }


def choose_cpus(cpu_milli: int, *, taken: Iterable[Iterable[int]], node: str) -> tuple[int, ...]:
    """
    Choose the processors of a job: whole ones only, the least taken first.

    Args:
        cpu_milli: the job's `cpu` slots in thousandths.
        taken: processors of the other jobs that run here.
        node: name of the node; agents that share a machine begin at different processors.

    Returns:
        Processor numbers; empty = not bound (a fraction was asked for, or more than the machine has).
    """
    here = sorted(os.sched_getaffinity(0))
    wanted, fraction = divmod(cpu_milli, _MILLI)
    if fraction or not 0 < wanted < len(here):
        return ()
    load = Counter(cpu for cpus in taken for cpu in cpus)
    shift = zlib.crc32(node.encode()) % len(here)
    turned = here[shift:] + here[:shift]
    return tuple(sorted(sorted(turned, key=lambda cpu: load[cpu])[:wanted]))
