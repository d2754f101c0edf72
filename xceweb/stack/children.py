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
    Start a program; its output is appended to a log file.

    Args:
        argv: program and arguments; no shell.
        log: file for output and errors, made when missing.
        account: whom the program runs as; None for the account of this process.
        env: the whole environment; None for that of this process.
        orphan_signal: what the kernel sends the program when this process dies without stopping it.
    """
    with open_log(log, account) as output:
        return subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=env,
            cwd="/" if env is None else env.get("PWD", "/"),
            start_new_session=True,
            preexec_fn=_die_with_parent(orphan_signal),
            **_rights(account),
        )


def stop(process: subprocess.Popen[bytes], *, with_signal: signal.Signals, grace_s: int) -> int:
    """
    Stop a child and wait for its end; killed when it outlives the grace.

    Args:
        with_signal: the polite request.
        grace_s: seconds, > 0, until SIGKILL to its whole process group.

    Returns:
        The exit code, negative for a signal.
    """
    if process.poll() is None:
        process.send_signal(with_signal)
    try:
        return process.wait(grace_s)
    except subprocess.TimeoutExpired:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        return process.wait()


def open_log(log: pathlib.Path, account: accounts.Account | None):
    """Open a log file for appending, private to the account that writes it."""
    stream = open(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600), "ab")
    accounts.give(log, account)
    return stream


def tail(log: pathlib.Path, *, lines: int = 5) -> str:
    """Return the last lines of a log, joined by ` | `, for a one-line message."""
    text = log.read_text(errors="replace") if log.exists() else ""
    return " | ".join(line.strip() for line in text.splitlines()[-lines:] if line.strip())


def _rights(account: accounts.Account | None) -> dict[str, object]:
    return {} if account is None else account.popen_arguments()


def _die_with_parent(orphan_signal: signal.Signals) -> Callable[[], None] | None:
    if not sys.platform.startswith("linux"):
        return None
    prctl, parent = ctypes.CDLL(None, use_errno=True).prctl, os.getpid()

    def ask_kernel() -> None:
        prctl(PR_SET_PDEATHSIG, int(orphan_signal), 0, 0, 0)
        if os.getppid() != parent:
            os._exit(1)

    return ask_kernel
