"""
One start and one end of a session on an agent: processor time and wall time of each step, with real processes.

The steps are the agent's own calls in their order, one session at a time; what the controller does (making and signing
the commands) is not among them. "Others" is what fork server, supervisor and job use, from the kernel's account in
nanoseconds: all of it but what the job's own program does between its first instruction and the kill.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import os
import pathlib
import tempfile
import time
import uuid
from collections.abc import Iterator

from bench import figures
from scheduler.agent import (
    accounting,
    journal,
    memory,
    outbox,
    processes,
    records,
    runs,
    spawner,
    workspace,
)
from scheduler.agent.stop import driver, procedures, signals
from scheduler.protocol import fields, messages, signing

GOAL_MS = 15
KEY = signing.NodeKey("k1", "n1", b"s" * 32)
_SUBREAPER = 36
_WARM_UP, _IDLE_S = 2, 0.3
STEPS = {
    "open": "start: command opened, fenced, in the journal, synced",
    "prepare": "start: directories, environment, specification",
    "launch": "start: fork server, supervisor, job up to exec",
    "started": "start: job in the journal, report signed and sent",
    "stop": "end: command opened, in the journal, synced",
    "kill": "end: killed, and seen that none is left",
    "leave": "end: supervisor sweeps, writes records, leaves",
    "ended": "end: records read, report signed and sent",
}


class Clock:
    """Collects for each step of a run: processor time of the agent and of others, and wall time, in ms."""

    def __init__(self) -> None:
        self.spent: dict[str, list[float]] = {}

    @contextlib.contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Measure a step of the agent."""
        wall, cpu = time.perf_counter_ns(), time.process_time_ns()
        yield
        spent = (time.process_time_ns() - cpu) / 1e6, (time.perf_counter_ns() - wall) / 1e6
        self.spent[name] = [spent[0], 0.0, spent[1]]

    def others(self, name: str, nanoseconds: float) -> None:
        """Add what other processes used in a step."""
        self.spent[name][1] += nanoseconds / 1e6


class Agent:
    """An agent's parts without broker and loop."""

    def __init__(self, place: pathlib.Path) -> None:
        self.space = workspace.Workspace(place / "state", "n1")
        self.store = memory.Memory(journal.Journal(self.space.root / "journal"), boot=processes.boot_id())
        self.store.load()
        self.out = outbox.Outbox(self.store, key=KEY, send=lambda text, expires_s=None: None, pause_ms=10_000)

    def take(self, text: str) -> messages.Message:
        """Open a command as it comes in and write it down."""
        opened = signing.open_envelope(text, keys={"k1": KEY}, direction="down").body
        assert isinstance(opened, messages.Command)
        self.store.accept(opened)
        return opened


def report(*, runs: int) -> str:
    """Return the table of one start and one end, as medians."""
    _become_subreaper()
    with tempfile.TemporaryDirectory(prefix="xce-bench-") as place:
        agent = Agent(pathlib.Path(place))
        every = [asyncio.run(_life(agent)) for _ in range(_WARM_UP + runs)][_WARM_UP:]
        agent.store.close()
    rows = [_row(text, [spent[name] for spent in every]) for name, text in STEPS.items()]
    for word in ("start", "end"):
        names = [name for name, text in STEPS.items() if text.startswith(word)]
        rows.append(_row(f"**one {word}**", [_sum(spent, names) for spent in every]))
    whole = [_sum(spent, list(STEPS)) for spent in every]
    rows.append(_row("**both**", whole))
    own, cpu = (figures.median(values) for values in ([w[0] for w in whole], [w[0] + w[1] for w in whole]))
    verdict = "met" if cpu < GOAL_MS else "met by the agent alone" if own < GOAL_MS else "missed"
    head = ["step", "agent CPU ms", "others CPU ms", "wall ms", "wall p95 ms"]
    goal = (
        f"Goal: below {GOAL_MS} ms of CPU for one start and one end: {verdict}; {own:.1f} ms in the agent, {cpu:.1f} ms"
        " with fork server, supervisor and the job's own start."
    )
    title = f"### One start and one end on an agent (medians of {runs} runs)"
    return f"{title}\n\n{figures.table(head, rows)}\n\n{goal}"


async def _life(agent: Agent) -> dict[str, list[float]]:
    """Take one session from its start to its end."""
    clock, forks = Clock(), spawner.Spawner()
    _serve_once(forks, agent.space.root / "taken")
    _wait_until_idle(forks.pid)
    start = messages.StartCommand(**_ids(), attempt=1, argv=("/bin/sleep", "1000"))
    text = _sealed(start)
    with clock.step("open"):
        agent.take(text)
    with clock.step("prepare"):
        directory = agent.space.prepare(start, workspace.Terms())
    before = _ran_ns(forks.pid)
    with clock.step("launch"):
        ready = forks.spawn(str(directory))
        os.read(ready, 1)
        os.close(ready)
        record = records.read(directory / records.JOB)
    shepherd, job = (processes.Identity(*record[name]) for name in ("shepherd", "job"))
    begun = _ran_ns(job.pid)
    used = _ran_ns(shepherd.pid) + begun
    clock.others("launch", _ran_ns(forks.pid) - before + used)
    with clock.step("started"):
        agent.store.record(
            {"kind": "launched", "session": start.session, "boot": agent.store.boot, **record}, sync=False
        )
        agent.store.report(
            messages.Started(
                pid=job.pid, started_mono_ms=record["mono_ms"], boot=agent.store.boot, **_about(start)
            )
        )
    forks.close()  # the supervisor becomes ours, so that the kernel tells us what it used
    _wait_until_idle(job.pid)
    used += _ran_ns(job.pid) - begun
    await _end(agent, clock, start, driver.Target(job, shepherd))
    _, _, whole = os.wait4(shepherd.pid, 0)
    clock.others("leave", (whole.ru_utime + whole.ru_stime) * 1e9 - used)
    return clock.spent


async def _end(agent: Agent, clock: Clock, start: messages.StartCommand, target: driver.Target) -> None:
    directory = agent.space.run_dir(start.session, start.epoch)
    command = messages.KillCommand(**(_about(start) | {"command_id": str(uuid.uuid4())}), cause="cancelled")
    text = _sealed(command)
    with clock.step("stop"):
        agent.take(text)
        stop = {"command_id": command.command_id, "is_kill": True, "signal": 15, "grace_ms": 0}
        begun = {"suspend_grace_ms": 0, "begun_ms": records.monotonic_ms(), "cause": fields.EndCause.KILLED}
        agent.store.record({"kind": "stop", "session": start.session, "stop": stop | begun})
    with clock.step("kill"):
        over = (directory / records.END).exists
        at_once = procedures.Notice(15, 0)
        how = signals.SignalDriver()
        await procedures.kill(how, target, at_once, before_kill=lambda: None, is_over=over)
    assert target.shepherd is not None
    with clock.step("leave"):
        os.waitid(os.P_PID, target.shepherd.pid, os.WEXITED | os.WNOWAIT)
    with clock.step("ended"):
        run: runs.Run = agent.store.book.runs[start.session]
        ended = accounting.conclude(run, directory, usage=accounting.Usage(), cause=fields.EndCause.SELF)
        agent.store.report(messages.Ended(**(vars(ended) | _about(start))))


def _serve_once(forks: spawner.Spawner, directory: pathlib.Path) -> None:
    """Let a new fork server be one that has served before, as all but the first start of an agent find it."""
    directory.mkdir(exist_ok=True)
    (directory / records.CLAIM).touch()  # so that the supervisor finds the session taken, and leaves
    with open(forks.spawn(str(directory)), "rb") as ready:
        ready.read()


def _wait_until_idle(pid: int) -> None:
    """Wait until a process has nothing to do: that a server once had to load, and a job to begin, is not measured."""
    before = -1
    while (now := _ran_ns(pid)) != before:
        before = now
        time.sleep(_IDLE_S)


def _become_subreaper() -> None:
    if ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0):
        raise OSError("the kernel refuses to let supervisors become ours")


def _ids() -> dict[str, str | int]:
    return {"command_id": str(uuid.uuid4()), "session": str(uuid.uuid4()), "epoch": 1}


def _about(start: messages.StartCommand) -> dict[str, str | int]:
    return {"command_id": start.command_id, "session": start.session, "epoch": start.epoch}


def _sealed(command: messages.Command) -> str:
    return signing.seal(command, key=KEY, boot="controller", seq=1, version=messages.VERSION)


def _ran_ns(pid: int) -> int:
    return int(pathlib.Path(f"/proc/{pid}/schedstat").read_text().split()[0])


def _sum(spent: dict[str, list[float]], names: list[str]) -> list[float]:
    return [sum(values) for values in zip(*(spent[name] for name in names), strict=True)]


def _row(text: str, runs: list[list[float]]) -> list[object]:
    agent_cpu, others, wall = zip(*runs, strict=True)
    middle = [figures.median(values) for values in (agent_cpu, others, wall)]
    return [text, *middle, figures.quantile(wall, 0.95)]
