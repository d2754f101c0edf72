"""
Stopping by the cgroup v2 freezer, where a directory of the control group tree is delegated to the agent.

It holds whoever is in the group, and signals cannot undo it. Frozen processes look like sleepers; only
`cgroup.events` tells. The v1 freezer is not used: SIGKILL has no effect there until the thaw.
"""

from __future__ import annotations

import contextlib
import pathlib
import signal

from scheduler.agent import processes
from scheduler.agent.stop import driver, signals
from scheduler.protocol import fields

#: The group of the agent itself, of its fork server and of the shepherds.
_LEAF = "xce-agent"


def delegated_root() -> pathlib.Path | None:
    """
    Find the control group directory below which the agent may make groups.

    Returns:
        The agent's own directory in the v2 tree when it may write there, or None: not delegated.
    """
    mounts = pathlib.Path("/proc/self/mounts").read_text().splitlines()
    mount = next((line.split()[1] for line in mounts if line.split()[2] == "cgroup2"), None)
    own = [
        line for line in pathlib.Path("/proc/self/cgroup").read_text().splitlines() if line.startswith("0::/")
    ]
    if mount is None or not own:
        return None
    root = pathlib.Path(mount) / own[0].removeprefix("0::/")
    root = root.parent if root.name == _LEAF else root
    return root if _is_writable(root) else None


def _is_writable(root: pathlib.Path) -> bool:
    probe = root / "xce-probe"
    try:
        probe.mkdir()
        (probe / "cgroup.freeze").write_text("0")
    except OSError:
        return False
    finally:
        with contextlib.suppress(OSError):
            probe.rmdir()
    return True


def settle(root: pathlib.Path) -> None:
    """
    Move the agent and what it started into a group of their own below its directory.

    The kernel passes controllers on only from a directory without processes: with any in it, `+memory` is refused, and
    `+cpu` or `+pids` would leave groups that nothing can be started in. The root of the tree is exempt.
    """
    if not (root / "cgroup.type").exists():
        return
    leaf = root / _LEAF
    leaf.mkdir(exist_ok=True)
    for pid in (root / "cgroup.procs").read_text().split():
        with contextlib.suppress(OSError):
            (leaf / "cgroup.procs").write_text(pid)


def make_group(root: pathlib.Path, name: str) -> str:
    """Make a session's control group and return its directory."""
    path = root / f"xce-{name}"
    path.mkdir(exist_ok=True)
    return str(path)


def drop_group(directory: str) -> None:
    """Remove an empty control group."""
    with contextlib.suppress(OSError):
        pathlib.Path(directory).rmdir()


class FreezerDriver(signals.SignalDriver):
    """
    Needs `Target.cgroup`; the job joins it before its first instruction.

    In single-user mode the group belongs to the sessions' account, too: a member may leave it, or thaw it. So members
    are those of the group and those that signals would find; who left is brought back, or stopped by a signal.
    """

    method = fields.StopMethod.FREEZER

    def observe(self, target: driver.Target) -> list[processes.Process]:
        """Return the processes that the control group lists, and who left it."""
        seen = {process.pid: process for process in super().observe(target)}
        for pid in self._inside(target) - seen.keys():
            process = processes.look(pid)
            if process is not None and not process.is_dead:
                seen[pid] = process
                target.known = target.known | {process.identity}
                target.census = target.census | {process.identity}
        return [seen[pid] for pid in sorted(seen)]

    def is_held(self, target: driver.Target, members: list[processes.Process]) -> bool:
        """Return whether the kernel says that the whole group is frozen, and whoever is outside is stopped."""
        inside = self._inside(target)
        outside = [process for process in members if process.pid not in inside]
        is_frozen = not members or not inside or "frozen 1" in self._read(target, "cgroup.events")
        return is_frozen and all(processes.is_still(process) for process in outside)

    def hold(self, target: driver.Target) -> None:
        """Freeze the group, and bring back who left it; one that the kernel does not let in again is stopped."""
        self._write(target, "cgroup.freeze", "1")
        inside = self._inside(target)
        for process in self.observe(target):
            if process.pid not in inside and not self._write(target, "cgroup.procs", str(process.pid)):
                processes.send(process, signal.SIGSTOP)

    def release(self, target: driver.Target) -> None:
        """Thaw the group, and continue what had been stopped by signals."""
        self._write(target, "cgroup.freeze", "0")
        super().release(target)

    def kill(self, target: driver.Target, members: list[processes.Process]) -> None:
        """Kill the whole group, frozen or not, and these members wherever they are."""
        self._write(target, "cgroup.kill", "1")
        super().kill(target, members)

    def _inside(self, target: driver.Target) -> set[int]:
        return {int(pid) for pid in self._read(target, "cgroup.procs").split()}

    def _read(self, target: driver.Target, name: str) -> str:
        with contextlib.suppress(OSError):
            return (pathlib.Path(target.cgroup) / name).read_text()
        return ""

    def _write(self, target: driver.Target, name: str, text: str) -> bool:
        with contextlib.suppress(OSError):
            (pathlib.Path(target.cgroup) / name).write_text(text)
            return True
        return False


def choose_driver(cgroup: str) -> driver.StopDriver:
    """Return the freezer for a run that lives in a control group, else signals."""
    return FreezerDriver() if cgroup and pathlib.Path(cgroup).is_dir() else signals.SignalDriver()
