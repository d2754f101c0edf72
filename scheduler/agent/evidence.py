"""What was seen of a run, in the words of the protocol."""

from __future__ import annotations

import dataclasses
import pathlib

from scheduler.agent import output, processes, runs
from scheduler.protocol import messages

_MOST = 1000


def members(seen: list[processes.Process]) -> tuple[messages.Member, ...]:
    """Return the first thousand of the processes that were looked at."""
    return tuple(
        messages.Member(pid=one.pid, start_time=one.start_time, state=one.state) for one in seen[:_MOST]
    )


def tail(run: runs.Run, path: pathlib.Path) -> messages.OutputTail:
    """Return the last lines of a run's output, and whether its limit cut it."""
    page = output.read_tail(path)
    is_cut = 0 < run.start.output_limit_bytes < page.size
    report = messages.OutputTail(tail=page.data, size=page.size, truncated=is_cut)
    return dataclasses.replace(report, session=run.session, epoch=run.epoch)
