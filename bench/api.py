"""
The REST API on a whole stack: submissions a second with full checks, and how long an explanation takes.

Programs keep their connections and show a keypair. Submissions go to a group that starts nothing, so that what is
measured is the submission; explanations are asked one after the other, of sessions that wait, that were stopped and
that others were stopped for, in a group where rounds go on.
"""

from __future__ import annotations

import base64
import http.client
import itertools
import json
import threading
import time
from collections.abc import Iterator, Sequence
from typing import Any

from bench import figures, stack

PROGRAMS = 4
SUBMIT_GOAL, EXPLAIN_GOAL_MS = 150, 60
_CPUS = 4
_PRIORITIES = {"any": 10, "low": 5, "high": 50}


class Program:
    """One connection that shows a keypair."""

    def __init__(self, port: int, pair: str) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port)
        sign = base64.b64encode(pair.encode()).decode()
        self._headers = {"Authorization": f"Basic {sign}", "Content-Type": "application/json"}

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """
        Return the JSON of an answer.

        Raises:
            RuntimeError: it is an error.
        """
        text = json.dumps(body) if body is not None else None
        self._connection.request(method, f"/api/v1{path}", text, self._headers)
        answer = self._connection.getresponse()
        content = answer.read()
        if answer.status >= 400:
            raise RuntimeError(f"{answer.status}: {content[:500]!r}")
        return json.loads(content)


def report(*, sessions: int) -> str:
    """Return the table of one run."""
    with stack.running() as whole:
        port, pair = whole.port(), _keypair()
        _make_groups(whole)
        submitted, took_s, delays = _submit(port, pair, sessions)
        explained = {
            what: _explain(port, pair, found) for what, found in _stories(Program(port, pair)).items()
        }
    rate = submitted / took_s
    rows = [
        [f"submissions, {PROGRAMS} programs", submitted, *_three(delays), ""],
        ["**submissions a second**", "", rate, "", "", f">= {SUBMIT_GOAL}"],
        *(
            [f"explanation of one {what}", len(times), *_three(times), f"p95 <= {EXPLAIN_GOAL_MS} ms"]
            for what, times in explained.items()
        ),
    ]
    head = ["what", "requests", "median ms", "p95 ms", "max ms", "goal"]
    return f"### The REST API of a whole stack\n\n{figures.table(head, rows)}"


def _three(times: Sequence[float]) -> list[float]:
    return [figures.quantile(times, share) for share in (0.5, 0.95, 1)]


def _keypair() -> str:
    from scheduler import models
    from scheduler.services import actors, keypairs

    admin = models.User.objects.get(is_superuser=True)
    row, secret = keypairs.issue(actors.of_user(admin), admin, keypairs.Wish(name="bench", scope="full"))
    return f"{row.access_key}:{secret}"


def _make_groups(whole: stack.Stack) -> None:
    from scheduler import models
    from scheduler.services import actors, queues, setup

    admin = actors.of_user(models.User.objects.get(is_superuser=True))
    still = setup.create_group(admin, "still", policy={"starting": False})
    busy = setup.create_group(
        admin, "busy", policy={"preemption_state": "on", "preemption_mode": "suspend", "starting": True}
    )
    queues.create_queue(admin, "any", groups=[still])
    queues.create_queue(admin, "low", groups=[busy], preemptible=True)
    queues.create_queue(admin, "high", groups=[busy], preemptible_queues=["low"])
    whole.add_node("busy-1", busy, capacity={"cpu": _CPUS * 1_000})


def _request(name: str, group: str, queue: str, *, cpu: int = 1) -> dict[str, Any]:
    program, priority = ["/bin/sleep", "1000000"], _PRIORITIES[queue]
    return {
        "name": name,
        "priority": priority,
        "group": group,
        "queue": queue,
        "argv": program,
        "slots": {"cpu": cpu},
    }


def _submit(port: int, pair: str, sessions: int) -> tuple[int, float, list[float]]:
    """Let programs submit side by side; returns how many were accepted, in how many seconds, and each one's ms."""
    numbers, delays = itertools.count(), list[float]()

    def submit() -> None:
        program = Program(port, pair)
        while (number := next(numbers)) < sessions:
            body = _request(f"s{number}", "still", "any")
            _, took_ms = figures.timed(lambda body=body: program.ask("POST", "/sessions", body))
            delays.append(took_ms)

    threads = [threading.Thread(target=submit) for _ in range(PROGRAMS)]
    begun = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return len(delays), time.perf_counter() - begun, delays


def _stories(program: Program) -> dict[str, list[str]]:
    """Fill the node, stop sessions for others, let more wait; returns kind -> ids of sessions to be explained."""
    low = [program.ask("POST", "/sessions", _request(f"low-{n}", "busy", "low"))["id"] for n in range(_CPUS)]
    _until(program, low, "running")
    high = [program.ask("POST", "/sessions", _request(f"high-{n}", "busy", "high"))["id"] for n in range(2)]
    _until(program, high, "running")
    waiting = [
        program.ask("POST", "/sessions", _request(f"more-{n}", "busy", "high", cpu=_CPUS))["id"]
        for n in range(20)
    ]
    stopped = [one for one in low if _state(program, one) == "suspended"]
    stack.until(
        lambda: all(program.ask("GET", f"/sessions/{one}").get("reason") for one in waiting),
        what="the reasons",
    )
    return {"that waits": waiting, "that was stopped": stopped, "for which others were": high}


def _state(program: Program, session: str) -> str:
    state: str = program.ask("GET", f"/sessions/{session}")["state"]
    return state


def _until(program: Program, sessions: Sequence[str], state: str) -> None:
    for one in sessions:
        stack.until(lambda one=one: _state(program, one) == state, what=f"{one} {state}")


def _explain(port: int, pair: str, sessions: Sequence[str]) -> list[float]:
    program = Program(port, pair)
    return [figures.timed(lambda one=one: _explanation(program, one))[1] for one in _often(sessions, 100)]


def _explanation(program: Program, session: str) -> Any:
    return program.ask("GET", f"/sessions/{session}/explanation")


def _often(sessions: Sequence[str], times: int) -> Iterator[str]:
    return itertools.islice(itertools.cycle(sessions), times)
