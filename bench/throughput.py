"""Trivial sessions on four agents of a whole stack: how many a second from the first start to the last end."""

from __future__ import annotations

from typing import Any

from bench import figures, stack

NODES, PLACES = 4, 64
GOAL = 66


def report(*, sessions: int) -> str:
    """Return the table of one run."""
    with stack.running() as whole:
        times, spent = _run(whole, sessions)
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
    shares = [[service, seconds / len(times) * 1000] for service, seconds in spent.items()]
    shares.append(["all", sum(spent.values()) / len(times) * 1000])
    title = f"### Trivial sessions, {NODES} agents with {PLACES} places each"
    measured = figures.table(["what", "measured", "goal"], rows)
    shared = figures.table(["service", "processor time of a session, ms"], shares)
    return f"{title}\n\n{measured}\n\n{shared}"


#: Of each session when it was ordered, told to have started and told to have ended, in seconds.
Times = list[tuple[float, float, float]]


def _run(whole: stack.Stack, sessions: int) -> tuple[Times, dict[str, float]]:
    """Submit sessions while nothing starts, then let them go; returns their times, and what each service spent, s."""
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
    before = whole.processor_s()
    policies.change_policy(admin, group, changes={"starting": True}, reason="begin", expected_version=1)
    left = models.Session.objects.filter(group=group).exclude(state="terminated")
    stack.until(lambda: not left.exists(), what="the end of all", pause_s=0.5, deadline_s=600)
    spent = {service: seconds - before.get(service, 0) for service, seconds in whole.processor_s().items()}
    runs = models.Run.objects.filter(session__group=group).values_list(
        "dispatched_at", "started_at", "ended_at"
    )
    return [(a.timestamp(), (b or c).timestamp(), c.timestamp()) for a, b, c in runs], spent
