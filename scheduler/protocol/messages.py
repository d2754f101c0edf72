"""
The messages between controller and agents: commands down, reports up; one name space for both.

Every message is a frozen value; its `TYPE` is its name on the wire. Times are milliseconds on the agent's
own monotonic clock or durations, never instants of a wall clock. A field with a default may be left out by a
sender of the same version: that is how the protocol grows. Serves rule 9 (commands down, evidence up, both
idempotent and fenced).
"""

from __future__ import annotations

from scheduler.protocol.commands import (
    AckCommand,
    CancelStartCommand,
    Command,
    KillCommand,
    OutputRequest,
    ResumeCommand,
    StartCommand,
    StopCommand,
    WithdrawCommand,
)
from scheduler.protocol.reports import (
    Ended,
    Gone,
    Heartbeat,
    HeldSession,
    Hello,
    Member,
    OutputPage,
    OutputTail,
    Report,
    Resumed,
    ResumeFailed,
    Started,
    StartedAlready,
    StartFailed,
    StartRefused,
    StopFailed,
    Stopped,
    Withdrawn,
    WithdrawRefused,
)

#: The only version spoken.
VERSION = 1

#: Every command.
COMMANDS: tuple[type[Command] | type[AckCommand], ...] = (
    StartCommand,
    StopCommand,
    ResumeCommand,
    KillCommand,
    WithdrawCommand,
    CancelStartCommand,
    OutputRequest,
    AckCommand,
)
#: Every report.
REPORTS: tuple[type[Report], ...] = (
    Hello,
    Heartbeat,
    Started,
    StartFailed,
    StartRefused,
    StartedAlready,
    Stopped,
    StopFailed,
    Ended,
    Withdrawn,
    WithdrawRefused,
    Resumed,
    ResumeFailed,
    Gone,
    OutputTail,
    OutputPage,
)

Message = Command | AckCommand | Report

__all__ = [
    "COMMANDS",
    "REPORTS",
    "VERSION",
    "AckCommand",
    "CancelStartCommand",
    "Command",
    "Ended",
    "Gone",
    "Heartbeat",
    "HeldSession",
    "Hello",
    "KillCommand",
    "Member",
    "Message",
    "OutputPage",
    "OutputRequest",
    "OutputTail",
    "Report",
    "ResumeCommand",
    "ResumeFailed",
    "Resumed",
    "StartCommand",
    "StartFailed",
    "StartRefused",
    "Started",
    "StartedAlready",
    "StopCommand",
    "StopFailed",
    "Stopped",
    "WithdrawCommand",
    "WithdrawRefused",
    "Withdrawn",
]
