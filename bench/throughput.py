"""Trivial sessions on four agents of a whole stack: how many a second from the first start to the last end."""

from __future__ import annotations

from typing import Any

from bench import figures, stack

NODES, PLACES = 4, 64
GOAL = 66


def report(*, sessions: int) -> str:
    """Return the table of one run."""
    with stack.running() as whole:
        times = _run(whole, sessions)
    first = min(started for _, started, _ in times)
    last = max(ended for _, _, ended in times)
    begun = min(given for given, _, _ in times)
    rows = [
        ["sessions", len(times), ""],
        ["first order to last end, s", last - begun, ""],
        ["first start to last end, s", last - first, ""],
        ["**a second**", len(times) / (last - first), f">= {GOAL}"],
        ["order to start told, median ms", figures.median([(s - d) * 1000 for d, s, _ in times]), ""],
        ["start told to end told, median ms", figures.median([(e - s) * 1000 for _, s, e in times]), ""],
    ]
    title = f"### Trivial sessions, {NODES} agents with {PLACES} places each"
    return f"{title}\n\n{figures.table(['what', 'measured', 'goal'], rows)}"


def _run(whole: stack.Stack, sessions: int) -> list[tuple[float, float, float]]:
    """Submit sessions while nothing starts, let them go; returns (ordered, start told, end told) of each, seconds."""
    from scheduler import models
    from scheduler.services import actors, policies, queues, setup, submission

    admin = actors.of_user(models.User.objects.get(is_superuser=True))
    group = setup.create_group(admin, "bench", policy={"starting": False})
    queues.create_queue(admin, "bench", groups=[group])
    for number in range(NODES):
        whole.add_node(f"node-{number}", group, capacity={"cpu": PLACES * 1000})
    for number in range(sessions):
        request: dict[str, Any] = {"name": f"s{number}", "argv": ["/bin/true"], "slots": {"cpu": "1"}}
        submission.submit_session(admin, submission.SubmitRequest(group="bench", queue="bench", **request))
    policies.change_policy(admin, group, changes={"starting": True}, reason="begin", expected_version=1)
    left = models.Session.objects.filter(group=group).exclude(state="terminated")
    stack.until(lambda: not left.exists(), what="the end of all", pause_s=0.5, deadline_s=600)
    runs = models.Run.objects.filter(session__group=group).values_list(
        "dispatched_at", "started_at", "ended_at"
    )
    return [(a.timestamp(), (b or c).timestamp(), c.timestamp()) for a, b, c in runs]
