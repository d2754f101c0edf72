"""
Child processes: started in a session of their own, without root's rights, and gone when their parent is.

A session of its own keeps the terminal's Ctrl-C from reaching them: the supervisor stops them, in order.
"""

import contextlib
import ctypes
import os
import pathlib
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence

from xceweb.stack import accounts

PR_SET_PDEATHSIG = 1


def spawn(
    argv: Sequence[str],
    *,
    log: pathlib.Path,
    account: accounts.Account | None,
    env: Mapping[str, str] | None = None,
    orphan_signal: signal.Signals = signal.SIGTERM,
) -> subprocess.Popen[bytes]:
    """
    Start a program in `/`; its output is appended to a log file.

    Args:
        argv: program and arguments; no shell.
        log: file for output and errors; it and its directory are made when missing.
        account: whom the program runs as; None for the account of this process.
        env: the whole environment; None for that of this process.
        orphan_signal: what the kernel sends the program when this process dies without stopping it (Linux).
    """
    descriptor = open_log(log, account)
    try:
        return subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=descriptor,
            stderr=subprocess.STDOUT,
            env=env,
            cwd="/",
            start_new_session=True,
            preexec_fn=before_exec(orphan_signal),
            **accounts.popen_arguments(account),
        )
    finally:
        os.close(descriptor)


def stop(process: subprocess.Popen[bytes], *, with_signal: signal.Signals, grace_s: float) -> int:
    """
    Stop a child and wait for its end; killed when it outlives the grace.

    Args:
        with_signal: the polite request.
        grace_s: seconds, > 0, until SIGKILL to its whole process group.

    Returns:
        The exit code, negative for a signal.
    """
    ask(process, with_signal)
    return wait(process, grace_s=grace_s)


def ask(process: subprocess.Popen[bytes], with_signal: signal.Signals) -> None:
    """Send a child the polite request to end; does nothing when it has ended."""
    if process.poll() is None:
        process.send_signal(with_signal)


def wait(process: subprocess.Popen[bytes], *, grace_s: float) -> int:
    """Wait for the end of a child that was asked; after the grace its process group is killed."""
    try:
        return process.wait(grace_s)
    except subprocess.TimeoutExpired:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        return process.wait()


def open_log(log: pathlib.Path, account: accounts.Account | None) -> int:
    """Open a log file for appending, private to the account that writes it; returns the descriptor."""
    if not log.parent.exists():
        log.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        accounts.give(log.parent, account)
    descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    accounts.give(log, account)
    return descriptor


def tail(log: pathlib.Path, *, lines: int = 4) -> str:
    """Return the last lines of a log joined by ` | `, for a message of one line."""
    text = log.read_text(errors="replace") if log.exists() else ""
    return " | ".join(line.strip() for line in text.splitlines()[-lines:] if line.strip())


def before_exec(orphan_signal: signal.Signals) -> Callable[[], None]:
    """Return what a child runs between fork and exec: usual signal actions, and an end with its parent."""
    prctl = ctypes.CDLL(None).prctl if sys.platform.startswith("linux") else None
    parent = os.getpid()

    def run_in_child() -> None:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
        if prctl is not None:
            prctl(PR_SET_PDEATHSIG, int(orphan_signal), 0, 0, 0)
            if os.getppid() != parent:
                os._exit(1)

    return run_in_child
