"""
What tells a job's processes from all others when neither descent nor process session does, since their shepherd died.

Two things that children inherit: the environment that a program began with, and the hard limit of file locks, which
the kernel has not enforced since 2.4.25 and which nobody may raise. A program that starts anew with an empty
environment keeps the limit. One that lowers it on purpose, too, is known only by having been seen before (`roll`).
Standard library only: the mark is put on between fork and exec.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import resource
from collections.abc import Iterable

from scheduler.agent import processes

#: RLIMIT_LOCKS, for which the standard library has no name; equal on all architectures.
_LOCKS = 10
_LINE = b"Max file locks"
_BITS = 62

Key = tuple[str, int]


def of(key: Key) -> int:
    """Return the mark of a run: session and start epoch."""
    digest = hashlib.blake2b(f"{key[0]}.{key[1]}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> (64 - _BITS) | 1 << (_BITS - 1)


def put_on(mark: int) -> None:
    """Mark this process and all that it starts; without effect where a lower limit is in force."""
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(_LOCKS, (mark, mark))


def bearing(key: Key, among: Iterable[processes.Process]) -> set[processes.Identity]:
    """Find the processes of a run among these by either mark; only what the agent's account may read can be asked."""
    mark, words = b" %d " % of(key), b"\0XCE_SESSION_ID=%b\0" % key[0].encode()
    return {
        process.identity
        for process in among
        if mark in _limit_of_locks(process.pid) or words in b"\0" + processes.environment(process.pid)
    }


def _limit_of_locks(pid: int) -> bytes:
    try:
        file = os.open(processes.PROC / str(pid) / "limits", os.O_RDONLY)
    except OSError:
        return b""
    try:
        text = os.read(file, 8192)
    except OSError:
        return b""
    finally:
        os.close(file)
    return text.partition(_LINE)[2].partition(b"\n")[0]
