"""
From a forked child to the job: what happens between fork and exec. Standard library only, no shell.

Every step that could leak something of the agent into the job is undone here: session, signals, mask,
descriptors, umask, limits, privileges.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
from typing import Any

from scheduler.agent import limits, marks

_PR_SET_NAME, _PR_SET_CHILD_SUBREAPER, _PR_SET_NO_NEW_PRIVS = 15, 36, 38
_LIBC = ctypes.CDLL(None, use_errno=True)
_PUNCH_HOLE = 0x01 | 0x02  # FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE

#: What somebody may send who wants a daemon to leave; a fork server and its shepherds stay.
POLITE = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
_RESETTABLE = tuple(sorted(set(map(int, signal.valid_signals())) - {signal.SIGKILL, signal.SIGSTOP}))

Spec = dict[str, Any]


def become_job(spec: Spec, output: int) -> None:
    """
    Turn this process into the job. Returns only by raising.

    Args:
        spec: argv, env, workdir, cpus (may be empty), cgroup (may be empty), account (may be none), limits, mark.
        output: descriptor that becomes stdout and stderr.

    Raises:
        OSError: the directory or the program cannot be used.
    """
    os.setsid()
    for number in POLITE:
        signal.signal(number, signal.SIG_DFL)
    _enter_share(spec)
    if spec.get("mark"):
        marks.put_on(spec["mark"])
    _become(spec.get("account"))
    limits.limit_process(spec.get("limits", {}))
    for descriptor, target in ((os.open(os.devnull, os.O_RDONLY), 0), (output, 1), (output, 2)):
        os.dup2(descriptor, target, inheritable=True)
    os.umask(0o077)
    os.chdir(spec["workdir"])
    os.execvpe(spec["argv"][0], spec["argv"], spec["env"])


def prepare_forks() -> None:
    """
    Do once, in the fork server, what every fork inherits: it costs each of them a good part of its start.

    Signals have their default action, but for those that ask daemons to leave, which are ignored, and none is blocked:
    a job inherits neither handlers nor mask of the agent. Nothing below ever gets new privileges.
    """
    _reset_signals()
    for number in POLITE:
        signal.signal(number, signal.SIG_IGN)
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)


def _reset_signals() -> None:
    for number in _RESETTABLE:
        if signal.getsignal(number) is not signal.SIG_DFL:
            signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def close_all_but(*keep: int) -> None:
    """Close every descriptor above 2 except these."""
    low = 3
    for high in (*sorted(keep), os.sysconf("SC_OPEN_MAX")):
        os.closerange(low, high)
        low = high + 1


def become_daemon(name: str, *, keep: int) -> None:
    """
    Let go of the parent: no descriptor of it but `keep`, orphans inherited. Polite signals are ignored already.

    Errors go to the file `log` in the current directory. `name` is what people see in `ps`.
    """
    log = os.open("log", os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)
    for descriptor, target in ((os.open(os.devnull, os.O_RDWR), 0), (log, 1), (log, 2)):
        os.dup2(descriptor, target)
    close_all_but(keep)
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    _prctl(_PR_SET_NAME, name.encode())
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)


def punch_hole(descriptor: int, offset: int, length: int) -> bool:
    """Give the blocks of a range of a file back; False where the file system cannot."""
    result = _LIBC.fallocate(descriptor, _PUNCH_HOLE, ctypes.c_int64(offset), ctypes.c_int64(length))
    return bool(result == 0)


def _become(account: dict[str, Any] | None) -> None:
    """
    Change to the account for good, groups first: whoever is not root any more cannot give up groups.

    Raises:
        OSError: the account is root, or root could be regained.
    """
    if account is None:
        return
    uid, gid = account["uid"], account["gid"]
    os.setgroups(account["groups"])
    os.setresgid(gid, gid, gid)
    os.setresuid(uid, uid, uid)
    with contextlib.suppress(PermissionError):
        os.setuid(0)
    if 0 in (*os.getresuid(), *os.getresgid(), *os.getgroups()):
        raise PermissionError(1, "a session may not keep a right of root")


def _enter_share(spec: Spec) -> None:
    if spec["cgroup"]:
        with open(os.path.join(spec["cgroup"], "cgroup.procs"), "w") as file:
            file.write("0")
    if spec["cpus"]:
        with contextlib.suppress(OSError):
            os.sched_setaffinity(0, spec["cpus"])


def _prctl(option: int, value: int | bytes) -> None:
    argument = ctypes.c_char_p(value) if isinstance(value, bytes) else ctypes.c_ulong(value)
    zero = ctypes.c_ulong(0)
    if _LIBC.prctl(option, argument, zero, zero, zero):
        raise OSError(ctypes.get_errno(), f"prctl {option} was refused by the kernel")
