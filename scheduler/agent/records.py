"""
Small JSON files in a session's directory: how shepherd and agent tell each other what happened, across any
death.

A file is there whole or not at all. Those that tell how a run ended are on disk before the writer goes on; of the
others nothing is left to know after a reboot. Standard library only: the shepherd uses it.
"""

from __future__ import annotations

import json
import os
import time
from typing import Any

#: What to run; written by the agent.
SPEC = "spec"
#: Exists as soon as one shepherd has taken the session; a second one leaves.
CLAIM = "claim"
#: Identities of shepherd and job, before the job's first instruction.
JOB = "job"
#: Why the program could not be executed.
ERROR = "error"
#: Members outside the job's process session, as the agent saw them last.
LEFT = "left"
#: Processor time of the members of a suspended run, when it was proved.
HELD = "held"
#: Exit code or signal of the job's first process, while others are being swept.
EXIT = "exit"
#: Exit code or signal, processor time and memory, once no process is left.
END = "end"
#: The node was not heard for too long: the shepherd ends the session.
FENCED = "fenced"
#: When the wall-time limit is over; written by the agent.
DEADLINE = "deadline"
#: No agent kept the limit: the shepherd ends the session.
OVERDUE = "overdue"
#: Until when a warned session may finish; written by the agent.
GRACE = "grace"
#: stdout and stderr.
OUTPUT = "output"

Record = dict[str, Any]


def write(path: str | os.PathLike[str], content: Record, *, sync: bool = True) -> None:
    """
    Write a file atomically. Only the writer's account can read it: it may hold an environment.

    Args:
        path: the file.
        content: plain JSON values.
        sync: whether it must outlive the machine; False for what is of no use after a reboot.
    """
    new = f"{os.fspath(path)}.new"
    file = os.open(new, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600)
    try:
        rest = memoryview(json.dumps(content).encode())
        while rest:
            rest = rest[os.write(file, rest) :]
        if sync:
            os.fsync(file)
    finally:
        os.close(file)
    os.replace(new, path)


def read(path: str | os.PathLike[str]) -> Record:
    """Return what a file holds; empty when it is not there or no JSON object."""
    try:
        with open(path, "rb") as file:
            content = json.loads(file.read())
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def monotonic_ms() -> int:
    """Return the monotonic clock in milliseconds: equal in every process of one boot."""
    return time.monotonic_ns() // 1_000_000
