"""
What one session may use: limits of its control group where the kernel has them for us, limits of each process anyway.

Serves RELIABILITY 8.2. Standard library only: it is applied between fork and exec.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import pathlib
import resource
from collections.abc import Mapping
from typing import Any

#: An interpreter with a few threads maps this much before it does anything.
_LEAST_MEMORY = 256 * 2**20
#: Where the kernel looks first when memory runs out: at sessions, before the agent and the supervisors.
_OOM_SCORE = 500
_MILLI, _PERIOD_US = 1000, 100_000
_CONTROLLERS = ("memory", "pids", "cpu")


@dataclasses.dataclass(frozen=True)
class Limits:
    """
    Of every session of an agent.

    Attributes:
        processes: processes and threads of the session's account at once; of the session itself in a control group.
        files: open files of one process.
    """

    processes: int = 4096
    files: int = 16_384

    def of(self, slots: Mapping[str, int]) -> dict[str, int]:
        """Return the limits of a session with these slots: processes, files, memory in bytes and cpu; 0 = none."""
        return {**dataclasses.asdict(self), "memory": slots.get("mem", 0), "cpu": slots.get("cpu", 0)}


def limit_process(limits: Mapping[str, Any]) -> None:
    """
    Limit this process and all that it starts; nothing that it starts can lift it.

    Memory is what a process may write to privately, not its addresses: device drivers and runtimes reserve far more
    addresses than they use.
    """
    _lower(resource.RLIMIT_CORE, 0)
    _lower(resource.RLIMIT_NPROC, limits.get("processes", 0) or resource.RLIM_INFINITY)
    _lower(resource.RLIMIT_NOFILE, limits.get("files", 0) or resource.RLIM_INFINITY)
    if limits.get("memory", 0):
        _lower(resource.RLIMIT_DATA, max(limits["memory"], _LEAST_MEMORY))
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        file.write(str(_OOM_SCORE))


def _lower(what: int, value: int) -> None:
    """Lower both limits to this, where they are higher."""
    soft, hard = (_less(limit, value) for limit in resource.getrlimit(what))
    resource.setrlimit(what, (soft, hard))


def _less(first: int, second: int) -> int:
    finite = [value for value in (first, second) if value != resource.RLIM_INFINITY]
    return min(finite, default=resource.RLIM_INFINITY)


def limit_group(directory: str, limits: Mapping[str, int]) -> None:
    """Limit a control group as a whole, as far as the controllers of its parent reach."""
    values = {"pids.max": limits["processes"], "memory.max": limits["memory"], "memory.swap.max": 0}
    if not limits["memory"]:
        del values["memory.max"], values["memory.swap.max"]
    texts = {name: str(value) for name, value in values.items()}
    if limits["cpu"]:
        texts["cpu.max"] = f"{limits['cpu'] * _PERIOD_US // _MILLI} {_PERIOD_US}"
    for name, text in texts.items():
        path = pathlib.Path(directory, name)
        with contextlib.suppress(OSError):
            if path.exists():
                path.write_text(text)


def controllers(root: pathlib.Path) -> frozenset[str]:
    """
    Return the controllers that limit the groups below a directory; asks the kernel to pass its own on.

    Not where processes are in it: the kernel would refuse, or make groups that can hold none (see `freezer.settle`).
    """
    path = root / "cgroup.subtree_control"
    for name in _CONTROLLERS if _is_free(root) else ():
        with contextlib.suppress(OSError):
            path.write_text(f"+{name}")
    with contextlib.suppress(OSError):
        return frozenset(path.read_text().split())
    return frozenset()


def _is_free(root: pathlib.Path) -> bool:
    """Whether groups below may get controllers: nothing is in the directory itself, or it is the root of the tree."""
    with contextlib.suppress(OSError):
        return not (root / "cgroup.type").exists() or not (root / "cgroup.procs").read_text()
    return False


def are_processes_limited() -> bool:
    """Whether the kernel counts processes of this account: root it does not."""
    return os.geteuid() != 0
