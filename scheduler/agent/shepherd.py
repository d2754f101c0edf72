"""
The supervisor of one session. Standard library only, no network, no key, no thread: it has no reason to die.

It leads a session of its own and is a subreaper; the job leads another session below it. So no death above
can wake or kill a stopped job, and no descendant can leave. It launches, waits, keeps the output file within
its limit, writes what happened into the session's directory before each next step, sweeps what is left, and
exits.
"""

from __future__ import annotations

import contextlib
import os
import resource
import select
import signal
from typing import Any

from scheduler import points
from scheduler.agent import deadlines, fencing, launch, processes, records

_LOOK_MS, _LOOK_AT_LIMIT_MS, _BLOCK = 1000, 100, 4096
_SWIFT_LOOKS = 200
Terms = dict[str, Any]
#: What a continue discards where it waits: sent after it.
_DISCARDED = (signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU)


def shepherd(directory: str, ready: int, spec: records.Record) -> None:
    """
    Run one session from launch to the last of its processes.

    Args:
        directory: of the session, see `records`; a second shepherd for it leaves at once.
        ready: pipe that is closed when the job runs or has failed to.
        spec: what the record `spec` of the directory holds.
    """
    os.setsid()
    os.umask(0o077)
    os.chdir(directory)
    launch.become_daemon("xce-shepherd", keep=ready)
    try:
        os.close(os.open(records.CLAIM, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
    except FileExistsError:
        return
    _supervise(spec, ready)


def _supervise(spec: records.Record, ready: int) -> None:
    limit = spec["output_limit"]
    output = os.open(records.OUTPUT if limit else os.devnull, os.O_CREAT | os.O_RDWR | os.O_APPEND, 0o600)
    job = _launch(spec, output)
    os.close(ready)
    code = os.waitstatus_to_exitcode(_wait(job, output, spec))
    status = {"code": code if code >= 0 else None, "signal": -code if code < 0 else None}
    if _has_child():
        records.write(records.EXIT, status)
        _linger()
        _sweep(job)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_ms = int((used.ru_utime + used.ru_stime) * 1000)
    now = records.monotonic_ms()
    end = {"cpu_ms": cpu_ms, "peak_bytes": used.ru_maxrss * 1024, "mono_ms": now}
    records.write(records.END, status | end)


def _launch(spec: records.Record, output: int) -> int:
    """Fork the job; returns its pid once it executes its program, or has written why it cannot."""
    me = _identity(os.getpid())
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        _run_child(spec, output, me, writer)
    os.close(writer)
    error = os.read(reader, 4096)
    os.close(reader)
    points.reach("shepherd.launched")
    if error:
        records.write(records.ERROR, {"error": error.decode(errors="replace")})
    return pid


def _run_child(spec: records.Record, output: int, shepherd: tuple[int, int], error: int) -> None:
    """
    Write down who this is, and only then exec; the error pipe closes by itself when that succeeds. Never returns.
    """
    try:
        identities = {"shepherd": shepherd, "job": _identity(os.getpid())}
        when = {"boot": processes.boot_id(), "mono_ms": records.monotonic_ms()}
        records.write(records.JOB, identities | when, sync=False)
        launch.close_all_but(output, error)
        launch.become_job(spec, output)
    except BaseException as fault:  # noqa: BLE001 - told to the parent, and the child leaves
        told = (isinstance(fault, OSError) and fault.strerror) or str(fault) or type(fault).__name__
        os.write(error, told.encode(errors="replace")[:2000])
    os._exit(127)


def _identity(pid: int) -> tuple[int, int]:
    return pid, processes.start_time(pid)


def _wait(job: int, output: int, spec: records.Record) -> int:
    """
    Wait for the job; meanwhile reap orphans, keep the output small, the fence and the limit. Returns the wait status.
    """
    poll = select.poll()
    poll.register(os.pidfd_open(job), select.POLLIN)
    pause, since_ms, kill_ms = _LOOK_MS, records.monotonic_ms(), 0
    why: tuple[str, Terms] | None = None
    while True:
        poll.poll(pause)
        status = dict(_reap()).get(job)
        if status is not None:
            return status
        pause = _LOOK_AT_LIMIT_MS if _trim(output, spec["output_limit"]) else _LOOK_MS
        if why is None:
            why = _due(spec.get("fence"), since_ms)
        if why is not None:
            kill_ms = _end(job, why, kill_ms)


def _due(fence: fencing.Fence | None, since_ms: int) -> tuple[str, Terms] | None:
    """Return what nobody but us ends the job for, as the record of it, with warning and grace; None: nothing."""
    limit = deadlines.overdue()
    if limit is not None:
        return records.OVERDUE, limit
    return (records.FENCED, fence) if fence and fencing.is_due(fence, since_ms=since_ms) else None


def _end(job: int, why: tuple[str, Terms], kill_ms: int) -> int:
    """Warn the job once, kill it after the grace; returns when that is."""
    record, terms = why
    now = records.monotonic_ms()
    numbers: tuple[int, ...] = (signal.SIGKILL,)
    if not kill_ms:
        numbers = (terms["signal"], signal.SIGCONT)
        if terms["signal"] in _DISCARDED:
            numbers = (signal.SIGCONT, terms["signal"])
        kill_ms = now + terms["grace_ms"]
        records.write(record, {"mono_ms": now, "until_ms": kill_ms})
        records.write(records.GRACE, {"until_ms": kill_ms})
    elif now < kill_ms:
        return kill_ms
    with contextlib.suppress(OSError):
        for number in numbers:
            os.killpg(job, number)
    return kill_ms


def _reap() -> list[tuple[int, int]]:
    done = []
    with contextlib.suppress(ChildProcessError):
        while (found := os.waitpid(-1, os.WNOHANG))[0]:
            done.append(found)
    return done


def _trim(output: int, limit: int) -> bool:
    """
    Keep head and tail of an output beyond its limit; the job never notices. Returns whether it is beyond.
    """
    size = os.fstat(output).st_size
    if not limit or size <= limit:
        return False
    head = limit // 2 // _BLOCK * _BLOCK
    length = (size - limit // 2 - head) // _BLOCK * _BLOCK
    if length > 0 and not launch.punch_hole(output, head, length):
        os.ftruncate(output, limit)
    return True


def _linger() -> None:
    """Give members that the first process left behind the rest of the warning's grace, if one is running."""
    while _has_child() and records.monotonic_ms() < records.read(records.GRACE).get("until_ms", 0):
        select.select([], [], [], 0.02)


def _sweep(job: int) -> None:
    """Kill all that is left. Orphans come to us, so having no child is the proof."""
    with contextlib.suppress(OSError):
        os.killpg(job, signal.SIGKILL)
    me = processes.look(os.getpid())
    assert me is not None
    while not _swept_swiftly():
        for member in processes.members(processes.scan(), job=None, root=me.identity):
            processes.send(member, signal.SIGKILL)
        select.select([], [], [], 0.005)


def _swept_swiftly() -> bool:
    """
    Kill child after child; return whether none is left. A chain whose links die at once is outrun only like this.

    Nobody but us reaps them, so none of the numbers can be another process by now.
    """
    for _ in range(_SWIFT_LOOKS):
        if not _has_child():
            return True
        for pid in processes.children(os.getpid()):
            os.kill(pid, signal.SIGKILL)
    return False


def _has_child() -> bool:
    _reap()
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True
