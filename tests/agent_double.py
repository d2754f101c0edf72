"""
A double of an agent: reads the outbox as the broker would deliver it, and answers with signed reports.

No processes. What a command does is decided by the test, which calls the method for the answer it wants.
"""

from __future__ import annotations

from typing import Any

from scheduler import models
from scheduler.protocol import codec, fields, messages, signing
from scheduler.services import actors, nodes, reports


class AgentDouble:
    """One agent of one node, with a key of its own."""

    def __init__(self, node: models.Node, *, boot: str = "boot-1") -> None:
        self.node = node
        self.boot = boot
        self.seq = 0
        key_id, secret = nodes.enroll_node(actors.SYSTEM, node)
        self.key = signing.NodeKey(key_id, node.name, bytes.fromhex(secret))

    def send(self, report: messages.Report) -> str:
        """Deliver a report; returns the envelope, to be delivered again where a test wants that."""
        text = self.sealed(report)
        reports.receive(text)
        return text

    def sealed(self, report: messages.Report) -> str:
        """Return the next envelope, not yet delivered."""
        self.seq += 1
        return signing.seal(report, key=self.key, boot=self.boot, seq=self.seq, version=messages.VERSION)

    def answers(
        self,
        session: models.Session,
        command: type[messages.Command],
        report: type[messages.Report],
        **facts: Any,
    ) -> str:
        """Answer the open command of that kind with that report."""
        return self.send(report(**self._about(self._open(session, command)), **facts))

    def open_commands(self) -> list[messages.Command]:
        """Return the commands that wait for this node, oldest first."""
        rows = models.AgentCommand.objects.filter(node=self.node, settled_at=None).order_by("pk")
        return [codec.decode(row.body) for row in rows]  # type: ignore[misc]

    def _open(self, session: models.Session, kind: type[messages.Command]) -> messages.Command:
        found = [
            command
            for command in self.open_commands()
            if command.session == str(session.public_id) and isinstance(command, kind)
        ]
        assert len(found) == 1, f"{kind.__name__} open for {session.name}: {found}"
        return found[0]

    def _about(self, command: messages.Command) -> dict[str, Any]:
        return {"session": command.session, "epoch": command.epoch, "command_id": command.command_id}

    def hello(self, *sessions: messages.HeldSession) -> None:
        """Greet with everything it holds."""
        self.send(
            messages.Hello(
                agent_version="test",
                protocol=1,
                boot=self.boot,
                pid=1,
                host_facts={},
                sessions=tuple(sessions),
            )
        )

    def starts(self, session: models.Session, *, at_mono_ms: int = 0) -> str:
        """Confirm the start of a session."""
        about = self._about(self._open(session, messages.StartCommand))
        return self.send(
            messages.Started(**about, pid=100, started_mono_ms=1, boot=self.boot, at_mono_ms=at_mono_ms)
        )

    def fails_to_start(self, session: models.Session, error: str = "no such program") -> str:
        """Report that nothing could be started."""
        return self.send(
            messages.StartFailed(**self._about(self._open(session, messages.StartCommand)), error=error)
        )

    def suspends(self, session: models.Session) -> str:
        """Prove that every process of a session is stopped."""
        members = (messages.Member(pid=100, start_time=5, state="T"),)
        about = self._about(self._open(session, messages.StopCommand))
        return self.send(
            messages.Stopped(
                **about,
                method=fields.StopMethod.SIGNALS,
                members=members,
                cpu_ms=9,
                warned=False,
                waited_ms=3,
            )
        )

    def fails_to_stop(self, session: models.Session) -> str:
        """Report that a stop could not be proven and was undone."""
        members = (messages.Member(pid=100, start_time=5, state="R"),)
        about = self._about(self._open(session, messages.StopCommand))
        return self.send(messages.StopFailed(**about, running=members, reason="still running"))

    def resumes(self, session: models.Session) -> str:
        """Confirm that a suspended session runs again."""
        return self.send(
            messages.Resumed(**self._about(self._open(session, messages.ResumeCommand)), members=())
        )

    def withdraws(self, session: models.Session) -> str:
        """Confirm that a stop was taken back."""
        return self.send(messages.Withdrawn(**self._about(self._open(session, messages.WithdrawCommand))))

    def ends(
        self,
        session: models.Session,
        code: int | None = 0,
        *,
        by: type[messages.Command] | None = None,
        **facts: Any,
    ) -> str:
        """Report that no process is left; ``by`` names the command that brought it about."""
        session.refresh_from_db()
        about = {"session": str(session.public_id), "epoch": session.epoch}
        if by is not None:
            about = self._about(self._open(session, by))
        values: dict[str, Any] = {
            "exit_code": code,
            "signal": None,
            "after_warning": by is not None,
            "checkpointed": False,
            "cpu_ms": 5,
            "peak_bytes": 1000,
            "ran_ms": 50,
            "known": True,
            "cause": fields.EndCause.KILLED if by is not None else fields.EndCause.SELF,
        }
        return self.send(messages.Ended(**(about | values | facts)))
