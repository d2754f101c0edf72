"""Waiting on a state with a deadline; never a bare sleep."""

import pathlib
import signal
import subprocess
import time
from collections.abc import Callable, Iterable
from typing import Protocol, TypeVar

from xceweb.stack import children, errors

Found = TypeVar("Found")
POLL_S = 0.05


class Server(Protocol):
    """What can be stopped."""

    def stop(self) -> int:
        """Stop it and return its exit code."""


def until(look: Callable[[], Found | None], *, deadline_s: float, what: str) -> Found:
    """
    Look again and again until something is found.

    Args:
        look: returns what was found; None or False to be asked again.
        deadline_s: seconds, > 0.
        what: the thing waited for, as the message names it.

    Raises:
        StackError: not found in time.
    """
    end = time.monotonic() + deadline_s
    while not (found := look()):
        if time.monotonic() > end:
            raise errors.StackError(f"{what} did not answer within {deadline_s:g} s")
        time.sleep(POLL_S)
    return found


def until_ready(
    is_ready: Callable[[], bool],
    *,
    process: subprocess.Popen[bytes],
    log: pathlib.Path,
    deadline_s: float,
) -> None:
    """
    Wait until a process answers.

    Args:
        is_ready: asks the process.
        process: its end ends the waiting.
        log: where its last words are; the file's name is the process's name.
        deadline_s: seconds, > 0.

    Raises:
        StackError: it ended or did not answer in time; the message has the last lines of its log.
    """

    def look() -> bool:
        if process.poll() is not None:
            raise errors.StackError(f"{log.stem} ended at once ({process.returncode}): {children.tail(log)}")
        return is_ready()

    until(look, deadline_s=deadline_s, what=log.stem)


def run_until_interrupted(server: Server, announcement: str) -> None:
    """Print one line, keep the server running until SIGINT or SIGTERM, then stop it."""
    try:
        announce_and_wait([announcement])
    finally:
        server.stop()


def announce_and_wait(lines: Iterable[str]) -> None:
    """Print some lines and return at SIGINT or SIGTERM."""
    wanted = {signal.SIGINT, signal.SIGTERM}
    signal.pthread_sigmask(signal.SIG_BLOCK, wanted)
    print(*lines, sep="\n", flush=True)
    signal.sigwait(wanted)
