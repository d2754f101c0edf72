"""
The warning of a stop: sent once, however many agents work on it, and known to the journal before anybody acts on it.
"""

from __future__ import annotations

import contextlib
import dataclasses
import pathlib

from scheduler.agent import memory, records, runs
from scheduler.agent.stop import procedures


def of(run: runs.Run, stop: runs.Stop, store: memory.Memory) -> procedures.Notice:
    """
    Return the warning of a stop that is carried out from now on, and the time that it gives.

    One that the journal says was sent is not sent again, and gives what is left of its time; all of it otherwise.
    """
    grace_ms = _grace_ms(run, stop)
    until_ms = records.monotonic_ms() + grace_ms

    def sent(delivered: bool) -> None:
        warning = runs.Warned(delivered, until_ms)
        run.warning = warning  # whether or not the disk takes it
        entry = {"kind": "warned", "session": run.session, "warning": dataclasses.asdict(warning)}
        store.record(entry, sync=stop.is_kill)

    return procedures.Notice(stop.signal, grace_ms, None if run.warning else sent)


def grant(directory: pathlib.Path, notice: procedures.Notice) -> None:
    """Tell the shepherd how long it leaves members alone that outlive the first process."""
    if notice.grace_ms:
        until = {"until_ms": records.monotonic_ms() + notice.grace_ms}
        with contextlib.suppress(OSError):  # a full disk: they get less of it
            records.write(directory / records.GRACE, until)


def _grace_ms(run: runs.Run, stop: runs.Stop) -> int:
    if stop.kill_begun:
        return 0
    spent_ms = max(0, records.monotonic_ms() - stop.begun_ms) if run.warning is not None else 0
    return max(0, stop.notice_ms - spent_ms)
