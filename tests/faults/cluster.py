"""
A whole stack whose processes die, halt or fail where a test says, with clients, a nemesis, and the history of it all.

Its own times are scaled by `SCALE`, so that a crash costs seconds.
"""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from typing import Any

import psycopg

from scheduler.core import states
from tests.history import checkers, lines
from tests.system import stack as stacks
from tests.system import sweep
from xceweb.stack import privileges

SCALE = 0.4
NODES = ("crash-1", "crash-2")
RULES = {
    "preemption_state": "on",
    "preemption_mode": "suspend",
    "grace_period": 1,
    "suspend_grace": 1,
    "in_flight_timeout": 10,
}
PAUSE_S = 2
ANSWER_S, FIRST_ANSWER_S = 15, 90
HEAL_S = 90
#: What nobody survives here: the whole of one service.
SERVICES = ("postgres", "valkey", "worker", "beat", "web", *(f"agent-{node}" for node in NODES))
_EVENTS = """
    SELECT e.number, s.name, e.type, coalesce(e.data->>'before', ''),
           CASE WHEN e.data ? 'before' THEN e.data->>'state' ELSE '' END
    FROM scheduler_event e JOIN scheduler_session s ON s.id = e.session_id
    WHERE e.type LIKE 'session.%' ORDER BY e.number
"""


class Stack(stacks.Stack):
    """A stack whose programs are started by `tests.faults.launch`."""

    module = "tests.faults.up"


class Client:
    """A client process; what it is killed over is an unknown outcome, and the next call starts another one."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self._env = env
        self._process: subprocess.Popen[str] | None = None
        self._answers: queue.Queue[str] = queue.Queue()
        self.calls: list[lines.Call] = []
        self.whys: list[str] = []

    def __call__(self, what: str, **values: Any) -> str:
        """Make one call; returns its outcome."""
        answer = self._ask(json.dumps([what, values]))
        told = json.loads(answer) if answer else {"outcome": lines.UNKNOWN, "why": "no answer"}
        name = values.get("name", "")
        self.calls.append(lines.Call(values.get("verb", what), name, told["outcome"]))
        if told["why"]:
            self.whys.append(f"{what} {name}: {told['why']}")
        return told["outcome"]

    def _ask(self, line: str) -> str:
        process, patience_s = self._running()
        assert process.stdin is not None
        try:
            process.stdin.write(line + "\n")
            process.stdin.flush()
        except BrokenPipeError:
            self.close()
            return ""
        with contextlib.suppress(queue.Empty):
            return self._answers.get(timeout=patience_s)
        self.close()
        return ""

    def _running(self) -> tuple[subprocess.Popen[str], float]:
        """Return the process, and the seconds that its next answer may take: the first one longer."""
        if self._process is None or self._process.poll() is not None:
            self.close()
            self._answers = queue.Queue()
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "tests.faults.launch", "tests.faults.client"],
                env=dict(self._env),
                cwd=privileges.PROJECT,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )
            self._reader = threading.Thread(
                target=self._read, args=(self._process, self._answers), daemon=True
            )
            self._reader.start()
            return self._process, FIRST_ANSWER_S
        return self._process, ANSWER_S

    @staticmethod
    def _read(process: subprocess.Popen[str], answers: queue.Queue[str]) -> None:
        assert process.stdout is not None
        for line in process.stdout:
            answers.put(line)
        answers.put("")  # it ended: nothing more will come

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            with contextlib.suppress(BrokenPipeError):
                self._process.stdin.close()
            self._process.wait()
            self._reader.join()
            self._process.stdout.close()
        self._process = None


class Cluster:
    """The stack, its client, and what was planned and done to it."""

    def __init__(self, stack: Stack, place: pathlib.Path) -> None:
        self.stack, self.place = stack, place
        self.client = Client(environment(stack, place))
        self._url = stack.env["DATABASE_URL"]
        self._database: psycopg.Connection[tuple[Any, ...]] | None = None
        self._resumed = 0
        self._planned = 0

    def close(self) -> None:
        """Let go of the client and of the database."""
        self.client.close()
        if self._database is not None:
            self._database.close()

    # -- faults

    def plan(self, point: str, act: str) -> None:
        """Let the first process that passes a point do something there."""
        self._planned += 1
        path = self.place / f"{self._planned}.fault"
        path.with_suffix(".new").write_text(json.dumps({"point": point, "act": act}))
        path.with_suffix(".new").chmod(0o666)
        path.with_suffix(".new").rename(path)

    def forget(self) -> int:
        """Give up what nobody has met; returns how many faults that was."""
        waiting = list(self.place.glob("*.fault"))
        for path in waiting:
            path.unlink(missing_ok=True)
        return len(waiting)

    def done(self) -> list[dict[str, Any]]:
        """Return the faults that happened at points."""
        return [json.loads(line) for line in (self.place / "done").read_text().splitlines()]

    def wake(self) -> None:
        """Let processes that halted at a point go on, after a while."""
        for fault in self.done()[self._resumed :]:
            self._resumed += 1
            if fault["act"] == "pause":
                threading.Event().wait(PAUSE_S)
                _signal(fault["pid"], signal.SIGCONT)

    def strike(self, name: str, act: str) -> None:
        """Kill one of the services, or halt it for a while."""
        pid = self.stack.processes().get(name)
        if pid is None:
            return
        group = [pid, *_children(pid)]
        for one in group:
            _signal(one, signal.SIGKILL if act == "kill" else signal.SIGSTOP)
        if act != "kill":
            threading.Event().wait(PAUSE_S)
            for one in group:
                _signal(one, signal.SIGCONT)

    # -- what is so

    def states(self) -> dict[str, str]:
        """Return name -> state of every session."""
        return dict(self._query("SELECT name, state FROM scheduler_session"))

    def _query(self, text: str) -> list[tuple[Any, ...]]:
        if self._database is None or self._database.closed:
            self._database = psycopg.connect(self._url, autocommit=True, connect_timeout=5)
        try:
            return self._database.execute(text).fetchall()
        except psycopg.OperationalError:
            self._database.close()  # the server was killed: the next look finds its successor
            raise

    def wait(self, is_so: Any, *, deadline_s: float) -> bool:
        """Wait until something is so; the nemesis wakes what halted meanwhile. Returns whether it came to be."""
        end = time.monotonic() + deadline_s
        while time.monotonic() < end:
            self.wake()
            with contextlib.suppress(psycopg.OperationalError, OSError):
                if is_so():
                    return True
            time.sleep(0.1)
        return False

    def has(self, *wanted: str, name: str = "") -> bool:
        """Say whether a session (any one whose name begins so) is in one of some states."""
        return any(state in wanted for who, state in self.states().items() if who.startswith(name))

    def argv(self, seconds: float) -> list[str]:
        """Return a program that notes its start and lasts so long, whatever it is warned of."""
        note = f'echo "$XCE_SESSION_ID $XCE_ATTEMPT $$" >> {self.place}/started; trap "" TERM; exec sleep {seconds}'
        return ["/bin/sh", "-c", note]

    # -- the verdict

    def heal(self) -> list[str]:
        """End the faults, let everything come to rest, end what is left, and judge; returns the findings."""
        self.forget()
        found = self._rest("running", "pending", "suspended", "terminated")
        for name, state in self.states().items():
            if state != "terminated":
                self.client("person", verb="cancel", name=name)
        return [*found, *self._rest("terminated"), *self.findings()]

    def _rest(self, *resting: str) -> list[str]:
        if self.wait(lambda: set(self.states().values()) <= set(resting), deadline_s=HEAL_S):
            return []
        return checkers.rest(self.states(), resting=frozenset(resting))

    def findings(self) -> list[str]:
        """Return what every judge says of the history so far, and what the database and the machine look like."""
        stored = self.states()
        told = [lines.Told(*row) for row in self._query(_EVENTS)]
        numbers = [lines.Told(row[0], "", "") for row in self._query("SELECT number FROM scheduler_event")]
        last = self._query("SELECT last FROM scheduler_eventcounter")[0][0]
        return [
            *checkers.conservation(self.client.calls, stored),
            *checkers.chains(told, stored),
            *checkers.numbers(numbers, last=last),
            *checkers.starts(self._started()),
            *self._invariants(),
            *self._processes(),
        ]

    def _started(self) -> list[lines.Started]:
        names = dict(self._query("SELECT public_id::text, name FROM scheduler_session"))
        rows = [line.split() for line in (self.place / "started").read_text().splitlines()]
        return [lines.Started(names.get(row[0], row[0]), int(row[1]), int(row[2])) for row in rows]

    def _invariants(self) -> list[str]:
        script = "from scheduler.selectors import consistency\nprint(*consistency.findings(), sep='\\n')"
        return [line for line in self.stack.run(script).splitlines() if line]

    def _processes(self) -> list[str]:
        ended = {pid for pid, state in self._ids().items() if state == states.SessionState.TERMINATED}
        self.wait(lambda: not ended & sweep.processes(self.stack.data_dir).keys(), deadline_s=5)
        found = sweep.processes(self.stack.data_dir)
        return [
            f"session {one} has ended and has processes {found[one]}" for one in sorted(ended & found.keys())
        ]

    def _ids(self) -> dict[str, str]:
        return dict(self._query("SELECT public_id::text, state FROM scheduler_session"))


def _children(pid: int) -> list[int]:
    with contextlib.suppress(OSError):
        return [int(one) for one in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return []


def _signal(pid: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


def environment(stack: Stack, place: pathlib.Path) -> dict[str, str]:
    """Return the environment of a program beside a stack's own."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    own = {"PYTHONPATH": str(privileges.PROJECT), "XCE_FAULTS": str(place), "XCE_TIME_SCALE": str(SCALE)}
    return {**kept, **stack.env, **own}


@contextlib.contextmanager
def running(root: pathlib.Path, *, environ: Mapping[str, str] | None = None) -> Iterator[Cluster]:
    """Run a cluster of two nodes until the end of the block."""
    place = root / "data" / "faults"
    place.mkdir(parents=True)
    for path in (place, place / "done", place / "started"):
        path.touch()
        path.chmod(0o777)
    env = {"XCE_TIME_SCALE": str(SCALE), "XCE_FAULTS": str(place), **(environ or {})}
    stack = Stack(root / "data", "--no-demo", environ=env)
    try:
        stack.wait_until_ready()
        cluster = Cluster(stack, place)
        assert cluster.client("prepare", directory=str(stack.data_dir), names=NODES, rules=RULES) == lines.OK
        stacks.until(lambda: len(cluster.stack.processes()) >= len(SERVICES), what="the agents")
        yield cluster
        cluster.close()
    finally:
        stack.stop()
        stacks.end_sessions(stack.data_dir)
