"""Stops as the journal keeps them, made from commands and limits, and what becomes of two that meet."""

from __future__ import annotations

import dataclasses
import signal

from scheduler.agent import book, records
from scheduler.protocol import fields, messages


def of_stop(command: messages.StopCommand) -> book.Stop:
    """Return the suspend or kill that a stop command orders, begun now."""
    is_kill = command.action is fields.StopAction.KILL
    number = command.signal or int(signal.SIGTERM if is_kill else signal.SIGTSTP)
    stop = _kill(command.command_id, number, command.grace_ms)
    return dataclasses.replace(stop, is_kill=is_kill, suspend_grace_ms=command.suspend_grace_ms)


def of_kill(command: messages.KillCommand) -> book.Stop:
    """Return the kill that a command orders, begun now."""
    is_wall = command.cause is fields.KillCause.WALL_TIME
    stop = _kill(command.command_id, command.signal or int(signal.SIGTERM), command.grace_ms)
    return dataclasses.replace(stop, cause=fields.EndCause.WALL_TIME) if is_wall else stop


def of_limit(start: messages.StartCommand) -> book.Stop:
    """Return the kill of a session whose wall time is over: its own warning and grace; it answers no command."""
    stop = _kill("", start.warn_signal or int(signal.SIGTERM), start.grace_ms)
    return dataclasses.replace(stop, cause=fields.EndCause.WALL_TIME)


def at_once() -> book.Stop:
    """Return the kill of a run that the controller has given up; it answers no command."""
    return _kill("", int(signal.SIGKILL), 0)


def merge_kill(old: book.Stop, new: book.Stop) -> book.Stop:
    """Return the kill under way, answered under the new command, and earlier where the new one says so."""
    sooner_ms = min(old.grace_ms, new.begun_ms - old.begun_ms + new.grace_ms)
    return dataclasses.replace(
        old,
        command_id=new.command_id or old.command_id,
        grace_ms=sooner_ms if new.is_kill else old.grace_ms,
    )


def _kill(command_id: str, number: int, grace_ms: int) -> book.Stop:
    return book.Stop(command_id, True, number, grace_ms, 0, records.monotonic_ms(), fields.EndCause.KILLED)
