"""
Runs a module with its crash points armed: `python -m tests.faults.launch MODULE ARGUMENTS`.

Which point does what stands in files of the directory XCE_FAULTS, one file for each fault that waits: JSON of point and
act. Whoever takes a file away acts; so each fault happens once, in whichever process passes its place first. What was
done is written to `done` there before it is done.
"""

from __future__ import annotations

import json
import os
import pathlib
import runpy
import signal
import sys

from scheduler import points

KILL, PAUSE, FAIL = "kill", "pause", "fail"


class Failed(ConnectionError):
    """What a process meets at a place that is told to fail: the call may have had its effect."""


def act(point: str) -> None:
    """Do what a waiting fault says of this place, if there is one."""
    place = pathlib.Path(os.environ["XCE_FAULTS"])
    for path in sorted(place.glob("*.fault")):
        what = _read(path)
        if what is None or what["point"] != point or not _take(path):
            continue
        _note(place, point, what["act"])
        _do(what["act"], point)


def _read(path: pathlib.Path) -> dict[str, str] | None:
    try:
        return json.loads(path.read_text())
    except (OSError, ValueError):
        return None


def _take(path: pathlib.Path) -> bool:
    try:
        path.unlink()
    except FileNotFoundError:
        return False
    return True


def _note(place: pathlib.Path, point: str, what: str) -> None:
    line = json.dumps({"point": point, "act": what, "pid": os.getpid()}) + "\n"
    with open(place / "done", "a") as file:
        file.write(line)


def _do(what: str, point: str) -> None:
    if what == FAIL:
        raise Failed(f"the test lets {point} fail")
    os.kill(os.getpid(), signal.SIGKILL if what == KILL else signal.SIGSTOP)


def _arm_fork_server() -> None:
    """Arm the process that forks supervisors, too: an agent starts it as a program of its own."""
    from scheduler.agent import spawner

    armed = "from scheduler import points; from tests.faults import launch; points.arm(launch.act); "
    spawner._PROGRAM = spawner._PROGRAM.replace(
        "from scheduler.agent import", armed + "from scheduler.agent import"
    )


if __name__ == "__main__":
    points.arm(act)
    sys.argv = sys.argv[1:]
    if sys.argv[0] == "scheduler.agent":
        _arm_fork_server()
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
