"""
The messages between controller and agents: commands down, reports up; one name space for both.

Every message is a frozen value; its `TYPE` is its name on the wire. Times are milliseconds on the agent's
own monotonic clock or durations, never instants of a wall clock. A field with a default may be left out.
Serves rule 9 (commands down, evidence up, both idempotent and fenced).

Old and new run side by side (P18), so what was once said is never changed, only added to, under a new
`VERSION`: a field gets a default and `fields.Since`, a word goes into `fields.NEWER_WORDS`, a message gets
`SINCE`; hello and heartbeat stay as they are. docs/adr/0009 says why.
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

#: The version that every peer speaks; what is not yet agreed on is said in it.
FIRST = 1
#: The highest version spoken here.
VERSION = 2

#: Seconds after which a message that will be sent again, or that the next one replaces, need not be read any more. The
#: broker's clients judge it by the clocks of both ends, which may be more than an hour apart (P17): a node with a wrong
#: clock must neither fall silent nor become deaf.
PASSING_S = 2 * 3600

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
    "FIRST",
    "PASSING_S",
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
