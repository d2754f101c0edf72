"""
Commands come in here: verified, fenced, answered from memory when repeated, and handed to the life of their
run.

The desk decides; it waits for nothing. Serves P02 (a stop is carried out once) and P08 (the agent's side).
"""

from __future__ import annotations

import asyncio
import dataclasses
import logging

from scheduler import logs
from scheduler.agent import host, intents, journal, keyring, life, outbox, output, records, runs, starting
from scheduler.protocol import errors, fields, messages

log = logging.getLogger(__name__)


class Desk:
    """One per agent; lives in the loop thread. `lives` are the runs whose end was not yet reported."""

    def __init__(self, means: starting.Means, *, out: outbox.Outbox, keys: keyring.KeyRing) -> None:
        self.lives: dict[str, life.Life] = {}
        self._means = means
        self._memory = means.memory
        self._book = means.memory.book
        self._out = out
        self._keys = keys
        self._waiting: dict[str, asyncio.Task[None]] = {}

    def adopt_all(self) -> None:
        """Take over every run of the journal that had not ended."""
        for run in list(self._book.runs.values()):
            if run.state is not runs.RunState.ENDED:
                self._new_life(run).adopt()

    def receive(self, text: str) -> None:
        """Take an envelope from the transport; whatever it is, the agent lives on."""
        try:
            envelope = self._keys.open(text)
        except errors.ProtocolError as fault:
            log.warning("security: an envelope was refused: %s", fault)
            return
        self._out.heard(envelope.version)
        try:
            self._take(envelope.body)
        except (journal.JournalError, OSError) as fault:
            log.error("a command was not carried out: %s", fault)
            self._book.drop_unfinished()

    def _take(self, command: messages.Message) -> None:
        match command:
            case messages.AckCommand():
                self._memory.acknowledge(command.reports)
                self._out.acknowledged(command.reports)
            case messages.OutputRequest():
                self._page(command)
            case messages.Command(command_id=known) if known in self._book.answers:
                answer = self._book.answers[known]
                if answer is not None:
                    self._memory.repeat(answer)
            case messages.Command() if command.epoch < self._book.fence.get(command.session, 0):
                self._refuse_stale(command)
            case messages.Command():
                self._dispatch(command)

    def _dispatch(self, command: messages.Command) -> None:
        ids = logs.about(session=command.session, command=command.command_id)
        log.info("takes %s of attempt %s", command.TYPE, command.epoch, extra=ids)
        here = self.lives.get(command.session)
        if here is not None and not here.launched.is_set() and not _is_start(command):
            self._later(command, here.launched)
            return
        match command:
            case messages.StartCommand():
                self._start(command)
            case messages.CancelStartCommand():
                self._cancel_start(command)
            case messages.StopCommand():
                self._stop(command)
            case messages.KillCommand():
                self._kill(command)
            case messages.WithdrawCommand():
                self._withdraw(command)
            case messages.ResumeCommand():
                self._resume(command)
            case _:
                raise AssertionError(f"a command without a case: {command.TYPE}")

    def _refuse_stale(self, command: messages.Command) -> None:
        is_start = isinstance(command, messages.StartCommand)
        refused = messages.StartRefused(reason=fields.StartRefusal.STALE_EPOCH)
        self._reply(command, refused if is_start else messages.Gone())

    def _later(self, command: messages.Command, event: asyncio.Event) -> None:
        """Take the command again after the event; a repeated one meanwhile changes nothing."""
        if command.command_id in self._waiting:
            return

        async def wait() -> None:
            await event.wait()
            del self._waiting[command.command_id]
            self._take(command)

        self._waiting[command.command_id] = asyncio.get_running_loop().create_task(wait())

    # -- start

    def _start(self, command: messages.StartCommand) -> None:
        run, here = self._book.runs.get(command.session), self.lives.get(command.session)
        if (command.session, command.epoch) in self._book.cancelled:
            self._reply(command, messages.StartRefused(reason=fields.StartRefusal.CANCELLED))
        elif run is not None and run.epoch == command.epoch:
            self._reply_state(command, run)
        elif here is not None:
            self._start_after(command, here)
        else:
            self._memory.accept(command)
            self._new_life(self._book.runs[command.session]).launch(self._choose_cpus(command))

    def _choose_cpus(self, command: messages.StartCommand) -> tuple[int, ...]:
        taken = [one.cpus for one in self.lives.values() if one.run.state is not runs.RunState.SUSPENDED]
        return host.choose_cpus(command.slots.get("cpu", 0), taken=taken, node=self._means.space.node)

    def _start_after(self, command: messages.StartCommand, old: life.Life) -> None:
        """An older run of the session is still here: the controller has given it up, so it ends first."""
        if not old.launched.is_set():
            self._later(command, old.launched)
            return
        self._later(command, old.ended)
        if old.run.stop is None or not old.run.stop.kill_begun:
            old.begin_stop(intents.at_once())

    def _cancel_start(self, command: messages.CancelStartCommand) -> None:
        run, here = self._book.runs.get(command.session), self.lives.get(command.session)
        is_resuming = here is not None and here.is_at_work and here.run.state is runs.RunState.SUSPENDED
        if run is not None and (run.epoch == command.epoch or is_resuming):
            self._reply(command, messages.StartedAlready())
        else:
            self._memory.accept(command, sync=False)
            self._reply(command, messages.StartRefused(reason=fields.StartRefusal.CANCELLED))

    # -- stop

    def _stop(self, command: messages.StopCommand) -> None:
        run, here = self._find(command)
        if run is None:
            self._reply(command, messages.Gone())
        elif command.command_id in self._book.withdrawn:
            self._reply(command, messages.Withdrawn())
        elif here is None:
            self._reply_state(command, run)
        else:
            self._memory.accept(command, sync=False)
            here.begin_stop(intents.of_stop(command))

    def _kill(self, command: messages.KillCommand) -> None:
        run, here = self._book.runs.get(command.session), self.lives.get(command.session)
        if run is None:
            self._memory.accept(command, sync=False)
            self._reply(command, messages.Gone())
        elif here is None:
            self._reply_state(command, run)
        else:
            self._memory.accept(command, sync=False)
            here.begin_stop(intents.of_kill(command))

    def _withdraw(self, command: messages.WithdrawCommand) -> None:
        run, here = self._find(command)
        if run is None:
            self._reply(command, messages.Gone())
        elif here is None:
            self._reply(command, messages.WithdrawRefused(reason=fields.WithdrawRefusal.ENDED))
        elif run.stop is not None and run.stop.kill_begun:
            self._reply(command, messages.WithdrawRefused(reason=fields.WithdrawRefusal.KILL_BEGUN))
        elif command.stops in (run.suspended_by, run.stop.command_id if run.stop else ""):
            self._memory.accept(command)
            here.withdraw(command)
        elif run.state is runs.RunState.RUNNING:
            self._memory.accept(command)
            self._reply(command, messages.Withdrawn())
        else:
            self._reply(command, messages.WithdrawRefused(reason=fields.WithdrawRefusal.SUSPENDED))

    def _resume(self, command: messages.ResumeCommand) -> None:
        run, here = self._book.runs.get(command.session), self.lives.get(command.session)
        if run is None:
            self._reply(command, messages.Gone())
        elif (command.session, command.epoch) in self._book.cancelled:
            self._reply(command, messages.StartRefused(reason=fields.StartRefusal.CANCELLED))
        elif here is None:
            self._reply_state(command, run)
        elif run.stop is not None and run.stop.is_kill:
            self._reply(command, messages.ResumeFailed(error="the session is being ended on this node"))
        else:
            self._memory.accept(command)
            here.resume(command)

    # -- answers

    def _find(self, command: messages.Command) -> tuple[runs.Run | None, life.Life | None]:
        run = self._book.find(command.session, command.epoch)
        return run, self.lives.get(command.session) if run is not None else None

    def _reply(self, command: messages.Command, report: messages.Report) -> None:
        self._memory.report(_about(command, report))

    def _reply_state(self, command: messages.Command, run: runs.Run) -> None:
        """Answer a command about a run that started or ended already by what is known of it."""
        if run.ended is not None:
            self._reply(command, run.ended)
        elif run.job is not None:
            since = run.running_since_ms or 0
            self._reply(command, messages.Started(pid=run.job.pid, started_mono_ms=since, boot=run.boot))

    def _page(self, command: messages.OutputRequest) -> None:
        path = self._means.space.find_run(command.session, command.epoch)
        if path is None:
            self._out.send_once(_about(command, messages.Gone()))
            return
        page = output.read_page(path / records.OUTPUT, offset=command.offset, limit=command.limit)
        report = messages.OutputPage(
            offset=command.offset,
            data=page.data,
            size=page.size,
            eof=page.is_last,
            next_offset=page.next_offset,
        )
        self._out.send_once(_about(command, report))

    def _new_life(self, run: runs.Run) -> life.Life:
        new = life.Life(run, self._means, on_end=self._bury)
        self.lives[run.session] = new
        return new

    def _bury(self, one: life.Life) -> None:
        if self.lives.get(one.run.session) is one:
            del self.lives[one.run.session]


def _is_start(command: messages.Command) -> bool:
    return isinstance(command, messages.StartCommand | messages.CancelStartCommand)


def _about(command: messages.Command, report: messages.Report) -> messages.Report:
    return dataclasses.replace(
        report, session=command.session, epoch=command.epoch, command_id=command.command_id
    )
