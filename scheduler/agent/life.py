"""
One run of a session on this node, live: launch or adopt, watch, stop, continue, end.

A life belongs to the agent's loop thread. It acts on processes only after the journal holds the intention,
and reports only what was seen. At most one coroutine works on a run; a new intention cancels the one before.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import logging
import pathlib
import shutil
import signal
from collections.abc import Callable, Coroutine
from typing import Any

from scheduler.agent import (
    accounting,
    deadlines,
    evidence,
    holds,
    intents,
    notices,
    processes,
    records,
    roll,
    runs,
    starting,
    watches,
    work,
)
from scheduler.agent.stop import driver, freezer, procedures
from scheduler.protocol import fields, messages

log = logging.getLogger(__name__)

_SHEPHERD_S = 5


class Life:
    """See the module. `launched` is set once the start has an outcome, `ended` once the end was reported."""

    def __init__(self, run: runs.Run, means: starting.Means, *, on_end: Callable[[Life], None]) -> None:
        self.run = run
        self.launched = asyncio.Event()
        self.ended = asyncio.Event()
        self.cpus: tuple[int, ...] = ()
        self._means = means
        self._on_end = on_end
        self._dir = means.space.run_dir(*run.key)
        self._usage = accounting.Usage()
        self._roll = roll.Roll(self._dir)
        self._deadline = deadlines.Deadline(self._dir)
        self._watches = watches.Watches()
        self._work = work.Work(run.session)
        self._command_id = ""

    @property
    def output_path(self) -> pathlib.Path:
        """The file with stdout and stderr."""
        return self._dir / records.OUTPUT

    @property
    def is_at_work(self) -> bool:
        """Whether a coroutine is busy with the run."""
        return self._work.is_busy

    # -- begin

    def launch(self, cpus: tuple[int, ...] = ()) -> None:
        """Start the session that the journal says was accepted; the answer follows."""
        self.cpus = cpus
        self._begin(self._launch(), self.run.start.command_id)

    def adopt(self) -> None:
        """Take a run of an earlier agent over: by identity and boot id, never by pid alone."""
        if self.run.state is runs.RunState.STARTING:
            self.launch()
        elif self.run.boot != self._means.memory.boot:
            self.launched.set()
            self.run.running_since_ms = None
            self.run.warning = self.run.warning if self.run.stop else None
            self._finish(fields.EndCause.GONE)
        else:
            self.cpus = tuple(records.read(self._dir / records.SPEC).get("cpus", ()))
            self._begin_watch()
            self.tick({}, recheck=True)

    async def _launch(self) -> None:
        try:
            job = await starting.start(self.run.start, self._means, self.cpus)
        except starting.StartError as fault:
            self._answer(messages.StartFailed(error=str(fault)[:2000]))
            self.launched.set()
            self._bury()
            return
        entry = {"kind": "launched", "session": self.run.session, "boot": self._means.memory.boot, **job}
        self._means.memory.record(entry, sync=False)
        self._begin_watch()
        self._answer(messages.Started(pid=job["job"][0], started_mono_ms=job["mono_ms"], boot=self.run.boot))

    def _begin_watch(self) -> None:
        assert self.run.job is not None
        group = str(records.read(self._dir / records.SPEC).get("cgroup", ""))
        self._target = driver.Target(self.run.job, self.run.shepherd, group, run=self.run.key)
        self._roll.recall(self._target)
        self._how = self._means.choose_driver(group)
        self._hold = holds.Hold(self._dir, self._how, self._target, self._usage)
        self._hold.recall()
        intents.keep_limit(self._deadline, self.run)
        self.launched.set()
        if not self._watches.add(self.run.shepherd, self._shepherd_left):
            asyncio.get_running_loop().call_soon(self._shepherd_left)

    # -- stop and continue

    def begin_stop(self, stop: runs.Stop) -> None:
        """Write a stop or kill down and carry it out; a kill under way only becomes earlier."""
        old = self.run.stop if self.run.stop is not None and self.run.stop.is_kill else None
        sent = self.run.warning if old is not None else intents.warned_by_shepherd(self._dir)
        stop = stop if old is None else intents.merge_kill(old, stop)
        warning = {"warning": sent and dataclasses.asdict(sent)}
        entry = {"kind": "stop", "session": self.run.session, "stop": dataclasses.asdict(stop)}
        self._means.memory.record(entry | warning)
        intents.keep_limit(self._deadline, self.run)
        self._carry_out(stop)

    def _carry_out(self, stop: runs.Stop) -> None:
        notice = notices.of(self.run, stop, self._means.memory)
        notices.grant(self._dir, notice)
        self._begin(self._kill(notice) if stop.is_kill else self._suspend(stop, notice), stop.command_id)

    async def _suspend(self, stop: runs.Stop, notice: procedures.Notice) -> None:
        result = await procedures.suspend(self._how, self._target, notice)
        if isinstance(result, procedures.NotHeld):
            reason = "some processes could not be seen stopped in time; all were continued"
            self._answer(messages.StopFailed(running=evidence.members(result.running), reason=reason))
        elif result.members:
            waited_ms = max(0, records.monotonic_ms() - stop.begun_ms)
            self._answer(self._hold.prove(result.members, warned=result.was_noticed, waited_ms=waited_ms))

    async def _kill(self, notice: procedures.Notice) -> None:
        over = (self._dir / records.END).exists
        begins = self._kill_begins
        await procedures.kill(self._how, self._target, notice, before_kill=begins, is_over=over)
        await self._outlast_shepherd()

    def _kill_begins(self) -> None:
        self._means.memory.record({"kind": "kill-begun", "session": self.run.session})

    async def _outlast_shepherd(self) -> None:
        """No member is left: the shepherd writes its records and leaves; one that cannot is ended too."""
        shepherd = self._target.shepherd
        if shepherd is not None:
            processes.send(shepherd, signal.SIGCONT)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self.ended.wait(), _SHEPHERD_S)
            processes.send(shepherd, signal.SIGKILL)
        self._finish(fields.EndCause.SELF)

    def withdraw(self, command: messages.WithdrawCommand) -> None:
        """Take a stop back that has not become irreversible; the caller checked that."""
        with contextlib.suppress(OSError):
            (self._dir / records.GRACE).unlink()
        self._begin(self._continue(self.run.epoch, is_withdrawal=True), command.command_id)

    def resume(self, command: messages.ResumeCommand) -> None:
        """Continue a suspended run under its new epoch."""
        self._begin(self._continue(command.epoch, is_withdrawal=False), command.command_id)

    async def _continue(self, epoch: int, *, is_withdrawal: bool) -> None:
        result = await procedures.resume(self._how, self._target)
        if not result.members:
            return
        if is_withdrawal:
            refused = messages.WithdrawRefused(reason=fields.WithdrawRefusal.SUSPENDED)
            self._answer(messages.Withdrawn() if result.is_running else refused)
        elif result.is_running:
            self._answer(messages.Resumed(members=evidence.members(result.members)), epoch=epoch)
        else:
            self._answer(messages.ResumeFailed(error="no process was seen running again"), epoch=epoch)

    # -- watch

    def tick(self, table: processes.Table, *, recheck: bool) -> None:
        """
        Look after the run: memory, wall-time limit, that a suspended one stays so, that what failed is tried again.

        Args:
            table: a scan shared by all runs, for the sample of memory and time; empty = no sample now.
            recheck: whether suspended processes are looked at, too.
        """
        intents.keep_limit(self._deadline, self.run)
        if self.launched.is_set() and self._watches.is_empty and not self.is_at_work:
            self._shepherd_left()
            return
        if self.run.continuing is not None and not self.is_at_work:
            self._continue_again(*self.run.continuing)
        match self.run.state:
            case runs.RunState.RUNNING:
                if table:
                    self._usage.look(self._roll.call(self._target, table), self._target.shepherd)
                self._end_if_due()
            case runs.RunState.SUSPENDED if recheck and not self.is_at_work:
                again = self._hold.look(self.run.session)
                if again is not None:
                    self._report(dataclasses.replace(again, command_id=self.run.suspended_by))
                self._end_if_due()
            case runs.RunState.STOPPING if not self.is_at_work:
                self._stop_again()

    def _continue_again(self, command_id: str, epoch: int) -> None:
        """Carry a resume or a withdrawal on: its processes may run already, and are not to be stopped again."""
        self._begin(self._continue(epoch, is_withdrawal=epoch == self.run.epoch), command_id)

    def _stop_again(self) -> None:
        """Carry a stop on that an agent before, or a full disk, left unfinished; not one that was taken back."""
        stop = self.run.stop
        if stop is not None and stop.command_id not in self._means.memory.book.withdrawn:
            self._carry_out(stop)

    def _end_if_due(self) -> None:
        stop = intents.of_run(self.run, self._dir, has_shepherd=self._target.shepherd is not None)
        if stop is not None:
            self.begin_stop(stop)

    def _shepherd_left(self) -> None:
        """It ended with its job, or it died alone: then the job is kept, and its exit status will be unknown."""
        if (self._dir / records.END).exists():
            self._finish(fields.EndCause.SELF)
            return
        self._target.shepherd = None
        if self._watches.add(self.run.job, self._orphan_left):
            log.warning("the supervisor of session %s died; its job was adopted", self.run.session)
        elif self._how.observe(self._target):
            self._orphan_left()
        else:
            self._finish(fields.EndCause.GONE)

    def _orphan_left(self) -> None:
        """The first process of an adopted job ended: nobody sweeps, so the agent does."""
        if self.run.stop is None or not self.run.stop.is_kill:
            self._begin(self._sweep(), self._command_id)

    async def _sweep(self) -> None:
        await procedures.sweep(self._how, self._target)
        self._finish(fields.EndCause.SELF)

    # -- end

    def _finish(self, cause: fields.EndCause) -> None:
        """Report the end, once. No process of the run is left, and none will be."""
        if self.ended.is_set():
            return
        report = accounting.conclude(self.run, self._dir, usage=self._usage, cause=cause)
        command_id = self.run.stop.command_id if self.run.stop else self._command_id
        self._means.memory.mention(self.tail())
        self._report(dataclasses.replace(report, command_id=command_id))
        shutil.rmtree(self._dir / "tmp", ignore_errors=True)
        self.leave()
        self._bury()

    def _bury(self) -> None:
        freezer.drop_group(str(records.read(self._dir / records.SPEC).get("cgroup", "")))
        self.ended.set()
        self._on_end(self)

    def leave(self) -> None:
        """Stop working and watching; processes stay as they are."""
        self._work.cancel()
        self._watches.close()

    def tail(self) -> messages.OutputTail:
        """Return the last lines of the output as a report."""
        return evidence.tail(self.run, self.output_path)

    def _answer(self, report: messages.Report, *, epoch: int | None = None) -> None:
        """Report the outcome of the command that is being carried out."""
        self._report(dataclasses.replace(report, command_id=self._command_id), epoch=epoch)
        self._command_id = ""
        self._work.release()

    def _report(self, report: messages.Report, *, epoch: int | None = None) -> None:
        number = self.run.epoch if epoch is None else epoch
        self._means.memory.report(dataclasses.replace(report, session=self.run.session, epoch=number))

    def _begin(self, todo: Coroutine[Any, Any, None], command_id: str) -> None:
        self._command_id = command_id
        self._work.begin(todo)
