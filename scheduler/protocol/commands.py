"""Orders from the controller to the agent of one node. Read `messages` first."""

from __future__ import annotations

import dataclasses
from typing import Annotated, ClassVar

from scheduler.protocol import fields

Environment = Annotated[dict[fields.Variable, fields.Argument], fields.Size(1000)]
Slots = Annotated[dict[fields.SlotKind, fields.Natural], fields.Size(200)]
Indices = Annotated[dict[fields.SlotKind, tuple[fields.Natural, ...]], fields.Size(200)]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Command:
    """
    An order about one session on one node; sent again with the same command id until it is settled.

    Attributes:
        command_id: UUID of the order; the agent answers a repeated one from its journal.
        session: UUID of the session.
        epoch: fencing number; the agent refuses one lower than the highest it knows for the session.
    """

    TYPE: ClassVar[str] = ""
    SINCE: ClassVar[int] = 1
    command_id: fields.Uuid
    session: fields.Uuid
    epoch: fields.Epoch


@dataclasses.dataclass(frozen=True, kw_only=True)
class StartCommand(Command):
    """
    Start the session here. Exactly one of `argv` and `script` is filled.

    Attributes:
        attempt: number of the session's run, for people, >= 1.
        argv: program and arguments, run without a shell.
        script: text run by its own `#!` line, or by /bin/sh.
        env: variables of the session, added to an environment made from scratch.
        workdir: working directory; empty: the session's own output directory.
        slots: amounts by kind in the smallest unit.
        indices: device indices by indexed kind.
        nodes: every node of the session, in order of rank.
        rank: place of this node in `nodes`.
        wall_limit_s: seconds of running time (suspended time apart), or none.
        output_limit_bytes: bytes of output kept; 0 keeps none.
        warn_signal: signal of the warning before an end.
        exit0_checkpointed: whether exit code 0 after the warning means "checkpointed"; informative.
        grace_ms: time from warning to kill when the wall-time limit ends the session.
        owner: who submitted it; a node in multi-user mode runs it as that owner's account.
        fence_ms: silence after which the node ends it by itself; 0 = never.
    """

    TYPE: ClassVar[str] = "start"
    attempt: Annotated[int, fields.Bounds(1, 2**31 - 1)]
    argv: Annotated[tuple[fields.Argument, ...], fields.Size(4096)] = ()
    script: fields.Argument = ""
    env: Environment = dataclasses.field(default_factory=dict)
    workdir: fields.Path = ""
    slots: Slots = dataclasses.field(default_factory=dict)
    indices: Indices = dataclasses.field(default_factory=dict)
    nodes: Annotated[tuple[fields.Word, ...], fields.Size(10_000)] = ()
    rank: Annotated[int, fields.Bounds(0, 10_000)] = 0
    wall_limit_s: fields.WallSeconds | None = None
    output_limit_bytes: fields.Natural = 64 * 2**20
    warn_signal: fields.SignalNumber = 15
    exit0_checkpointed: bool = False
    grace_ms: fields.GraceMillis = 10_000
    owner: Annotated[fields.Word, fields.Since(2)] = ""
    fence_ms: Annotated[fields.GraceMillis, fields.Since(2)] = 0


@dataclasses.dataclass(frozen=True, kw_only=True)
class StopCommand(Command):
    """
    Stop a running session: XCE's `HookDetail.JOB_STOP`.

    Attributes:
        hook: 65, unchanged from XCE.
        action: suspend (SIGTSTP, grace, SIGSTOP) or kill (warning, grace, SIGKILL).
        mode: what the controller does afterwards.
        signal: the warning; 0 = the action's own (SIGTSTP for suspend, SIGTERM for kill).
        grace_ms: from warning to SIGKILL.
        suspend_grace_ms: from SIGTSTP to SIGSTOP, skipped when nothing catches SIGTSTP.
        decision: id of the decision, or empty for a person's stop.
        by: who wanted it.
    """

    TYPE: ClassVar[str] = "stop"
    action: fields.StopAction
    mode: fields.StopMode
    hook: fields.HookDetail = fields.HookDetail.JOB_STOP
    signal: fields.SignalNumber = 0
    grace_ms: fields.GraceMillis = 10_000
    suspend_grace_ms: fields.GraceMillis = 2_000
    decision: fields.Word = ""
    by: fields.StopBy = fields.StopBy.SCHEDULER


@dataclasses.dataclass(frozen=True, kw_only=True)
class ResumeCommand(Command):
    """Continue a suspended session; `epoch` is the new one, raised by the dispatch of the resume."""

    TYPE: ClassVar[str] = "resume"


@dataclasses.dataclass(frozen=True, kw_only=True)
class KillCommand(Command):
    """
    End a session for good, whatever its state here.

    Attributes:
        cause: why; `stale` and `node-lost` answer an agent that holds what it should not.
        signal: the warning; 0 = SIGTERM.
        grace_ms: from warning to SIGKILL; 0 kills at once.
    """

    TYPE: ClassVar[str] = "kill"
    cause: fields.KillCause
    signal: fields.SignalNumber = 0
    grace_ms: fields.GraceMillis = 10_000


@dataclasses.dataclass(frozen=True, kw_only=True)
class WithdrawCommand(Command):
    """Take back the stop whose command id is `stops`; the agent's journal decides the race with its timer."""

    TYPE: ClassVar[str] = "withdraw"
    stops: fields.Uuid


@dataclasses.dataclass(frozen=True, kw_only=True)
class CancelStartCommand(Command):
    """Refuse a start (or a resume) of this epoch from now on."""

    TYPE: ClassVar[str] = "cancel-start"


@dataclasses.dataclass(frozen=True, kw_only=True)
class OutputRequest(Command):
    """Ask for one page of a session's output, from byte `offset`, at most `limit` bytes."""

    TYPE: ClassVar[str] = "output-request"
    offset: fields.Natural = 0
    limit: fields.PageBytes = 32768


@dataclasses.dataclass(frozen=True, kw_only=True)
class AckCommand:
    """The controller has applied, or refused for good, these reports: pairs (boot, sequence)."""

    TYPE: ClassVar[str] = "ack"
    SINCE: ClassVar[int] = 1
    reports: Annotated[tuple[tuple[fields.BootId, fields.Natural], ...], fields.Size(2000)]
