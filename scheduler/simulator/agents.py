"""
One simulated agent: what it was ordered, what it would answer, and its signed reports.

It knows its node's outbox and its own memory of runs, as a real agent knows its journal; no process exists.
"""

from __future__ import annotations

import dataclasses
import datetime
from typing import Any

from scheduler import models
from scheduler.protocol import fields, messages, signing
from scheduler.services import actors, nodes, reports

BOOT = "simulated"
_MEMBER = messages.Member(pid=100, start_time=5, state="T")


@dataclasses.dataclass
class Run:
    """What an agent remembers of one session's present run."""

    epoch: int
    is_started: bool = False
    is_over: bool = False
    is_suspended: bool = False
    stop: messages.StopCommand | None = None  #: under way
    kill_from: datetime.datetime | None = None  #: when the grace of that stop ends
    cancelled_epoch: int = -1


class Agent:
    """The agent of one node, with a key of its own."""

    def __init__(self, node: models.Node) -> None:
        self.node = node
        self.is_silent = False
        self._runs: dict[str, Run] = {}
        self._sent: dict[str, str] = {}  #: session -> its last report, as it was sent
        self._seq = 0
        key_id, secret = nodes.enroll_node(actors.SYSTEM, node)
        self._key = signing.NodeKey(key_id, node.name, bytes.fromhex(secret))

    def hello(self) -> None:
        """Greet with everything that it holds."""
        self._send(
            messages.Hello(
                agent_version="simulated",
                protocol=1,
                boot=BOOT,
                pid=1,
                host_facts={},
                sessions=self._held(),
            )
        )

    def heartbeat(self) -> None:
        """Say that it lives, unless it is silent."""
        self._send(messages.Heartbeat(sessions=self._held()))

    def _held(self) -> tuple[messages.HeldSession, ...]:
        kinds = fields.HeldState
        return tuple(
            messages.HeldSession(
                session=session,
                epoch=run.epoch,
                state=kinds.SUSPENDED if run.is_suspended else kinds.RUNNING,
            )
            for session, run in sorted(self._runs.items())
            if run.is_started and not run.is_over
        )

    def _send(self, report: messages.Report) -> None:
        if self.is_silent:
            return
        self._seq += 1
        sealed = signing.seal(report, key=self._key, boot=BOOT, seq=self._seq)
        self._sent[getattr(report, "session", "")] = sealed
        reports.receive(sealed)

    def repeat(self, session: str) -> None:
        """Deliver the last report about a session once more, as a broker may."""
        if session in self._sent:
            reports.receive(self._sent[session])

    def run(self, session: str) -> Run | None:
        """Return what it remembers of a session."""
        return self._runs.get(session)

    def begin(self, command: messages.Command, now: datetime.datetime) -> None:
        """Take a command in: from now on it is known here, its grace runs."""
        run = self._runs.setdefault(command.session, Run(command.epoch))
        if isinstance(command, messages.StartCommand) and command.epoch > run.epoch:
            self._runs[command.session] = Run(command.epoch)
        if isinstance(command, messages.StopCommand):
            run.stop = command
            is_kill = command.action == fields.StopAction.KILL
            grace = datetime.timedelta(milliseconds=command.grace_ms)
            run.kill_from = now + grace if is_kill else None

    def answer(self, command: messages.Command, now: datetime.datetime) -> None:
        """Answer a command as an agent would whose processes obey."""
        about = {"session": command.session, "epoch": command.epoch, "command_id": command.command_id}
        run = self._runs[command.session]
        match command:
            case messages.StartCommand():
                self._start(run, about)
            case messages.ResumeCommand():
                run.epoch, run.is_suspended, run.stop = command.epoch, False, None
                self._send(messages.Resumed(**about, members=()))
            case messages.WithdrawCommand():
                self._withdraw(run, about, now)
            case messages.CancelStartCommand():
                self._cancel(run, about)
            case messages.StopCommand(action=fields.StopAction.SUSPEND):
                self.prove_suspended(command)
            case messages.StopCommand():
                self._end(
                    run, about, exit_code=None, signal=command.signal or 15, cause=fields.EndCause.KILLED
                )
            case messages.KillCommand():
                self._end(run, about, exit_code=None, signal=9, cause=fields.EndCause.KILLED)

    def _start(self, run: Run, about: dict[str, Any]) -> None:
        if about["epoch"] <= run.cancelled_epoch:
            self._send(messages.StartRefused(**about, reason=fields.StartRefusal.CANCELLED))
            return
        run.is_started = True
        self._send(messages.Started(**about, pid=100, started_mono_ms=1, boot=BOOT))

    def _cancel(self, run: Run, about: dict[str, Any]) -> None:
        if run.is_started and not run.is_over:
            self._send(messages.StartedAlready(**about))
            return
        run.cancelled_epoch = about["epoch"]
        self._send(messages.StartRefused(**about, reason=fields.StartRefusal.CANCELLED))

    def _withdraw(self, run: Run, about: dict[str, Any], now: datetime.datetime) -> None:
        if run.is_over:
            self._send(messages.WithdrawRefused(**about, reason=fields.WithdrawRefusal.ENDED))
        elif run.kill_from is not None and now >= run.kill_from:
            self._send(messages.WithdrawRefused(**about, reason=fields.WithdrawRefusal.KILL_BEGUN))
        else:
            run.stop, run.kill_from, run.is_suspended = None, None, False
            self._send(messages.Withdrawn(**about))

    def prove_suspended(self, command: messages.StopCommand) -> None:
        """Report that every process of a session was seen stopped."""
        run = self._runs[command.session]
        run.is_suspended = True
        self._send(
            messages.Stopped(
                session=command.session,
                epoch=command.epoch,
                command_id=command.command_id,
                method=fields.StopMethod.SIGNALS,
                members=(_MEMBER,),
                cpu_ms=1,
                warned=True,
                waited_ms=1,
            )
        )

    def fail_to_stop(self, command: messages.StopCommand) -> None:
        """Report that a suspend could not be proven and was undone."""
        run = self._runs[command.session]
        run.stop = None
        about = {"session": command.session, "epoch": command.epoch, "command_id": command.command_id}
        self._send(messages.StopFailed(**about, running=(), reason="still running"))

    def fail_to_start(self, command: messages.StartCommand) -> None:
        """Report that nothing could be started."""
        about = {"session": command.session, "epoch": command.epoch, "command_id": command.command_id}
        self._runs[command.session].is_over = True
        self._send(messages.StartFailed(**about, error="no such program"))

    def end(self, session: str, *, exit_code: int) -> None:
        """Report that a session ended by itself."""
        run = self._runs[session]
        about = {"session": session, "epoch": run.epoch, "command_id": ""}
        is_warned = run.stop is not None
        self._end(run, about, exit_code=exit_code, signal=None, cause=fields.EndCause.SELF, warned=is_warned)

    def report_late(self, session: str, *, epoch: int, exit_code: int) -> None:
        """Report the end of a run that is over, once more."""
        self._send(self._ended({"session": session, "epoch": epoch}, exit_code=exit_code, after_warning=True))

    def lose(self) -> None:
        """Forget every run, as after a reboot without a journal; the next hello tells."""
        self._runs.clear()

    def _end(
        self, run: Run, about: dict[str, Any], *, cause: fields.EndCause, warned: bool = True, **how: Any
    ) -> None:
        is_first = not run.is_over
        run.is_over, run.stop, run.kill_from = True, None, None
        if is_first:
            self._send(self._ended(about, after_warning=warned, cause=cause, **how))

    def _ended(self, about: dict[str, Any], **how: Any) -> messages.Ended:
        values: dict[str, Any] = {
            "exit_code": 0,
            "signal": None,
            "after_warning": False,
            "checkpointed": False,
            "cpu_ms": 1,
            "peak_bytes": 1,
            "ran_ms": 1,
            "known": True,
            "cause": fields.EndCause.SELF,
        }
        return messages.Ended(**(about | values | how))
