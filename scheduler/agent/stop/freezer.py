"""
Stopping by the cgroup v2 freezer, where a directory of the control group tree is delegated to the agent.

It is complete, and the owner of the processes cannot undo it. Frozen processes look like sleepers; only
`cgroup.events` tells. The v1 freezer is not used: SIGKILL has no effect there until the thaw.
"""

from __future__ import annotations

import contextlib
import pathlib

from scheduler.agent import processes
from scheduler.agent.stop import driver, signals
from scheduler.protocol import fields


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
    """Needs `Target.cgroup`; the job joins it before its first instruction."""

    method = fields.StopMethod.FREEZER

    def observe(self, target: driver.Target) -> list[processes.Process]:
        """Return the processes that the control group lists; nothing can leave it."""
        pids = self._read(target, "cgroup.procs").split()
        seen = (processes.look(int(pid)) for pid in pids)
        return [process for process in seen if process is not None and not process.is_dead]

    def is_held(self, target: driver.Target, members: list[processes.Process]) -> bool:
        """Return whether the kernel says that the whole group is frozen."""
        return not members or "frozen 1" in self._read(target, "cgroup.events")

    def hold(self, target: driver.Target) -> None:
        """Freeze the group."""
        self._write(target, "cgroup.freeze", "1")

    def release(self, target: driver.Target) -> None:
        """Thaw the group, and continue what had been stopped by signals."""
        self._write(target, "cgroup.freeze", "0")
        super().release(target)

    def kill(self, target: driver.Target, members: list[processes.Process]) -> None:
        """Kill the whole group, frozen or not."""
        self._write(target, "cgroup.kill", "1")

    def _read(self, target: driver.Target, name: str) -> str:
        with contextlib.suppress(OSError):
            return (pathlib.Path(target.cgroup) / name).read_text()
        return ""

    def _write(self, target: driver.Target, name: str, text: str) -> None:
        with contextlib.suppress(OSError):
            (pathlib.Path(target.cgroup) / name).write_text(text)


def choose_driver(cgroup: str) -> driver.StopDriver:
    """Return the freezer for a run that lives in a control group, else signals."""
    return FreezerDriver() if cgroup and pathlib.Path(cgroup).is_dir() else signals.SignalDriver()
