"""
The live stream: many sockets on one server process, 20 events a second in batches of five, everything on one machine.

From the commit of a batch (of the plain group: from its sending) to the frame at each socket, by the machine's one
clock. Beside it a plain Channels group that passes the same texts on, without a log, rights or resuming.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

from bench import figures, servers, web
from xceweb.stack import privileges

EVENTS_A_SECOND, BATCH = 20, 5
PEOPLE = 20
GOAL_MS = 1_000

Sent = dict[int, float]


def report(*, sockets: tuple[int, ...] = (300, 1_000), seconds: float = 20, throwaway: bool = False) -> str:
    """Return the table of both ways with each number of sockets."""
    with servers.database(throwaway=throwaway):
        rows = [
            [name, count, *_measure(application, write, count, seconds)]
            for count in sockets
            for name, application, write in (
                ("stream", "xceweb.asgi:application", _commit),
                ("plain Channels group", "bench.plain_channels:application", _broadcast),
            )
        ]
    head = ["way", "sockets", "events told", "lacking 3 s later", "twice", "median ms", "p95 ms", "max ms"]
    head += ["KiB a socket", "processor, share of one core"]
    title = f"### {EVENTS_A_SECOND} events a second to many sockets of one server process, {seconds:g} s"
    return (
        f"{title}\n\n{figures.table(head, rows)}\n\nGoal of the stream: nothing lost, p95 <= {GOAL_MS:,} ms."
    )


def _measure(
    application: str, write: Callable[[Any, int], Sent], count: int, seconds: float
) -> tuple[object, ...]:
    world = _world()
    with web.serving(application) as server:
        asks = write is _commit
        _close(_open(server.port, 2, world["cookies"], asks=asks))  # what the first ones load is no socket's
        empty = server.memory_bytes()
        readers = _open(server.port, count, world["cookies"], asks=asks)
        full, busy, begun = server.memory_bytes(), server.processor_s(), time.monotonic()
        sent = _write(write, world, seconds)
        time.sleep(3)
        share = (server.processor_s() - busy) / (time.monotonic() - begun)
        told = _close(readers)
    delays, lost, twice = judge(told, sent)
    kib = (full - empty) / 1024 / count
    numbers = [figures.quantile(delays, part) for part in (0.5, 0.95, 1)]
    return (len(delays), lost, twice, *numbers, kib, share)


def judge(told: list[list[tuple[float, list[int]]]], sent: Sent) -> tuple[list[float], int, int]:
    """Return the milliseconds from sending to each first telling, and how many tellings lack and are too many."""
    delays, lost, twice = [], 0, 0
    for frames in told:
        first: dict[int, float] = {}
        for moment, numbers in frames:
            for number in numbers:
                twice += number in first
                first.setdefault(number, moment)
        lost += len(sent.keys() - first.keys())
        delays += [(first[number] - sent[number]) * 1000 for number in sent.keys() & first.keys()]
    return delays, lost, twice


def _open(port: int, count: int, cookies: list[str], *, asks: bool) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "bench.sockets", str(port), str(count), str(int(asks))],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=privileges.PROJECT,
        env={"PYTHONPATH": str(privileges.PROJECT)},
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(" ".join(cookies) + "\n")
    process.stdin.flush()
    if process.stdout.readline() != "open\n":
        raise RuntimeError("the sockets could not be opened")
    return process


def _close(readers: subprocess.Popen[str]) -> list[list[tuple[float, list[int]]]]:
    """Close the sockets; returns what each was told."""
    told: list[list[tuple[float, list[int]]]] = json.loads(readers.communicate()[0])
    return told


def _write(write: Callable[[Any, int], Sent], world: dict[str, Any], seconds: float) -> Sent:
    """Write batches at an even pace; a late one is not caught up."""
    pause, sent = BATCH / EVENTS_A_SECOND, Sent()
    end = time.monotonic() + seconds
    while (begun := time.monotonic()) < end:
        sent |= write(world, BATCH)
        time.sleep(max(0.0, pause - (time.monotonic() - begun)))
    return sent


def _commit(world: dict[str, Any], count: int) -> Sent:
    """Commit events as a service does; returns the moment of the commit for each number."""
    from django.db import transaction

    from scheduler.services import actors, work

    moments: list[float] = []
    with work.begin(actors.SYSTEM) as unit:
        transaction.on_commit(lambda: moments.append(time.monotonic()))
        for _ in range(count):
            unit.tell("session.started", session=world["session"], state="running")
    return {event.number: moments[0] for event in unit.events}


def _broadcast(world: dict[str, Any], count: int) -> Sent:
    """Send the same events to a group; returns the moment of the sending for each number."""
    from asgiref.sync import async_to_sync
    from channels.layers import get_channel_layer

    from bench import plain_channels

    world["number"] = world.get("number", 0) + count
    numbers = range(world["number"] - count + 1, world["number"] + 1)
    events = [{**world["event"], "number": number} for number in numbers]
    text = json.dumps({"type": "events", "topic": "cluster", "prev": 0, "last": 0, "events": events})
    now = time.monotonic()
    async_to_sync(get_channel_layer().group_send)(plain_channels.GROUP, {"type": "told", "text": text})
    return dict.fromkeys(numbers, now)


def _world() -> dict[str, Any]:
    """Make a group with a running session and the people who follow it, of every role."""
    from bench import world_db
    from scheduler import models
    from scheduler.selectors import event_log, permissions
    from scheduler.services import actors, people
    from xceweb.live import frames

    ground = world_db.make(1, seed=1, room=0, finished=0)
    roles = ("viewer", "submitter", "operator", "manager")
    users = [
        models.User.objects.create_user(
            f"{ground.group.slug}-reader-{number}", policy=ground.owners[0].policy
        )
        for number in range(PEOPLE)
    ]
    for number, user in enumerate(users):
        people.set_role(actors.SYSTEM, ground.group, roles[number % len(roles)], user=user)
    world = {"session": models.Session.objects.filter(group=ground.group).first()}
    number = max(_commit(world, 1))
    (entry,) = event_log.after(number - 1, limit=1)
    event = json.loads(frames.written(entry, permissions.Sight.FULL))
    return {**world, "event": event, "cookies": [web.cookie(user) for user in users]}
