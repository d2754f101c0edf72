"""
From a submission to the victim's stop and the preemptor's start, and back, with real processes of a whole stack.

Ground truth are the processes: the states of the victim's are read from the kernel every half millisecond, and a
process that starts writes the clock down as its first act. All clocks are the machine's own.
"""

from __future__ import annotations

import collections
import contextlib
import os
import pathlib
import signal
import tempfile
import time
import zlib
from collections.abc import Iterable
from typing import Any

from bench import figures, stack

NODES, CPUS = 4, 16
#: Sizes of the sessions that run on the contested node; the preemptor wants as much as the largest.
SIZES = (1, 1, 2, 4, 8)
MODES = ("suspend", "reschedule")
#: what -> (the step of `Clock` that it ends with, the one that it begins with, goal of the median, goal of the p95)
GOALS = {
    "submit -> last process of the victim {still}": ("still", "submit", 50, 150),
    "submit -> its report accepted": ("proven", "submit", 120, None),
    "submit -> the preemptor's process runs": ("running", "submit", 150, 400),
    "end of the preemptor -> the victim runs again": (
        "again",
        "end",
        {"suspend": 200, "reschedule": 1000},
        None,
    ),
}
STEPS = {
    "submitted": "submit: checked, written, committed, round asked for",
    "round": "the round begins",
    "ordered": "the round: snapshot, decision, commit, stop sent",
    "still": "agent: stop opened, in the journal, signals, all processes {still}",
    "proven": "report opened by the controller",
    "dispatch": "the next round begins",
    "started": "that round: snapshot, placement, commit, start sent",
    "running": "agent: fork server, supervisor, first act of the process",
}
RESUME_STEPS = {
    "freed": "end: seen, reported, opened by the controller",
    "redispatch": "the next round begins",
    "reordered": "that round: snapshot, placement, commit, order sent",
    "again": "agent: order opened, processes {again}",
}
_POLL_S = 0.0005


class Contest:
    """One group of four full nodes, in one preemption mode."""

    def __init__(self, whole: stack.Stack, mode: str, place: pathlib.Path) -> None:
        from scheduler import models
        from scheduler.services import actors, queues, setup

        self.mode, self.place = mode, place
        self.admin = actors.of_user(models.User.objects.get(is_superuser=True))
        self.group = setup.create_group(
            self.admin, mode, policy={"preemption_state": "on", "preemption_mode": mode}
        )
        low = queues.create_queue(self.admin, f"low-{mode}", groups=[self.group], preemptible=True)
        queues.create_queue(self.admin, f"high-{mode}", groups=[self.group], preemptible_queues=[low.slug])
        for number in range(NODES):
            whole.add_node(f"{mode}-{number}", self.group, capacity={"cpu": CPUS * 1000})
        for number in range(1, NODES):
            self.submit(f"other-{number}", CPUS, queue="high", priority=50)
        self._until_all_run()
        for number, size in enumerate(SIZES):
            self.submit(f"low-{number}", size, queue="low", priority=5)
        self._until_all_run()

    def submit(self, name: str, cpu: int, *, queue: str, priority: int) -> Any:
        """Submit a session of three processes that sleep; its first act is to write the clock down."""
        from scheduler.services import submission

        sleep = f"sleep {self.mark(name)}"
        text = f"date +%s%N >> {self.place}/{self.mode}.{name}; {sleep} & {sleep} & exec {sleep}"
        request = submission.SubmitRequest(
            name=name,
            group=self.mode,
            queue=f"{queue}-{self.mode}",
            argv=["/bin/sh", "-c", text],
            slots={"cpu": str(cpu)},
            priority=priority,
        )
        return submission.submit_session(self.admin, request)

    def mark(self, name: str) -> str:
        """Return the seconds that the processes of a session sleep, by which they are known."""
        return f"1000000.{zlib.crc32(f'{self.place}/{self.mode}.{name}'.encode()):010d}"

    def begun(self, name: str) -> list[float]:
        """Return when the runs of a session began, seconds since the epoch."""
        with contextlib.suppress(FileNotFoundError):
            return [int(line) / 1e9 for line in (self.place / f"{self.mode}.{name}").read_text().splitlines()]
        return []

    def once(self, number: int) -> dict[str, float]:
        """Let one preemptor come and go; returns the moment of each step, seconds since the epoch."""
        victim, name = f"low-{len(SIZES) - 1}", f"high-{number}"
        before, processes = len(self.begun(victim)), _pids(self.mark(victim))
        assert len(processes) == 3, processes
        at = {"submit": time.time()}
        preemptor = self.submit(name, SIZES[-1], queue="high", priority=50)
        at["submitted"] = time.time()
        at["still"] = _wait_for_states(processes, "T" if self.mode == "suspend" else "")
        at["running"] = stack.until(lambda: self.begun(name), what=name, pause_s=0.005)[0]
        stack.until(lambda: _state(preemptor) == "running", what=f"{name} running")
        runs = stack.until(
            lambda: len(found) == 3 and found if (found := _pids(self.mark(name))) else None,
            what="its processes",
        )
        time.sleep(0.3)
        at["end"] = time.time()
        for pid in runs:
            os.kill(pid, signal.SIGKILL)
        if self.mode == "suspend":
            at["again"] = _wait_for_states(processes, "S")
        else:
            at["again"] = stack.until(
                lambda: self.begun(victim)[before:], what=f"{victim} again", pause_s=0.005
            )[0]
        self._until_all_run()
        return at | _moments(preemptor)

    def _until_all_run(self) -> None:
        from scheduler import models

        rows = models.Session.objects.filter(group=self.group).exclude(state__in=("running", "terminated"))
        stack.until(lambda: not rows.exists(), what="all run")
        stack.until(
            lambda: not models.AgentCommand.objects.filter(settled_at=None).exists(),
            what="no command is open",
        )
        time.sleep(0.3)


def _state(session: Any) -> str:
    from scheduler import models

    return models.Session.objects.values_list("state", flat=True).get(pk=session.pk)


def _moments(preemptor: Any) -> dict[str, float]:
    """Return what the database knows of one preemption."""
    from scheduler import models

    decision = models.Decision.objects.get(session=preemptor)
    victim = models.Victim.objects.get(decision=decision)
    stop = models.AgentCommand.objects.get(decision=decision, kind="stop")
    start = models.AgentCommand.objects.get(session=preemptor, kind="start")
    again = models.AgentCommand.objects.filter(session=victim.session, pk__gt=start.pk).earliest("pk")
    preemptor.refresh_from_db()
    found = {
        "round": decision.at,
        "ordered": stop.sent_at,
        "proven": victim.fate.at,
        "dispatch": start.created_at,
        "started": start.sent_at,
        "freed": preemptor.ended_at,
        "redispatch": again.created_at,
        "reordered": again.sent_at,
    }
    return {name: at.timestamp() for name, at in found.items() if at is not None}


def _pids(mark: str) -> list[int]:
    """Return the processes that sleep as long as `mark` says, by id."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                if (entry / "cmdline").read_bytes() == f"sleep\0{mark}\0".encode():
                    found.append(int(entry.name))
    return sorted(found)


def _wait_for_states(pids: Iterable[int], wanted: str) -> float:
    """Return when every process was in one state, or gone where none is wanted; seconds since the epoch."""
    left, end = set(pids), time.time() + stack.DEADLINE_S
    while left:
        left = {pid for pid in left if _letter(pid) != wanted}
        if time.time() > end:
            raise TimeoutError(f"processes {left} did not come into state {wanted or 'gone'}")
        if left:
            time.sleep(_POLL_S)
    return time.time()


def _letter(pid: int) -> str:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            letter = file.read().rpartition(b")")[2].split()[0].decode()
    except OSError:
        return ""
    return "" if letter in "ZX" else letter


def report(*, runs: int) -> str:
    """Return the tables of both modes."""
    parts = []
    with tempfile.TemporaryDirectory(prefix="xce-bench-") as made, stack.running() as whole:
        place = pathlib.Path(made)
        place.chmod(0o777)
        for mode in MODES:
            contest = Contest(whole, mode, place)
            measured = [contest.once(number) for number in range(runs)]
            parts.append(_goals(mode, measured))
            parts.append(_shares(mode, measured))
    return "\n\n".join(parts)


def _goals(mode: str, measured: list[dict[str, float]]) -> str:
    rows = []
    for what, (last, first, goal, worst) in GOALS.items():
        took = [(at[last] - at[first]) * 1000 for at in measured]
        limit = goal[mode] if isinstance(goal, dict) else goal
        said = f"<= {limit}" + (f", p95 <= {worst}" if worst else "")
        rows.append(
            [
                _worded(what, mode),
                len(took),
                figures.median(took),
                figures.quantile(took, 0.95),
                max(took),
                said,
            ]
        )
    head = ["what", "runs", "median ms", "p95 ms", "worst ms", "goal ms"]
    return f"### A preemption from end to end, mode {mode}\n\n" + figures.table(head, rows)


def _shares(mode: str, measured: list[dict[str, float]]) -> str:
    rows = []
    for steps, first in ((STEPS, "submit"), (RESUME_STEPS, "end")):
        spent: dict[str, list[float]] = collections.defaultdict(list)
        for at in measured:
            before = first
            for name in steps:
                spent[name].append((at[name] - at[before]) * 1000)
                before = name
        for name, text in steps.items():
            rows.append(
                [_worded(text, mode), figures.median(spent[name]), figures.quantile(spent[name], 0.95)]
            )
    return f"### Its steps, mode {mode}\n\n" + figures.table(["step", "median ms", "p95 ms"], rows)


def _worded(text: str, mode: str) -> str:
    words = ("stopped", "continue") if mode == "suspend" else ("gone", "run")
    return text.format(still=words[0], again=words[1])
