"""What a run has used, and the report of its end."""

from __future__ import annotations

import dataclasses
import os
import pathlib

from scheduler.agent import output, processes, records, runs
from scheduler.protocol import fields, messages

_FENCED = fields.EndCause.FENCED


@dataclasses.dataclass
class Usage:
    """Processor time in ms and the largest resident memory in bytes, as seen so far; both only grow."""

    cpu_ms: int = 0
    peak_bytes: int = 0

    def look(self, members: list[processes.Process], shepherd: processes.Identity | None) -> None:
        """Take one look at the members into account, and what the shepherd has waited for."""
        above = processes.look(shepherd.pid) if shepherd else None
        reaped = above.reaped_ms if above is not None else 0
        used = sum(process.cpu_ms + process.reaped_ms for process in members) + reaped
        held = sum(processes.resident_bytes(process.pid) for process in members)
        self.cpu_ms, self.peak_bytes = max(self.cpu_ms, used), max(self.peak_bytes, held)


def conclude(
    run: runs.Run, directory: pathlib.Path, *, usage: Usage, cause: fields.EndCause
) -> messages.Ended:
    """
    Say how a run ended.

    Args:
        run: with its stop, if one was under way.
        directory: with the shepherd's records; without `exit` and `end` the status is unknown.
            A session that its shepherd ended for its wall-time limit, with no agent there, says so. One that its node
            fenced has no exit status of its own, unless it took the chance to finish.
        usage: as sampled; the shepherd's own figures win where larger.
        cause: `gone`, or `self` when the end was watched; becomes `killed` or `wall-time` by the facts.

    Returns:
        The report, still without session, epoch and command id.
    """
    status, end = records.read(directory / records.EXIT), records.read(directory / records.END)
    status = end if "code" in end else status
    now = records.monotonic_ms()
    ended_ms = min(now, end.get("mono_ms", now))
    is_fenced = (directory / records.FENCED).exists() or (run.stop is not None and run.stop.cause is _FENCED)
    known = bool(status) and not (is_fenced and status.get("code") != 0)
    status = status if known else {}
    otherwise = fields.EndCause.SELF if known else cause
    is_overdue = run.stop is None and (directory / records.OVERDUE).exists()
    otherwise = fields.EndCause.WALL_TIME if is_overdue else otherwise
    return messages.Ended(
        exit_code=status.get("code"),
        signal=status.get("signal"),
        after_warning=is_overdue or run.is_warned_at(ended_ms),
        checkpointed=_is_checkpointed(directory),
        cpu_ms=max(usage.cpu_ms, end.get("cpu_ms", 0)),
        peak_bytes=max(usage.peak_bytes, end.get("peak_bytes", 0)),
        ran_ms=run.running_ms(ended_ms if run.boot else now),
        known=known,
        cause=_FENCED if is_fenced and not known else _cause(run, status, otherwise),
        output_bytes=output.size(directory / records.OUTPUT),
        at_mono_ms=now,
    )


def _is_checkpointed(directory: pathlib.Path) -> bool:
    """Whether the session made the file that its environment names."""
    named = records.read(directory / records.SPEC).get("env", {}).get("XCE_CHECKPOINTED_FILE", "")
    return bool(named) and os.path.exists(named)


def _cause(run: runs.Run, status: records.Record, otherwise: fields.EndCause) -> fields.EndCause:
    stop = run.stop
    if stop is None or not stop.is_kill:
        return otherwise
    if stop.cause is fields.EndCause.WALL_TIME and (run.is_warned or stop.kill_begun):
        return stop.cause
    if stop.kill_begun or status.get("signal") == stop.signal:
        return stop.cause
    return otherwise
