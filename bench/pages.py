"""
The pages with much behind them: what the server needs for the list of sessions, its facets, the overview and a
session's page, with 100,000 sessions in PostgreSQL.

Each page is asked for in this process, through the whole of Django (session, permissions, queries, template), by an
administrator and by somebody who sees one group; the network and the server that speaks HTTP are left out.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Sequence
from typing import Any

from bench import figures, servers

RUNS = 9
LIST_GOAL_MS, PAGE_GOAL_MS = 150, 100
#: page -> what is asked of the list of sessions.
LISTS = {
    "sessions": "",
    "sessions, page 400": "?page=400",
    "sessions by state": "?state=pending",
    "sessions by end": "?state=ended:success",
    "sessions by group": "?group={group}",
    "sessions by queue": "?queue={queue}",
    "sessions by owner": "?owner={owner}",
    "sessions by reason": "?reason=no-resources",
    "sessions by four facets": "?state=pending&group={group}&queue={queue}&owner={owner}",
    "sessions by a query": "?q=state:pending+age>1s+bench",
}


def report(*, sessions: int = 100_000, nodes: int = 1000, runs: int = RUNS, throwaway: bool = False) -> str:
    """Return the table of one world."""
    with servers.database(throwaway=throwaway):
        _collect_static_files()
        world = _fill(sessions, nodes=nodes)
        people = {"administrator": _administrator(), "operator of one group": _operator(world)}
        rows = [
            [page, who, *_measured(client, address, runs), goal]
            for who, client in people.items()
            for page, (address, goal) in _addresses(world).items()
        ]
    head = ["page", "who", "queries", "median ms", "p95 ms", "of it in Python", "goal ms"]
    title = f"### Pages with {sessions:,} sessions on {nodes:,} nodes, {runs} requests each"
    return f"{title}\n\n{figures.table(head, rows)}"


def _collect_static_files() -> None:
    from django.core.management import call_command

    call_command("collectstatic", verbosity=0, interactive=False)


def _fill(sessions: int, *, nodes: int) -> Any:
    """Make a group whose nodes run ten sessions each, a second small one, a tenth that waits, and the rest over."""
    from bench import world_db

    running = nodes * world_db.RUNNING
    waiting = sessions // 10
    small = world_db.make(max(1, nodes // 100), seed=2, room=0, finished=0)
    big = nodes - len(small.nodes)
    world = world_db.make(big, seed=1, room=2, finished=sessions - running - waiting)
    ids = world_db.submit(world, [world_db.SMALL] * waiting, queue="high")
    _give_reasons(ids)
    world_db.analyze()
    return world


def _give_reasons(ids: Sequence[int]) -> None:
    from django.utils import timezone

    from scheduler import models
    from scheduler.core import decisions
    from scheduler.services import bulk

    now = timezone.now()
    reasons = itertools.cycle(reason.value for reason in decisions.PendReason)
    columns = ("session_id", "reason", "facts", "candidates", "nodes", "since", "seen_at", "round_number")
    rows = ((pk, reason, {}, [], [], now, now, 0) for pk, reason in zip(ids, reasons, strict=False))
    bulk.insert(models.PendReason, columns, rows)


def _administrator() -> Any:
    from scheduler import models

    return _client(models.User.objects.create_superuser("administrator"))


def _operator(world: Any) -> Any:
    from scheduler import models

    user = models.User.objects.create_user("operator")
    models.GroupRole.objects.create(group=world.group, user=user, role="operator")
    return _client(user)


def _client(user: Any) -> Any:
    from django.test import Client

    client = Client(headers={"host": "localhost"})
    client.force_login(user)
    return client


def _addresses(world: Any) -> dict[str, tuple[str, int]]:
    from scheduler import models

    words = {
        "group": world.group.slug,
        "queue": world.queues["high"].slug,
        "owner": world.owners[0].username,
    }
    running, waiting = (
        models.Session.objects.filter(group=world.group, state=state).order_by("-id")[0].public_id
        for state in ("running", "pending")
    )
    return {
        **{page: (f"/sessions/{query.format(**words)}", LIST_GOAL_MS) for page, query in LISTS.items()},
        "overview": ("/", PAGE_GOAL_MS),
        "a session that runs": (f"/sessions/{running}/", PAGE_GOAL_MS),
        "a session that waits": (f"/sessions/{waiting}/", PAGE_GOAL_MS),
    }


def _measured(client: Any, address: str, runs: int) -> tuple[int, float, float, float]:
    """Return the queries of a page, and in ms the median, its 95th percentile and the median of this process alone."""
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    _ask(client, address)
    with CaptureQueriesContext(connection) as queries:
        _ask(client, address)
        asked = sum(query["sql"] not in ("BEGIN", "COMMIT") for query in queries)
    times, own = list[float](), list[float]()
    for _ in range(runs):
        begun = time.process_time()
        times.append(figures.timed(lambda: _ask(client, address))[1])
        own.append((time.process_time() - begun) * 1000)
    return asked, figures.median(times), figures.quantile(times, 0.95), figures.median(own)


def _ask(client: Any, address: str) -> None:
    """
    Ask for a page.

    Raises:
        RuntimeError: it is not there.
    """
    answer = client.get(address)
    if answer.status_code != 200:
        raise RuntimeError(f"{address}: {answer.status_code}")
