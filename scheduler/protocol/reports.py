"""Evidence from an agent to the controller. Read `messages` first."""

from __future__ import annotations

import dataclasses
from typing import Annotated, ClassVar

from scheduler.protocol import fields


@dataclasses.dataclass(frozen=True, kw_only=True)
class HeldSession:
    """A session that an agent still knows."""

    session: fields.Uuid
    epoch: fields.Epoch
    state: fields.HeldState


@dataclasses.dataclass(frozen=True, kw_only=True)
class Member:
    """One process of a session as it was seen: pid, start time in clock ticks since boot, state letter."""

    pid: fields.Pid
    start_time: fields.Natural
    state: Annotated[str, fields.Text(1)]


Members = Annotated[tuple[Member, ...], fields.Size(1000)]
HeldSessions = Annotated[tuple[HeldSession, ...], fields.Size(2000)]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Report:
    """
    Evidence from a node; the node itself is known by the key, never by the body.

    Attributes:
        session: UUID, or empty in messages about the whole node.
        epoch: of the run that the evidence is about.
        command_id: the order that it settles, or empty when unsolicited.
        at_mono_ms: the agent's monotonic clock when it happened.
    """

    TYPE: ClassVar[str] = ""
    SINCE: ClassVar[int] = 1
    session: fields.OptionalUuid = ""
    epoch: fields.Epoch = 0
    command_id: fields.OptionalUuid = ""
    at_mono_ms: fields.Natural = 0


@dataclasses.dataclass(frozen=True, kw_only=True)
class Hello(Report):
    """
    An agent is here: after each start and each reconnect, with everything it holds.

    Attributes:
        agent_version: text for people.
        protocol: highest version of this protocol that it speaks.
        boot: kernel boot id.
        pid: of the agent.
        host_facts: name, kernel, processors, memory; for people.
        sessions: all it holds.
        enforce: what the host can enforce: affinity, cgroup_v2, freezer, multi_user.
    """

    TYPE: ClassVar[str] = "hello"
    agent_version: fields.Word
    protocol: Annotated[int, fields.Bounds(1, 1000)]
    boot: fields.BootId
    pid: fields.Pid
    host_facts: Annotated[dict[fields.Word, fields.Word | fields.Natural], fields.Size(50)]
    sessions: HeldSessions = ()
    enforce: Annotated[dict[fields.Word, bool], fields.Size(50)] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Heartbeat(Report):
    """The agent lives and holds these sessions."""

    TYPE: ClassVar[str] = "heartbeat"
    sessions: HeldSessions = ()


@dataclasses.dataclass(frozen=True, kw_only=True)
class Started(Report):
    """The session's first process runs."""

    TYPE: ClassVar[str] = "started"
    pid: fields.Pid
    started_mono_ms: fields.Natural
    boot: fields.BootId


@dataclasses.dataclass(frozen=True, kw_only=True)
class StartFailed(Report):
    """Nothing runs; `error` says why in one line."""

    TYPE: ClassVar[str] = "start-failed"
    error: fields.Reason


@dataclasses.dataclass(frozen=True, kw_only=True)
class StartRefused(Report):
    """Nothing was started, on purpose. Also the answer to a cancelled start."""

    TYPE: ClassVar[str] = "start-refused"
    reason: fields.StartRefusal


@dataclasses.dataclass(frozen=True, kw_only=True)
class StartedAlready(Report):
    """A start came too late to be cancelled: the session runs, or has run."""

    TYPE: ClassVar[str] = "started-already"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Stopped(Report):
    """
    Proof of a suspend: every member was seen stopped twice.

    Attributes:
        method: how they are held.
        members: the last look, at most 1000 of them.
        cpu_ms: processor time used so far.
        warned: whether a handler had the chance to act before the stop.
        waited_ms: from the command to the proof.
    """

    TYPE: ClassVar[str] = "stopped"
    method: fields.StopMethod
    members: Members
    cpu_ms: fields.Millis
    warned: bool
    waited_ms: fields.Millis


@dataclasses.dataclass(frozen=True, kw_only=True)
class StopFailed(Report):
    """The stop could not be proven and was undone; `running` are those that would not stop."""

    TYPE: ClassVar[str] = "stop-failed"
    running: Members
    reason: fields.Reason


@dataclasses.dataclass(frozen=True, kw_only=True)
class Ended(Report):
    """
    No process of the session is left. With the command id of a stop by kill it is that stop's proof.

    Attributes:
        exit_code: 0..255, or none (killed by a signal, or unknown).
        signal: the signal that ended the first process, or none.
        after_warning: the warning had been delivered before the exit.
        checkpointed: the session called back that it checkpointed.
        cpu_ms: processor time of all its processes.
        peak_bytes: largest resident memory seen.
        ran_ms: running time, suspended time apart.
        known: whether the exit status is known at all.
        cause: how it came to its end.
        output_bytes: size of the output kept.
    """

    TYPE: ClassVar[str] = "ended"
    exit_code: fields.ExitCode | None
    signal: fields.SignalNumber | None
    after_warning: bool
    checkpointed: bool
    cpu_ms: fields.Millis
    peak_bytes: fields.Natural
    ran_ms: fields.Millis
    known: bool
    cause: fields.EndCause
    output_bytes: fields.Natural = 0


@dataclasses.dataclass(frozen=True, kw_only=True)
class Withdrawn(Report):
    """The stop was taken back: the session runs."""

    TYPE: ClassVar[str] = "withdrawn"


@dataclasses.dataclass(frozen=True, kw_only=True)
class WithdrawRefused(Report):
    """The stop stands."""

    TYPE: ClassVar[str] = "withdraw-refused"
    reason: fields.WithdrawRefusal


@dataclasses.dataclass(frozen=True, kw_only=True)
class Resumed(Report):
    """Every member was continued and seen running."""

    TYPE: ClassVar[str] = "resumed"
    members: Members


@dataclasses.dataclass(frozen=True, kw_only=True)
class ResumeFailed(Report):
    """The session could not be continued and is still suspended."""

    TYPE: ClassVar[str] = "resume-failed"
    error: fields.Reason


@dataclasses.dataclass(frozen=True, kw_only=True)
class Gone(Report):
    """No such session, or no such epoch of it, on this node."""

    TYPE: ClassVar[str] = "gone"


@dataclasses.dataclass(frozen=True, kw_only=True)
class OutputTail(Report):
    """Last lines of the output; `size` is that of the whole, `truncated` whether the limit cut it."""

    TYPE: ClassVar[str] = "output-tail"
    tail: fields.OutputText
    size: fields.Natural
    truncated: bool


@dataclasses.dataclass(frozen=True, kw_only=True)
class OutputPage(Report):
    """
    One page of the output, cut between characters; bytes that are no UTF-8 come as U+FFFD.

    Attributes:
        offset: first byte of the page.
        data: its text.
        size: bytes of the whole output now.
        eof: whether the page reaches that end.
        next_offset: first byte after the page.
    """

    TYPE: ClassVar[str] = "output-page"
    offset: fields.Natural
    data: fields.OutputText
    size: fields.Natural
    eof: bool
    next_offset: fields.Natural
