"""Stops as the journal keeps them, made from commands and limits, and what becomes of two that meet."""

from __future__ import annotations

import dataclasses
import pathlib
import signal

from scheduler.agent import deadlines, fencing, records, runs
from scheduler.protocol import fields, messages


def of_stop(command: messages.StopCommand) -> runs.Stop:
    """Return the suspend or kill that a stop command orders, begun now."""
    is_kill = command.action is fields.StopAction.KILL
    number = command.signal or int(signal.SIGTERM if is_kill else signal.SIGTSTP)
    stop = _kill(command.command_id, number, command.grace_ms)
    return dataclasses.replace(stop, is_kill=is_kill, suspend_grace_ms=command.suspend_grace_ms)


def of_kill(command: messages.KillCommand) -> runs.Stop:
    """Return the kill that a command orders, begun now."""
    is_wall = command.cause is fields.KillCause.WALL_TIME
    stop = _kill(command.command_id, command.signal or int(signal.SIGTERM), command.grace_ms)
    return dataclasses.replace(stop, cause=fields.EndCause.WALL_TIME) if is_wall else stop


def of_limit(start: messages.StartCommand) -> runs.Stop:
    """Return the kill of a session whose wall time is over: its own warning and grace; it answers no command."""
    stop = _kill("", start.warn_signal or int(signal.SIGTERM), start.grace_ms)
    return dataclasses.replace(stop, cause=fields.EndCause.WALL_TIME)


def of_run(run: runs.Run, directory: pathlib.Path, *, has_shepherd: bool) -> runs.Stop | None:
    """
    Return the kill that nobody orders and that is due now, or None: by the wall-time limit, or by the fence.

    Args:
        run: running or suspended.
        directory: of the run; its specification says whether it is fenced.
        has_shepherd: whether its shepherd lives and keeps the fence itself.
    """
    start, is_running = run.start, run.state is runs.RunState.RUNNING
    ran_ms = run.running_ms(records.monotonic_ms())
    if is_running and start.wall_limit_s is not None and ran_ms >= start.wall_limit_s * 1000:
        return of_limit(start)
    fence = records.read(directory / records.SPEC).get("fence") if not has_shepherd else None
    if fencing.is_due(fence, since_ms=run.running_since_ms or 0):
        stop = dataclasses.replace(of_limit(start), cause=fields.EndCause.FENCED)
        return dataclasses.replace(stop, grace_ms=min(start.grace_ms, fencing.LONGEST_GRACE_MS))
    return None


def keep_limit(deadline: deadlines.Deadline, run: runs.Run) -> None:
    """Have the shepherd know when the wall time of a run is over, as long as the run runs."""
    start, since_ms, at_ms = run.start, run.running_since_ms, None
    if run.state is runs.RunState.RUNNING and start.wall_limit_s is not None and since_ms is not None:
        at_ms = since_ms - run.ran_ms + start.wall_limit_s * 1000
    deadline.keep(at_ms, number=start.warn_signal or int(signal.SIGTERM), grace_ms=start.grace_ms)


def warned_by_shepherd(directory: pathlib.Path) -> runs.Warned | None:
    """Return the warning that a shepherd gave when no agent kept the limit, or None."""
    overdue = records.read(directory / records.OVERDUE)
    return runs.Warned(True, overdue["until_ms"]) if overdue else None


def at_once() -> runs.Stop:
    """Return the kill of a run that the controller has given up; it answers no command."""
    return _kill("", int(signal.SIGKILL), 0)


def merge_kill(old: runs.Stop, new: runs.Stop) -> runs.Stop:
    """Return the kill under way, answered under the new command, and earlier where the new one says so."""
    sooner_ms = min(old.grace_ms, new.begun_ms - old.begun_ms + new.grace_ms)
    return dataclasses.replace(
        old,
        command_id=new.command_id or old.command_id,
        grace_ms=sooner_ms if new.is_kill else old.grace_ms,
    )


def _kill(command_id: str, number: int, grace_ms: int) -> runs.Stop:
    return runs.Stop(command_id, True, number, grace_ms, 0, records.monotonic_ms(), fields.EndCause.KILLED)
