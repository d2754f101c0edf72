"""
What the agent knows, as a function of its journal: runs, fences, answers given, reports not yet acknowledged.

`apply` takes one entry and changes the knowledge; it performs nothing. Replaying the journal gives the same
book.
"""

from __future__ import annotations

from typing import Any

from scheduler.agent import processes, runs
from scheduler.agent.journal import Entry
from scheduler.protocol import codec, fields, messages


class Book:
    """See the module. Read its attributes; change it through `apply` alone."""

    def __init__(self) -> None:
        self.runs: dict[str, runs.Run] = {}
        #: Highest epoch known of each session.
        self.fence: dict[str, int] = {}
        #: Epochs of which a start or resume is refused.
        self.cancelled: set[runs.Key] = set()
        #: Stops taken back, by command id.
        self.withdrawn: set[str] = set()
        #: Commands accepted, each with its answer or None.
        self.answers: dict[str, messages.Report | None] = {}
        #: Reports that the controller has not acknowledged, in order.
        self.outbox: dict[tuple[str, int], messages.Report] = {}
        self._session_of: dict[str, str] = {}

    def apply(self, entry: Entry) -> None:
        """Take one entry of the journal into account."""
        match entry["kind"]:
            case "command":
                self._apply_command(codec.decode(entry["body"]))
            case "launched":
                self._apply_launch(self.runs[entry["session"]], entry)
            case "stop":
                self._apply_stop(self.runs[entry["session"]], entry)
            case "warned":
                self.runs[entry["session"]].warning = runs.a_warning(entry["warning"])
            case "kill-begun":
                self._open_stop(entry["session"]).kill_begun = True
            case "report":
                self._apply_report(codec.decode(entry["body"]), entry)
            case "ack":
                for boot, seq in entry["reports"]:
                    self.outbox.pop((boot, seq), None)
            case "run":
                run = runs.restore(entry)
                self.runs[run.session] = run
            case "known":
                self._restore_known(entry)
            case kind:
                raise ValueError(f"an entry of a kind this version does not know: {kind}")

    def find(self, session: str, epoch: int) -> runs.Run | None:
        """
        Return the run with exactly this epoch, ended or not; or the living one that was to get it by a resume.

        Whatever became of that resume, the processes are what the controller means.
        """
        run = self.runs.get(session)
        if run is None or run.epoch == epoch:
            return run
        is_held = run.job is not None and run.state is not runs.RunState.ENDED
        return run if is_held and run.epoch < epoch else None

    def held(self) -> list[messages.HeldSession]:
        """Return what the node holds, for hello and heartbeat; starts under way have an open command instead."""
        return [
            messages.HeldSession(session=run.session, epoch=run.epoch, state=fields.HeldState(run.state))
            for run in self.runs.values()
            if run.state is not runs.RunState.STARTING
            and (run.state is not runs.RunState.ENDED or self._is_told(run))
        ]

    def _is_told(self, run: runs.Run) -> bool:
        """Whether the end of this run still waits for its acknowledgement."""
        return any(isinstance(r, messages.Ended) and r.session == run.session for r in self.outbox.values())

    def drop_unfinished(self) -> None:
        """Forget accepted commands that nobody works on (a crash, a full disk); they will be sent again."""
        at_work = {_work_of(run, self.withdrawn) for run in self.runs.values()}
        for command_id in [c for c, answer in self.answers.items() if answer is None]:
            if command_id not in at_work:
                del self.answers[command_id]

    def forget(self, session: str) -> None:
        """Drop an ended run and all answers about it; from now on the fence refuses its epoch, too."""
        self.fence[session] = max(self.runs.pop(session).epoch + 1, self.fence.get(session, 0))
        for command_id in [c for c, s in self._session_of.items() if s == session]:
            self.answers.pop(command_id, None)
            self.withdrawn.discard(command_id)
            del self._session_of[command_id]

    def _apply_command(self, command: messages.Message) -> None:
        assert isinstance(command, messages.Command)
        self._know(command.command_id, command.session, None)
        self.fence[command.session] = max(command.epoch, self.fence.get(command.session, 0))
        run = self.runs.get(command.session)
        match command:
            case messages.StartCommand():
                self.runs[command.session] = runs.Run(start=command, epoch=command.epoch)
            case messages.CancelStartCommand():
                self.cancelled.add((command.session, command.epoch))
                if run is not None and run.state is runs.RunState.SUSPENDED:
                    run.epoch, run.continuing = max(run.epoch, command.epoch), None
            case messages.WithdrawCommand():
                self.withdrawn.add(command.stops)
                self._session_of[command.stops] = command.session
                _continue(run, command)
            case messages.ResumeCommand():
                _continue(run, command)
            case messages.StopCommand() if run is not None and command.epoch > run.epoch:
                run.epoch = command.epoch
                self.cancelled.add((command.session, command.epoch))  # a resume that comes later is overtaken
            case messages.KillCommand() if run is not None:
                run.epoch = max(run.epoch, command.epoch)
            case messages.KillCommand():
                self.cancelled.add((command.session, command.epoch))

    def _apply_launch(self, run: runs.Run, entry: Entry) -> None:
        run.boot = entry["boot"]
        run.shepherd = processes.Identity(*entry["shepherd"])
        run.job = processes.Identity(*entry["job"])
        run.state, run.running_since_ms = runs.RunState.RUNNING, entry["mono_ms"]

    def _apply_stop(self, run: runs.Run, entry: Entry) -> None:
        """Without the word about its warning an entry is of an agent that wrote none and sent it at once."""
        stop = runs.a_stop(entry["stop"])
        sent = {"delivered": True, "until_ms": stop.begun_ms + stop.notice_ms}
        run.warning = runs.a_warning(entry.get("warning", sent))
        run.stop, run.state, run.continuing = stop, runs.RunState.STOPPING, None

    def _open_stop(self, session: str) -> runs.Stop:
        stop = self.runs[session].stop
        assert stop is not None, "a kill without a stop"
        return stop

    def _apply_report(self, report: messages.Message, entry: Entry) -> None:
        assert isinstance(report, messages.Report)
        self.outbox[entry["boot"], entry["seq"]] = report
        if report.command_id:
            if self.answers.get(report.command_id) is not None:
                return  # said again, and long overtaken
            self._know(report.command_id, report.session, report)
        run = self.runs.get(report.session)
        if run is not None and run.continuing and run.continuing[0] == report.command_id:
            run.continuing = None
        if run is not None and report.epoch >= run.epoch:
            self._apply_to_run(run, report)

    def _apply_to_run(self, run: runs.Run, report: messages.Report) -> None:
        match report:
            case messages.Stopped():
                run.suspended_by = run.stop.command_id if run.stop else report.command_id
                self._rest(run, runs.RunState.SUSPENDED, report.at_mono_ms)
                run.warning = None
            case messages.Withdrawn() if self._stop_of(run) not in self.withdrawn:
                pass
            case messages.StopFailed() | messages.Withdrawn() | messages.Resumed():
                self._rest(run, runs.RunState.RUNNING, report.at_mono_ms)
                run.epoch, run.suspended_by = report.epoch, ""
                if not isinstance(report, messages.Withdrawn):
                    run.warning = None
            case messages.ResumeFailed():
                run.epoch = report.epoch
            case messages.Ended():
                self._rest(run, runs.RunState.ENDED, report.at_mono_ms)
                run.ended = report
            case messages.StartFailed():
                del self.runs[run.session]

    def _stop_of(self, run: runs.Run) -> str:
        return run.stop.command_id if run.stop else run.suspended_by

    def _rest(self, run: runs.Run, state: runs.RunState, now_ms: int) -> None:
        """Leave the transition; count or stop counting running time."""
        run.ran_ms = run.running_ms(now_ms)
        run.running_since_ms = now_ms if state is runs.RunState.RUNNING else None
        run.state, run.stop, run.continuing = state, None, None

    def _know(self, command_id: str, session: str, answer: messages.Report | None) -> None:
        self.answers[command_id] = answer
        self._session_of[command_id] = session

    def dump(self) -> list[Entry]:
        """Return the fewest entries that make this book again."""
        known: Entry = {
            "kind": "known",
            "fence": self.fence,
            "cancelled": sorted(self.cancelled),
            "withdrawn": sorted(self.withdrawn),
            "answers": {c: a and codec.encode(a) for c, a in self.answers.items()},
            "outbox": [[boot, seq, codec.encode(r)] for (boot, seq), r in self.outbox.items()],
            "session_of": self._session_of,
        }
        return [known, *(run.dump() for run in self.runs.values())]

    def _restore_known(self, entry: Entry) -> None:
        self.fence = dict(entry["fence"])
        self.cancelled = {(session, epoch) for session, epoch in entry["cancelled"]}
        self.withdrawn = set(entry["withdrawn"])
        self.answers = {c: a and _report(a) for c, a in entry["answers"].items()}
        self.outbox = {(boot, seq): _report(body) for boot, seq, body in entry["outbox"]}
        self._session_of = dict(entry["session_of"])


def _continue(run: runs.Run | None, command: messages.Command) -> None:
    if run is not None and run.state in (runs.RunState.SUSPENDED, runs.RunState.STOPPING):
        run.continuing = command.command_id, command.epoch


def _work_of(run: runs.Run, withdrawn: set[str]) -> str:
    """Return the command that the state of a run stands for, or nothing."""
    if run.state is runs.RunState.STARTING:
        return run.start.command_id
    if run.continuing is not None:
        return run.continuing[0]
    if run.stop is not None and run.stop.command_id not in withdrawn:
        return run.stop.command_id
    return ""


def _report(plain: Any) -> Any:
    return codec.decode(plain)
